import { setTimeout as delay } from 'node:timers/promises'
import { buildParley, type Parley, type ParleyOptions } from '../app.ts'
import type { Config } from '../config/index.ts'
import { greet, originOfConsole } from '../greeting.ts'
import { type DeploymentKeys, masterKeySource } from '../keys-file.ts'
import { createLog, type Log } from '../log.ts'
import { warnAboutDurability } from '../store/durability.ts'
import {
  ensureDefaultApp,
  ensureOwner,
  layFoundation,
  type OwnDatabase,
  openDataFolder,
  publishSetup,
  startOwnDatabase,
  whenDatabaseAnswers,
} from './foundation.ts'
import { listen } from './listen.ts'
import { addressOf } from './messages.ts'
import { watchForOthers } from './others.ts'

/** Of the ten seconds that a stop may take, the last are for the database. */
const stopTimeoutMs = 9_000

/** What runs, as far as the start has come. */
interface Running {
  postgres?: Promise<OwnDatabase>
  parley?: Parley
  stopWatching?: () => void
  stopping: boolean
}

/** The service in one process: this one. */
export async function runAlone(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const running: Running = { stopping: false }
  stopOnSignal(log, running)
  try {
    await start(config, log, running)
  } catch (error) {
    // A start that was told to stop fails for want of what was stopped; the stop ends the process.
    if (!running.stopping) throw error
  }
}

async function start(config: Config, log: Log, running: Running): Promise<void> {
  const dataDir = await openDataFolder(config)
  if (config.databaseUrl === undefined) running.postgres = startOwnDatabase(dataDir, log)
  const postgres = await running.postgres
  try {
    const { keys, setup } = await layFoundation(config, dataDir, postgres)
    const masterKeys = masterKeySource(process.env, keys.file)
    const options = {
      config,
      log,
      ...setup,
      masterKeySource: masterKeys,
      isOnlyProcess: postgres !== undefined,
      notifiesApart: true,
    }
    const { parley, setupToken } = await whenDatabaseAnswers(log, () => build(options, keys), keys)
    running.parley = parley
    await listen(parley, config)
    const address = addressOf(parley.http)
    greet(address, config, keys, await publishSetup(dataDir, originOfConsole(address, config), setupToken))
    if (config.redis === undefined) running.stopWatching = watchForOthers(parley.context.database, log)
  } catch (error) {
    await postgres?.stop()
    throw error
  }
}

/** The service with its default app, and the token of the address of its first owner. When the database goes away meanwhile, nothing of it stays open. */
async function build(
  options: ParleyOptions,
  keys: DeploymentKeys,
): Promise<{ parley: Parley; setupToken: string | undefined }> {
  const parley = await buildParley(options)
  try {
    await ensureDefaultApp(parley.context, options.config, keys)
    await warnAboutDurability(parley.context.database, options.log)
    return { parley, setupToken: await ensureOwner(parley.context, options.config, options.log) }
  } catch (error) {
    await parley.close()
    throw error
  }
}

/** Stop accepting, finish what runs, flush, stop the database; a second signal does not wait. */
function stopOnSignal(log: Log, running: Running): void {
  const stop = async (signal: NodeJS.Signals) => {
    if (running.stopping) process.exit(1)
    running.stopping = true
    log.info({ signal }, 'stopping')
    running.stopWatching?.()
    const closing = running.parley?.close() ?? Promise.resolve()
    const finished = await Promise.race([closing.then(() => true), delay(stopTimeoutMs, false)])
    if (!finished) log.warn('not everything finished in time; stopping anyway')
    const postgres = await running.postgres?.catch(() => undefined)
    await postgres?.stop()
    log.info('stopped')
    log.flush(() => process.exit(0))
  }
  // A terminal that is closed sends the last; there are no workers that it could mean.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop(signal))
}
