import { createAppRegistry } from '../chat/apps.ts'
import { createAudit } from '../chat/audit/audit.ts'
import type { Config } from '../config/index.ts'
import { dropLeases } from '../delivery/leases.ts'
import { greet, originOfConsole } from '../greeting.ts'
import { loadTls } from '../http/tls.ts'
import { createLog, type Log } from '../log.ts'
import { openSecrets } from '../store/data-keys.ts'
import { openDatabase } from '../store/database.ts'
import { warnAboutDurability } from '../store/durability.ts'
import { createInvalidation } from '../store/invalidation.ts'
import { migrate } from '../store/migrate.ts'
import { createFleet, type Fleet } from './fleet.ts'
import {
  ensureDefaultApp,
  ensureOwner,
  type Foundation,
  layFoundation,
  type OwnDatabase,
  openDataFolder,
  publishSetup,
  startOwnDatabase,
  whenDatabaseAnswers,
} from './foundation.ts'

/** What runs, as far as the start has come. */
interface Running {
  postgres?: Promise<OwnDatabase>
  fleet?: Fleet
  stopping: boolean
}

/** Serves nothing itself: it has the database and the workers, and sees to it that they are there. */
export async function runPrimary(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const running: Running = { stopping: false }
  obeySignals(log, running)
  try {
    await start(config, log, running)
  } catch (error) {
    // A start that was told to stop fails for want of what was stopped; the stop ends the process.
    if (!running.stopping) throw error
  }
}

async function start(config: Config, log: Log, running: Running): Promise<void> {
  const dataDir = await openDataFolder(config)
  if (config.databaseUrl === undefined) running.postgres = startOwnDatabase(dataDir, log, config.workers)
  const postgres = await running.postgres
  try {
    const foundation = await layFoundation(config, dataDir, postgres)
    const isOurs = postgres !== undefined
    const prepare = () => prepareDatabase(config, log, foundation, isOurs)
    const setupToken = await whenDatabaseAnswers(log, prepare, foundation.keys)
    const { keys, setup } = foundation
    if (running.stopping) return
    const fleet = createFleet({
      size: config.workers,
      log,
      // A certificate that was renewed is served by the workers that are started from then on.
      setup: async () => ({ ...setup, tls: await loadTls(config, dataDir) }),
      onHopeless: (reason) => void giveUp(log, running, reason),
    })
    running.fleet = fleet
    const address = await fleet.start()
    greet(address, config, keys, await publishSetup(dataDir, originOfConsole(address, config), setupToken))
    log.info({ workers: config.workers }, 'all workers are serving')
  } catch (error) {
    if (!running.stopping) {
      await running.fleet?.stop()
      await postgres?.stop()
    }
    throw error
  }
}

/**
 * Migrated once, before there are several who would wait for each other.
 * @param isOurs nobody else serves it, and our workers have yet to start
 * @returns the token of the address of the first owner
 */
async function prepareDatabase(
  config: Config,
  log: Log,
  { keys, setup }: Foundation,
  isOurs: boolean,
): Promise<string | undefined> {
  const applied = await migrate(setup.connection)
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated')
  const database = openDatabase(setup.connection)
  try {
    const secrets = await openSecrets(database, [setup.masterKey])
    const audit = createAudit(secrets, { caller: 'service' })
    const apps = createAppRegistry(database, createInvalidation(database), audit)
    await ensureDefaultApp({ database, secrets, audit, apps, log }, config, keys)
    if (isOurs) await dropLeases(database)
    await warnAboutDurability(database, log)
    return await ensureOwner({ database, secrets, audit }, config, log)
  } finally {
    await database.close()
  }
}

/** SIGTERM and SIGINT end everything, SIGHUP restarts the workers one after the other; a second end does not wait. */
function obeySignals(log: Log, running: Running): void {
  const stop = async (signal: NodeJS.Signals) => {
    if (running.stopping) {
      running.fleet?.kill()
      process.exit(1)
    }
    running.stopping = true
    log.info({ signal }, 'stopping')
    await end(running)
    log.info('stopped')
    log.flush(() => process.exit(0))
  }
  process.on('SIGTERM', (signal) => void stop(signal))
  process.on('SIGINT', (signal) => void stop(signal))
  process.on('SIGHUP', () => {
    if (!running.stopping) void running.fleet?.restart()
  })
}

async function giveUp(log: Log, running: Running, reason: string): Promise<void> {
  if (running.stopping) return
  running.stopping = true
  log.fatal({ cause: reason }, 'the service is stopping')
  console.error(`Parley ends: ${reason}`)
  await end(running)
  log.flush(() => process.exit(1))
}

/** The workers first: what they are writing needs the database. */
async function end({ fleet, postgres }: Running): Promise<void> {
  await fleet?.stop()
  const own = await postgres?.catch(() => undefined)
  await own?.stop()
}
