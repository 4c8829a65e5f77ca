import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/store/migrate.ts'
import { copyDataDir } from './data-dir.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    connection: {
      host: string
      port: number
      user: string
      password: string
      database: string
      connectionTimeoutMillis: number
    }
    /** A migrated database that nobody connects to: those of one's own are copies of it. */
    template: string
    /** A data folder with a migrated database, in which nobody works; null where the server is somebody else's. */
    dataTemplate: string | null
  }
}

/** On a busy machine, a connection may take its time to be opened. */
const connectionTimeoutMillis = 60_000

/** Nothing needs to outlive the run: writes are not waited for, and there is neither a replica nor a checkpoint to write for. */
const settings = {
  ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' },
  ...{ wal_level: 'minimal', max_wal_senders: '0', checkpoint_timeout: '1h', max_wal_size: '4GB' },
  max_connections: '500',
  // What it reads again after a start would take a connection to the template, which nobody may have while it is copied.
  shared_preload_libraries: '',
  // A connection that is opened takes both sides 4096 rounds of a digest otherwise; there are thousands, and one password.
  scram_iterations: '1',
}

const quiet = { info() {}, warn() {}, error: console.error }

/**
 * One PostgreSQL for the whole run: the embedded one in a temporary folder, or a fresh database on the server that
 * TEST_DATABASE_URL names.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const external = process.env.TEST_DATABASE_URL
  if (external !== undefined && external !== '') return useExternal(project, external)

  const { startEmbeddedPostgres } = await import('../../src/store/embedded/index.ts')
  const makeFolder = () => mkdtemp(path.join(os.tmpdir(), 'parley-test-'))
  const start = (dataDir: string, more: object = {}) =>
    startEmbeddedPostgres({ dataDir, log: quiet, settings: { ...settings, ...more } })
  // Made once: what it takes to make a database and to migrate it takes a copy a tenth of.
  const dataTemplate = await makeFolder()
  // With no more of a log than it needs: that would be copied, too.
  const first = await start(dataTemplate, { min_wal_size: '32MB', wal_recycle: 'off' })
  await migrate(first.connection)
  await first.stop()
  project.provide('dataTemplate', dataTemplate)

  const dataDir = await makeFolder()
  copyDataDir(dataTemplate, dataDir)
  const postgres = await start(dataDir)
  const admin = new pg.Client({ ...postgres.connection, database: 'postgres' })
  await admin.connect()
  const connection = { ...postgres.connection, database: 'parley_test', connectionTimeoutMillis }
  await provideDatabases(project, admin, connection, postgres.connection.database)
  await admin.end()
  return async () => {
    await postgres.stop()
    for (const folder of [dataDir, dataTemplate]) await rm(folder, { recursive: true, force: true })
  }
}

async function useExternal(project: TestProject, url: string): Promise<() => Promise<void>> {
  project.provide('dataTemplate', null)
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  const { host, port, user, password } = admin
  const databases = await provideDatabases(project, admin, {
    ...{ host, port, database: `parley_test_${process.pid}`, connectionTimeoutMillis },
    ...{ user: user ?? '', password: password ?? '' },
  })
  return async () => {
    for (const name of databases) await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}

/**
 * Makes the database of the tests, as a copy of the template.
 * @param migrated a migrated database that nobody connects to, where there is one
 * @returns the names of both
 */
async function provideDatabases(
  project: TestProject,
  admin: pg.Client,
  connection: ProvidedContext['connection'],
  migrated?: string,
): Promise<string[]> {
  const template = `${connection.database}_template`
  await admin.query(`create database ${template}${migrated === undefined ? '' : ` template ${migrated}`}`)
  await migrate({ ...connection, database: template })
  await keepWaiting({ ...connection, database: template })
  await admin.query(`create database ${connection.database} template ${template}`)
  project.provide('connection', connection)
  project.provide('template', template)
  return [connection.database, template]
}

/** Where several services share a database, messages of `addRules` that wait go on waiting: tests answer for the engine. */
async function keepWaiting(connection: ProvidedContext['connection']): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query(`
    create function keep_waiting() returns trigger language plpgsql as $$
      begin
        if new.questions::text like '%"ruleId":"asks"%' then
          new.due_at := 9999999999;
        end if;
        return new;
      end
    $$;
    create trigger keep_waiting before insert or update on message_moderation
      for each row when (new.due_at is not null) execute function keep_waiting()`)
  await client.end()
}
