import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ParleyOptions } from '../app.ts'
import { ensureKey } from '../areas/api-keys/index.ts'
import { offerSetup } from '../areas/operators/index.ts'
import type { Config } from '../config/index.ts'
import type { Context } from '../context.ts'
import type { SetupPlace } from '../greeting.ts'
import { loadTls } from '../http/tls.ts'
import { type DeploymentKeys, discardNewKeys, loadKeys } from '../keys-file.ts'
import type { Log } from '../log.ts'
import { type ConnectionSettings, isConnectionFailure } from '../store/connection.ts'
import { publishDatabaseUrl, resolveDataDir, withdrawDatabaseUrl } from '../store/data-folder.ts'
import { MasterKeyError } from '../store/data-keys.ts'
import { startEmbeddedPostgres } from '../store/embedded/index.ts'

/** What the service stands on: its data folder, its keys, and the database, which is its own unless one is named. */
export interface Foundation {
  readonly keys: DeploymentKeys
  /** What every process of the service is built with, beside its configuration and log. */
  readonly setup: WorkerSetup
}

export type WorkerSetup = Pick<
  ParleyOptions,
  'connection' | 'ownDatabase' | 'masterKey' | 'dataDir' | 'mediaDir' | 'tls'
> & {
  /** Where the keys are kept that the environment does not give; the first process may be of a version that did not say. */
  readonly keysFile?: string
}

/** The embedded database, as long as it runs. */
export interface OwnDatabase {
  readonly connection: ConnectionSettings
  stop(): Promise<void>
}

const databasePatienceMs = 60_000

/** The data folder, made where it is not there. */
export async function openDataFolder(config: Config): Promise<string> {
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  await mkdir(dataDir, { recursive: true })
  return dataDir
}

/** Enough for three processes. */
const leastConnections = 300
/** What the first thread opens at most, 59, and that of notifications, 23. */
const connectionsPerProcess = 82

/** Connections that a database should have for so many processes, one of which is being replaced, and a command. */
export function connectionsFor(processes: number): number {
  return connectionsPerProcess * (processes + 2)
}

/** The embedded database, with its address written down for as long as it runs. */
export async function startOwnDatabase(dataDir: string, log: Log, processes = 1): Promise<OwnDatabase> {
  const connections = Math.max(leastConnections, connectionsFor(processes))
  const settings = { max_connections: String(connections) }
  const postgres = await startEmbeddedPostgres({ dataDir, log, settings })
  await publishDatabaseUrl(dataDir, postgres)
  return {
    // Said here, since an operator's PGSSLMODE would reach the socket otherwise.
    connection: { ...postgres.connection, ssl: false },
    async stop() {
      await withdrawDatabaseUrl(dataDir)
      await postgres.stop()
    },
  }
}

export async function layFoundation(
  config: Config,
  dataDir: string,
  postgres: OwnDatabase | undefined,
): Promise<Foundation> {
  const keys = await loadKeys(config, dataDir)
  return {
    keys,
    setup: {
      connection: postgres?.connection ?? { connectionString: config.databaseUrl as string },
      ownDatabase: postgres !== undefined,
      masterKey: keys.masterKey,
      dataDir,
      keysFile: keys.file,
      mediaDir: path.join(dataDir, 'media'),
      tls: await loadTls(config, dataDir),
    },
  }
}

/**
 * The database may come up later than the service, as in a cluster that starts as a whole.
 * @param keys those that were made for this start go again where the database knows others
 */
export async function whenDatabaseAnswers<T>(log: Log, work: () => Promise<T>, keys?: DeploymentKeys): Promise<T> {
  const deadline = Date.now() + databasePatienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof MasterKeyError && keys !== undefined) await discardNewKeys(keys)
      if (!isConnectionFailure(error) || Date.now() > deadline) throw error
      log.warn({ cause: (error as Error).message }, 'the database does not answer yet; trying again')
      await delay(1000)
    }
  }
}

/** Where the one-time address of the first owner is, for those who do not see it on a terminal. */
const setupFile = 'setup-url'

/**
 * Makes the first owner that the environment names, or a one-time address for one.
 * @returns the token of that address
 */
export async function ensureOwner(
  store: Pick<Context, 'database' | 'secrets' | 'audit'>,
  { console, firstOwner }: Pick<Config, 'console' | 'firstOwner'>,
  log: Log,
): Promise<string | undefined> {
  if (!console) return undefined
  const { token, isIgnored } = await offerSetup(store, firstOwner)
  if (isIgnored) {
    log.warn(
      { setting: 'PARLEY_OPERATOR_EMAIL' },
      'PARLEY_OPERATOR_EMAIL and PARLEY_OPERATOR_PASSWORD are ignored: this database has operators already',
    )
  }
  return token
}

/**
 * Where whoever starts the service finds the one-time address: on a terminal, or in a file that nobody else reads.
 * @param token undefined where there is none: one of before is of no use any more
 */
export async function publishSetup(
  dataDir: string,
  origin: string,
  token: string | undefined,
  isTerminal = process.stdout.isTTY === true,
): Promise<SetupPlace | undefined> {
  const file = path.join(dataDir, setupFile)
  await rm(file, { force: true })
  if (token === undefined) return undefined
  const address = `${origin}/console#setup=${token}`
  if (isTerminal) return { address }
  await writeFile(file, `${address}\n`, { mode: 0o600 })
  return { file }
}

/**
 * The deployment's app, with the keys of the configuration. Those of the file are made with the app or with the file, not
 * at every start. A key that was deleted stays deleted, wherever it is still named.
 */
export async function ensureDefaultApp(
  { apps, log, ...context }: Pick<Context, 'database' | 'secrets' | 'apps' | 'audit' | 'log'>,
  config: Config,
  keys: DeploymentKeys,
): Promise<void> {
  const app = await apps.ensure(config.appId, config.region)
  const ensure = async (setting: string, apiKey: string, name: string, scope: 'fullAccess' | 'authOnly') => {
    const deleted = await ensureKey(context, app.appId, { apiKey, name, scope })
    if (deleted === undefined) return
    const deletedAt = new Date(deleted.deletedAt * 1000).toISOString()
    log.warn(
      { setting, app: app.name, key: deleted.fingerprint, deletedAt },
      `${setting} is a key that was deleted. It stays deleted, and requests with it get a 401: remove it, or set another one`,
    )
  }
  if (app.created || keys.isNew || config.apiKey !== undefined)
    await ensure('PARLEY_API_KEY', keys.apiKey, 'REST API Key', 'fullAccess')
  const { authKey } = keys
  if (authKey !== undefined && (app.created || keys.isNew || config.authKey !== undefined))
    await ensure('PARLEY_AUTH_KEY', authKey, 'Auth Key', 'authOnly')
}
