import cluster from 'node:cluster'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startWorkerProcess } from '../../src/process/worker-process.ts'
import { migrationLock } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { temporaryFolder } from '../backup/scene.ts'
import { ensureBuilt, mainArguments } from '../support/build.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { testMasterKey } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Longer than a worker takes to its first word on a busy machine. */
const startTimeoutMs = 30_000

it('a worker that has to migrate, and waits for a backup, has as long as that takes', async () => {
  ensureBuilt()
  const own = await createOwnDatabase()
  onTestFinished(() => own.drop())
  const backup = new pg.Client(own.connection)
  await backup.connect()
  onTestFinished(() => backup.end())
  const last = Object.keys(migrations).at(-1)
  await backup.query('delete from kysely_migration where name = $1', [last])
  await backup.query('select pg_advisory_lock_shared($1)', [migrationLock])

  const dataDir = await temporaryFolder()
  const settings = { DATABASE_URL: own.url, DATA_DIR: dataDir, PARLEY_MASTER_KEY: testMasterKey, PORT: '0' }
  for (const [name, value] of Object.entries({ ...settings, LOG_LEVEL: 'silent' })) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [exec, ...execArgv] = mainArguments.toReversed()
  cluster.setupPrimary({ exec: exec as string, execArgv, args: [], serialization: 'advanced' })
  const setup = { connection: own.connection, masterKey: testMasterKey, dataDir, mediaDir: dataDir }
  const startedAt = performance.now()
  const worker = startWorkerProcess(
    1,
    async () => setup,
    async () => '',
    startTimeoutMs,
  )
  onTestFinished(() => worker.kill())
  const progress = () => Math.floor(performance.now() / 1000)
  const isOver = () => performance.now() - startedAt > startTimeoutMs + 1_000 || worker.state === 'ended'
  await until(isOver, { progress })
  expect(worker.state).toBe('starting')
  await backup.query('select pg_advisory_unlock_shared($1)', [migrationLock])
  expect(await worker.ready).toMatchObject({ port: expect.any(Number) })
  const { rows } = await backup.query('select name from kysely_migration order by name desc limit 1')
  expect(rows).toEqual([{ name: last }])
})
