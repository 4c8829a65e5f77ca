import { mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import dotenv from 'dotenv'
import { buildParley, type Parley } from './app.ts'
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

const stopTimeoutMs = 10_000
const databasePatienceMs = 60_000

dotenv.config({ quiet: true })
start().catch((error: unknown) => {
  if (error instanceof ConfigError) console.error(error.message)
  else console.error(`Parley could not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog(config.logLevel)
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  await mkdir(dataDir, { recursive: true })

  const postgres = config.databaseUrl === undefined ? await startEmbedded(dataDir, log) : undefined
  try {
    const keys = await loadKeys(config, dataDir)
    const tls = await loadTls(config, dataDir)
    const connection = postgres?.connection ?? { connectionString: config.databaseUrl as string }
    const parley = await whenDatabaseAnswers(log, () =>
      buildParley({ config, log, connection, masterKey: keys.masterKey, tls }),
    )
    stopOnSignal(log, parley, postgres)
    await ensureDefaultApp(parley, config, keys)
    await warnAboutDurability(parley.context.database, log)
    await parley.http.listen({ host: config.host, port: config.port })
    greet(parley.http, config, keys)
  } catch (error) {
    await postgres?.stop()
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

/** The deployment's app, with the keys of the configuration; kept ones only when the app is made, so that a key deleted later stays so. */
async function ensureDefaultApp({ context }: Parley, config: Config, keys: DeploymentKeys): Promise<void> {
  const app = await context.apps.ensure(config.appId, config.region)
  const ensure = (apiKey: string, name: string, scope: 'fullAccess' | 'authOnly') =>
    ensureKey(context.database, context.secrets, app.appId, { apiKey, name, scope })
  if (app.created || config.apiKey !== undefined) await ensure(keys.apiKey, 'REST API Key', 'fullAccess')
  if (app.created || config.authKey !== undefined) await ensure(keys.authKey, 'Auth Key', 'authOnly')
}

/** Stop accepting, finish what runs, flush, stop the database; a second signal does not wait. */
function stopOnSignal(log: Log, parley: Parley, postgres: { stop(): Promise<void> } | undefined): void {
  let stopping = false
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping')
    const finished = await Promise.race([parley.close().then(() => true), delay(stopTimeoutMs, false)])
    if (!finished) log.warn('not everything finished in time; stopping all the same')
    await postgres?.stop()
    log.info('stopped')
    log.flush(() => process.exit(0))
  }
  process.on('SIGTERM', (signal) => void stop(signal))
  process.on('SIGINT', (signal) => void stop(signal))
}
