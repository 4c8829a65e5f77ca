import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import v8 from 'node:v8'
import dotenv from 'dotenv'
import { buildParley, type Parley, type ParleyOptions } from './app.ts'
import { ensureKey } from './areas/api-keys/keys.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { greet } from './greeting.ts'
import { loadTls } from './http/tls.ts'
import { type DeploymentKeys, loadKeys } from './keys-file.ts'
import { createLog, type Log } from './log.ts'
import { isConnectionFailure } from './store/connection.ts'
import { publishDatabaseUrl, resolveDataDir, withdrawDatabaseUrl } from './store/data-folder.ts'
import { warnAboutDurability } from './store/durability.ts'
import { startEmbeddedPostgres } from './store/embedded/index.ts'

/** Of the ten seconds that a stop may take, the last are for the database. */
const stopTimeoutMs = 9_000
const databasePatienceMs = 60_000
/** Connections that wait to be taken in, as when every client reconnects at once; the system may allow fewer. */
const backlog = 4_096

/** What runs, as far as the start has come. */
interface Running {
  postgres?: Promise<{ stop(): Promise<void> }>
  parley?: Parley
  stopping: boolean
}

/**
 * How far the heap may grow beyond what is in use before it is cleaned up, in percent. By itself the engine lets it double
 * or more, so that an import of large requests would hold memory that it does not need.
 */
const heapGrowth = 40

v8.setFlagsFromString(`--heap-growing-percent=${heapGrowth}`)
dotenv.config({ quiet: true })
const running: Running = { stopping: false }
start(running).catch((error: unknown) => {
  // A start that was told to stop fails for want of what was stopped; the stop ends the process.
  if (running.stopping) return
  if (error instanceof ConfigError) console.error(error.message)
  else console.error(`Parley could not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})

async function start(running: Running): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog(config.logLevel)
  stopOnSignal(log, running)
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  await mkdir(dataDir, { recursive: true })

  const embedded = config.databaseUrl === undefined ? startEmbedded(dataDir, log) : undefined
  if (embedded !== undefined) running.postgres = embedded
  const postgres = await embedded
  try {
    const keys = await loadKeys(config, dataDir)
    const tls = await loadTls(config, dataDir)
    const connection = postgres?.connection ?? { connectionString: config.databaseUrl as string }
    const options: ParleyOptions = {
      config,
      log,
      connection,
      masterKey: keys.masterKey,
      mediaDir: path.join(dataDir, 'media'),
      tls,
    }
    const parley = await whenDatabaseAnswers(log, () => build(options, keys))
    running.parley = parley
    await parley.http.listen({ host: config.host, port: config.port, backlog })
    greet(parley.http, config, keys)
  } catch (error) {
    await postgres?.stop()
    throw error
  }
}

/** The service with its default app. When the database goes away meanwhile, nothing of it stays open. */
async function build(options: ParleyOptions, keys: DeploymentKeys): Promise<Parley> {
  const parley = await buildParley(options)
  try {
    await ensureDefaultApp(parley, options.config, keys)
    await warnAboutDurability(parley.context.database, options.log)
    return parley
  } catch (error) {
    await parley.close()
    throw error
  }
}

/** The embedded database, with its address written down for as long as it runs. */
async function startEmbedded(dataDir: string, log: Log) {
  const postgres = await startEmbeddedPostgres({ dataDir, log })
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

/** The database may come up later than the service, as in a cluster that starts as a whole. */
async function whenDatabaseAnswers(log: Log, build: () => Promise<Parley>): Promise<Parley> {
  const deadline = Date.now() + databasePatienceMs
  for (;;) {
    try {
      return await build()
    } catch (error) {
      if (!isConnectionFailure(error) || Date.now() > deadline) throw error
      log.warn({ cause: (error as Error).message }, 'the database does not answer yet; trying again')
      await delay(1000)
    }
  }
}

/**
 * The deployment's app, with the keys of the configuration. Those of the file are made with the app or with the file, not
 * at every start, so that a key deleted later stays deleted.
 */
async function ensureDefaultApp({ context }: Parley, config: Config, keys: DeploymentKeys): Promise<void> {
  const app = await context.apps.ensure(config.appId, config.region)
  const ensure = (apiKey: string, name: string, scope: 'fullAccess' | 'authOnly') =>
    ensureKey(context.database, context.secrets, app.appId, { apiKey, name, scope })
  if (app.created || keys.isNew || config.apiKey !== undefined) await ensure(keys.apiKey, 'REST API Key', 'fullAccess')
  if (app.created || keys.isNew || config.authKey !== undefined) await ensure(keys.authKey, 'Auth Key', 'authOnly')
}

/** Stop accepting, finish what runs, flush, stop the database; a second signal does not wait. */
function stopOnSignal(log: Log, running: Running): void {
  const stop = async (signal: NodeJS.Signals) => {
    if (running.stopping) process.exit(1)
    running.stopping = true
    log.info({ signal }, 'stopping')
    const finished = await Promise.race([close(running.parley).then(() => true), delay(stopTimeoutMs, false)])
    if (!finished) log.warn('not everything finished in time; stopping all the same')
    const postgres = await running.postgres?.catch(() => undefined)
    await postgres?.stop()
    log.info('stopped')
    log.flush(() => process.exit(0))
  }
  process.on('SIGTERM', (signal) => void stop(signal))
  process.on('SIGINT', (signal) => void stop(signal))
}

/** A client whose request was under way keeps its connection once it is answered: it is closed as soon as it idles. */
async function close(parley: Parley | undefined): Promise<void> {
  if (parley === undefined) return
  const closing = setInterval(() => parley.http.server.closeIdleConnections(), 50)
  await parley.close()
  clearInterval(closing)
}
