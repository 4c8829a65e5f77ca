import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import longPaths from './long.json' with { type: 'json' }

const repository = join(import.meta.dirname, '../../..')
const vitest = join(repository, 'node_modules/vitest/vitest.mjs')

/** The test files of a configuration of vitest, by their paths in the repository. */
async function filesOf(config: string): Promise<string[]> {
  const list = [vitest, 'list', '--filesOnly', '--config', config]
  const { stdout } = await promisify(execFile)(process.execPath, list, {
    cwd: repository,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    maxBuffer: 10_000_000,
  })
  return stdout.split('\n').filter((line) => line.endsWith('.test.ts'))
}

describe('npm test and npm run test:rest', () => {
  it('run each test file between them, and none twice', async () => {
    const all = await filesOf('vitest.config.ts')
    const short = await filesOf('vitest.short.config.ts')
    const rest = await filesOf('vitest.rest.config.ts')
    expect(short).toContain('server/test/gate/suites.test.ts')
    expect([...short, ...rest].sort()).toEqual(all.sort())
    // What is named and is not there any more would hide that its heir is in the wrong one.
    expect(longPaths.filter((path) => !rest.some((file) => file.startsWith(path)))).toEqual([])
  })
})
