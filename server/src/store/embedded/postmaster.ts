import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { programIn } from './binaries.ts'
import { databaseName } from './cluster.ts'
import { commandFor, type Launcher } from './commands.ts'
import { errorMessage } from './errors.ts'
import { fastStopPatience, stopWithPgCtl } from './leftovers.ts'
import type { EmbeddedLog } from './log.ts'
import { logLinePrefix, readServerLog } from './server-log.ts'

/** What pg needs to connect. */
export interface Connection {
  host: string
  port: number
  user: string
  password: string
  database: string
}

/** What a server is started with. */
export interface ServerSetup {
  cluster: string
  /** the folder with bin, lib and share */
  binaries: string
  launcher: Launcher
  /** values for `-c` */
  settings: Record<string, string>
  connection: Connection
  log: EmbeddedLog
}

/** One run of the server. */
export interface Postmaster {
  pid: number | undefined
  /** resolves once it has ended and its log is read: how it ended, for a sentence in parentheses */
  exited: Promise<string>
  hasExited(): boolean
  lastLines(): string
  /** Ends it fast and cleanly, by force if it takes too long, and waits until it is gone. */
  stop(): Promise<void>
  /** As much of stop as can be done while this process exits. */
  interrupt(): void
}

/** The server ended before it took connections. The message holds its last log lines. */
export class StartFailure extends Error {
  override name = 'StartFailure'
}

const authenticationFailures = ['28P01', '28000']
const missingDatabase = '3D000'

/** Starts the server as a child in a process group of its own, so that Ctrl-C reaches this process alone. */
export function spawnPostmaster(setup: ServerSetup): Postmaster {
  const { cluster, binaries, launcher } = setup
  const settings = { ...setup.settings, log_line_prefix: logLinePrefix, port: String(setup.connection.port) }
  const assignments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { file, args, options } = commandFor(
    launcher,
    programIn(binaries, 'postgres'),
    ['-D', cluster, ...assignments],
    'INT',
  )
  const child = spawn(file, args, {
    ...options,
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // Without a listener, a signal that cannot be sent would end this process.
  child.on('error', (error) =>
    setup.log.error({ reason: error.message }, 'PostgreSQL could not be started or signalled'),
  )
  const serverLog = readServerLog(child.stderr, setup.log)
  const exited = describeExit(child)
  return {
    pid: child.pid,
    exited,
    hasExited: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    lastLines: serverLog.lastLines,
    interrupt: () => child.kill('SIGINT'),
    stop: async () => {
      if (process.platform !== 'win32') await signalUntilExited(child, exited)
      else if (!(await stopWithPgCtl(launcher, binaries, cluster))) child.kill()
      await exited
    },
  }
}

/**
 * Waits until the server takes connections to its database, which is made if it is not there yet.
 *
 * @throws StartFailure when it ends instead
 */
export async function waitUntilReady(postmaster: Postmaster, { connection, cluster, log }: ServerSetup): Promise<void> {
  let reportAt = Date.now() + 10_000
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 250)) {
    const outcome = await Promise.race([tryConnection(connection), postmaster.exited.then(() => 'exited' as const)])
    if (outcome === 'exited') {
      throw new StartFailure(
        `PostgreSQL did not start (${await postmaster.exited}). Its last log lines:\n${postmaster.lastLines() || '(none)'}`,
      )
    }
    if (outcome === 'ready') return
    if (outcome.code === missingDatabase) {
      await makeDatabase(connection)
      return
    }
    if (authenticationFailures.includes(outcome.code ?? '')) {
      await postmaster.stop()
      throw new Error(
        `The embedded PostgreSQL refuses its own password (${outcome.message}). If the file postgres-password beside ${cluster} does ` +
          'not belong to this database, delete it: the next start gives the database a new password.',
      )
    }
    if (Date.now() > reportAt) {
      log.info({ cluster, answer: outcome.message }, 'PostgreSQL is still starting; after a crash it recovers first')
      reportAt = Date.now() + 10_000
    }
    await Promise.race([sleep(pause), postmaster.exited])
  }
}

/** Resolves when the child has ended and what it wrote is read, be the pipe closed or still held by a backend it left behind. */
async function describeExit(child: ChildProcess): Promise<string> {
  const closed = once(child, 'close')
  closed.catch(() => {})
  try {
    const [code, signal] = await once(child, 'exit')
    await Promise.race([closed, sleep(200)])
    return signal === null ? `exit code ${code}` : `ended by ${signal}`
  } catch (error) {
    return errorMessage(error)
  }
}

async function signalUntilExited(child: ChildProcess, exited: Promise<string>): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', fastStopPatience],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 10_000],
  ]
  for (const [signal, patience] of steps) {
    if (!child.kill(signal)) break
    const giveUp = new AbortController()
    const expired = sleep(patience, 'expired', { signal: giveUp.signal }).catch(() => 'exited')
    const outcome = await Promise.race([exited, expired])
    giveUp.abort()
    if (outcome !== 'expired') break
  }
}

async function tryConnection(connection: Connection): Promise<'ready' | { code: string | undefined; message: string }> {
  try {
    await withClient(connection, (client) => client.query('select 1'))
    return 'ready'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    return { code, message: errorMessage(error) }
  }
}

async function makeDatabase(connection: Connection): Promise<void> {
  await withClient({ ...connection, database: 'postgres' }, (client) =>
    client.query(`create database ${databaseName} owner ${databaseName} encoding 'UTF8'`),
  )
}

async function withClient(connection: Connection, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  // PGSSLMODE is meant for other servers.
  const client = new pg.Client({ ...connection, ssl: false, connectionTimeoutMillis: 5_000 })
  // An error between two queries is found by the next one.
  client.on('error', () => {})
  try {
    await client.connect()
    await work(client)
  } finally {
    await client.end()
  }
}
