/**
 * The long run of the crash ledger, of the tests that take the database away for ten seconds, and of twenty kills while
 * notifications are sent: `npm run test:crash -- --cycles 500 [--seed 42]`. The seed repeats a run's choice of victims and
 * moments.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const repository = join(import.meta.dirname, '../../..')
const { values } = parseArgs({ options: { cycles: { type: 'string', default: '500' }, seed: { type: 'string' } } })
for (const [name, value] of Object.entries(values)) {
  if (!/^\d{1,9}$/.test(value)) {
    console.error(`--${name} must be a whole number; it is "${value}"`)
    process.exit(2)
  }
}

const vitest = spawn(
  process.execPath,
  [
    join(repository, 'node_modules/vitest/vitest.mjs'),
    ...['run', '--disableConsoleIntercept', '--maxWorkers=1'],
    ...['crash-ledger', 'database-away', 'notifications-killed'].map((name) => `server/test/faults/${name}.test.ts`),
  ],
  {
    cwd: repository,
    stdio: 'inherit',
    env: {
      ...{ NOTIFICATION_KILLS: '20', ...process.env, CRASH_CYCLES: values.cycles },
      ...(values.seed && { CRASH_SEED: values.seed }),
    },
  },
)
vitest.once('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)))
