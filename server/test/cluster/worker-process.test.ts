import cluster from 'node:cluster'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { isTraced, watchAnswers } from '../../src/process/answers.ts'
import { type Patience, startWorkerProcess, type WorkerProcess } from '../../src/process/worker-process.ts'
import { migrationLock } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { temporaryFolder } from '../backup/scene.ts'
import { ensureBuilt, mainArguments } from '../support/build.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { testMasterKey } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Longer than a worker takes to its first word on a busy machine. */
const startMs = 30_000
/** What a busy machine holds up is no worker that stands still. */
const silentMs = 12_000

async function ownDatabase(): Promise<OwnDatabase> {
  const own = await createOwnDatabase()
  onTestFinished(() => own.drop())
  return own
}

/** @param flags of Node.js */
async function startWorker(own: OwnDatabase, patience: Patience, flags: string[] = []): Promise<WorkerProcess> {
  ensureBuilt()
  const dataDir = await temporaryFolder()
  const settings = { DATABASE_URL: own.url, DATA_DIR: dataDir, PARLEY_MASTER_KEY: testMasterKey, PORT: '0' }
  for (const [name, value] of Object.entries({ ...settings, LOG_LEVEL: 'silent' })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [exec, ...execArgv] = mainArguments.toReversed()
  cluster.setupPrimary({ exec: exec as string, execArgv: [...execArgv, ...flags], args: [], serialization: 'advanced' })
  const setup = { connection: own.connection, masterKey: testMasterKey, dataDir, mediaDir: dataDir }
  const worker = startWorkerProcess(
    1,
    async () => setup,
    async () => '',
    patience,
  )
  onTestFinished(async () => {
    worker.kill()
    await worker.ended
  })
  return worker
}

/** Moves as time passes. */
const progress = () => Math.floor(performance.now() / 1000)

it('a worker that has to migrate, and waits for a backup, has as long as that takes', async () => {
  const own = await ownDatabase()
  const backup = new pg.Client(own.connection)
  await backup.connect()
  onTestFinished(() => backup.end())
  const last = Object.keys(migrations).at(-1)
  await backup.query('delete from kysely_migration where name = $1', [last])
  await backup.query('select pg_advisory_lock_shared($1)', [migrationLock])

  const startedAt = performance.now()
  const worker = await startWorker(own, { startMs, silentMs })
  const isOver = () => performance.now() - startedAt > startMs + 1_000 || worker.state === 'ended'
  await until(isOver, { progress })
  expect(worker.state).toBe('starting')
  await backup.query('select pg_advisory_unlock_shared($1)', [migrationLock])
  expect(await worker.ready).toMatchObject({ port: expect.any(Number) })
  const { rows } = await backup.query('select name from kysely_migration order by name desc limit 1')
  expect(rows).toEqual([{ name: last }])
})

it('a worker that stands still is killed, which says why, and one that answers lives', async () => {
  const worker = await startWorker(await ownDatabase(), { startMs, silentMs })
  await worker.ready
  const readyAt = performance.now()
  await until(() => worker.state === 'ended' || performance.now() > readyAt + 2 * silentMs, { progress })
  expect(worker.state).toBe('ready')
  process.kill(worker.pid, 'SIGSTOP')
  await until(() => worker.state === 'ended')
  expect(await worker.ended).toBe('it answered nothing for 12 s and was killed')
})

it('a worker that an inspector may hold is not killed', async () => {
  const worker = await startWorker(await ownDatabase(), { startMs, silentMs: 3_000 }, ['--inspect=127.0.0.1:0'])
  await worker.ready
  const readyAt = performance.now()
  // It has answered by then, and says that it may be held.
  await until(() => performance.now() > readyAt + 2_000, { progress })
  process.kill(worker.pid, 'SIGSTOP')
  const stoppedAt = performance.now()
  await until(() => worker.state === 'ended' || performance.now() > stoppedAt + 9_000, { progress })
  expect(worker.state).toBe('ready')
})

it('a worker is silent when it has left a dozen questions in a row unanswered', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const [ask, onSilent] = [vi.fn(), vi.fn()]
  let isExcused = true
  const watch = watchAnswers({ ask, isExcused: () => isExcused, onSilent, silentMs: 12_000 })
  vi.advanceTimersByTime(11_000)
  expect(ask).toHaveBeenCalledTimes(11)
  watch.answered()
  vi.advanceTimersByTime(60_000)
  expect(onSilent).not.toHaveBeenCalled()
  // The debugger has gone, and it goes on.
  isExcused = false
  watch.answered()
  vi.advanceTimersByTime(12_000)
  expect(onSilent).not.toHaveBeenCalled()
  vi.advanceTimersByTime(60_000)
  expect(onSilent).toHaveBeenCalledTimes(1)
})

it('no debugger holds this process', () => {
  expect(isTraced(process.pid)).toBe(false)
})
