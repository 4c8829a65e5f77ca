import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { chooseAccount } from '../../../src/store/embedded/account.ts'
import { databaseName } from '../../../src/store/embedded/cluster.ts'
import { chooseLauncher, commandFor } from '../../../src/store/embedded/commands.ts'
import { startEmbeddedPostgres } from '../../../src/store/embedded/index.ts'
import { fileAt } from '../../gate/needs.ts'
import { findFreePort } from '../../support/ports.ts'
import { soon } from '../../support/until.ts'
import type { Stage } from './stage.ts'

const run = promisify(execFile)
const quiet = { info() {}, warn() {}, error: console.error }

/** A PostgreSQL server that is none of the service's business: it finds it by `DATABASE_URL`, over TCP. */
export interface ExternalServer {
  /** Holds its cluster, for `signalDatabase`. */
  readonly dataDir: string
  readonly port: number
  /** The address of a database that is migrated and empty, made when it is first asked for. */
  database(name: string): Promise<string>
  /** The same, and nobody has migrated it. */
  newDatabase(name: string): Promise<string>
  /** Stops as an administrator stops it, and starts again in the same place. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** PostgreSQL 18, from the programs that come with the service. */
export async function startExternalServer(stage: Stage): Promise<ExternalServer> {
  const dataDir = stage.makeDataDir()
  const port = await findFreePort()
  // Its processes may die, the machine does not: what the system was given is there.
  const settings = { listen_addresses: '127.0.0.1', port: String(port), max_connections: '200', fsync: 'off' }
  let server = await startEmbeddedPostgres({ dataDir, log: quiet, settings })
  stage.onClean(() => server.stop())
  // An administrator's, who can do what the service's own role cannot.
  const user = databaseName
  const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()
  const address = { host: '127.0.0.1', port, user, password }
  return {
    dataDir,
    port,
    database: (name) => makeDatabase(address, name, databaseName),
    newDatabase: (name) => makeDatabase(address, name),
    stop: () => server.stop(),
    async start() {
      server = await startEmbeddedPostgres({ dataDir, log: quiet, settings })
    },
  }
}

/** The oldest PostgreSQL that is supported, where the machine has it (Debian's package). */
const folderOf15 = '/usr/lib/postgresql/15'
export const postgres15 = fileAt(join(folderOf15, 'bin/postgres'))

/** Starts a PostgreSQL 15 for one test. @returns the address of an empty database */
export async function startPostgres15(stage: Stage): Promise<string> {
  const dataDir = stage.makeFolder()
  const account = chooseAccount(dataDir, quiet)
  const launcher = await chooseLauncher(account, true)
  const cluster = join(dataDir, 'postgres')
  const passwordFile = join(dataDir, 'password')
  const [user, password] = ['operator', 'secret']
  mkdirSync(cluster)
  writeFileSync(passwordFile, password)
  if (account !== undefined) {
    for (const path of [dataDir, cluster, passwordFile]) chownSync(path, account.uid, account.gid)
  }

  const port = await findFreePort()
  const initdb = commandFor(launcher, join(folderOf15, 'bin/initdb'), [
    ...['-D', cluster, `--username=${user}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync'],
    ...['--locale=C', '--encoding=UTF8'],
  ])
  await run(initdb.file, initdb.args, initdb.options)
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off']
  const postgres = commandFor(launcher, join(folderOf15, 'bin/postgres'), [
    ...['-D', cluster],
    ...settings.flatMap((setting) => ['-c', setting]),
  ])
  const child = spawn(postgres.file, postgres.args, { ...postgres.options, stdio: 'ignore' })
  stage.onClean(async () => {
    const exit = once(child, 'exit')
    if (child.kill('SIGINT')) await exit
  })
  return soon(() => makeDatabase({ host: '127.0.0.1', port, user, password }, 'chat'))
}

/** @param template that it is a copy of */
async function makeDatabase(server: pg.ClientConfig, name: string, template = 'template1'): Promise<string> {
  const admin = new pg.Client({ ...server, database: 'postgres', ssl: false })
  await admin.connect()
  try {
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await admin.query(`create database ${name} template ${template}`)
  } finally {
    await admin.end()
  }
  return `postgres://${server.user}:${server.password}@${server.host}:${server.port}/${name}`
}
