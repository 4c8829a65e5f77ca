import { defineConfig } from 'vitest/config'
import LongFirst from './server/test/gate/sequencer.ts'

/** Tests read the TypeScript sources of the workspaces directly ("source" condition), so they need no build; all else as Node.js does. */
const conditions = ['source', 'node', 'development|production']

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    include: ['contract', 'client', 'react', 'server'].map((workspace) => `${workspace}/test/**/*.test.ts`),
    globalSetup: ['server/test/support/database.ts'],
    // Threads that the service starts read the sources, too; some warnings are failures.
    execArgv: ['typescript.mjs', 'warnings.mjs'].flatMap((name) => [
      '--import',
      new URL(`./server/test/support/${name}`, import.meta.url).href,
    ]),
    // One service per worker, shared by its test files: each test makes an app (tenant) of its own.
    isolate: false,
    // Twice what a small machine has of cores: many tests mostly wait, for leases to run out, processes to start, pages to draw.
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    // A machine may be busy with other things. Tests wait as long as something moves (support/until.ts); these end one that
    // hangs for good.
    testTimeout: 600_000,
    // A busy build machine may starve a test of time, and be busy still at its second try. Whatever needed it is named at the end, and is to be mended;
    // tests that look for races get no second try (gate/runner.ts).
    retry: process.env.CI === 'true' ? 2 : 0,
    runner: 'server/test/gate/runner.ts',
    reporters: ['default', 'server/test/gate/reporter.ts'],
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
})
