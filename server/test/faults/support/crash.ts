import { setTimeout as delay } from 'node:timers/promises'
import { findServersOf, signalIfThere } from '../../../src/store/embedded/processes.ts'
import { until } from '../../support/until.ts'
import { makeCast } from './cast.ts'
import { settleAttempts, startCrowd } from './crowd.ts'
import { clusterOf, connectToDatabase, killPostmaster, readPostmaster, signalDatabase } from './database.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { openLine } from './line.ts'
import { findFlaws } from './proof.ts'
import { createRandom, type Random } from './random.ts'
import type { ServiceProcess } from './service-process.ts'
import type { Stage } from './stage.ts'

export interface CrashRun {
  readonly cycles: number
  readonly seed: number
  /** Compares ledger and service after every so many cycles, and at the end. */
  readonly proveEvery: number
  readonly report?: (line: string) => void
}

export interface CrashReport {
  readonly ledger: Ledger
  readonly flaws: readonly string[]
}

const crowdSize = 64
/** Load flows again when this many more messages are answered. */
const answeredAgain = 100

/** What is killed, always by SIGKILL. */
const victims = {
  /** The service; the database ends with it, or is found running by the next start. */
  service: ({ service }: Scene) => service.kill(),
  /** The database's first process alone: its backends live on without it for a moment. */
  postmaster: async ({ dataDir }: Scene) => killPostmaster(dataDir),
  /** Every process of the database. */
  database: async ({ dataDir }: Scene) => void signalDatabase(dataDir, 'SIGKILL'),
  /** One process of the database: PostgreSQL ends all others and recovers. */
  backend: async ({ dataDir, random }: Scene) => {
    const first = readPostmaster(dataDir)?.pid
    const others = findServersOf(clusterOf(dataDir)).filter(({ pid }) => pid !== first)
    if (others.length > 0) signalIfThere(random.pick(others).pid, 'SIGKILL')
  },
  'database, then service': async ({ dataDir, service, random }: Scene) => {
    signalDatabase(dataDir, 'SIGKILL')
    await delay(random.between(0, 300))
    await service.kill()
  },
  'service, then database': async ({ dataDir, service }: Scene) => {
    service.signal('SIGKILL')
    signalDatabase(dataDir, 'SIGKILL')
    await service.exited
  },
} as const

interface Scene {
  readonly dataDir: string
  readonly service: ServiceProcess
  readonly random: Random
}

/**
 * Kills the service, its embedded database or both at random moments, under the load of 64 clients that write down every
 * answer; then compares what they know with what is stored.
 */
export async function runCrashLedger(stage: Stage, run: CrashRun): Promise<CrashReport> {
  const random = createRandom(run.seed)
  const ledger = createLedger()
  const flaws: string[] = []
  const dataDir = stage.makeDataDir()
  let url = ''
  const launch = () => stage.launch({ DATA_DIR: dataDir })
  let service = launch()
  url = await service.ready
  const line = openLine(() => url)
  const cast = await makeCast(line, { users: 24, groups: 4, members: 12 })
  const options = { ledger, cast, random: createRandom(run.seed + 1), size: crowdSize, address: () => url }
  let crowd = startCrowd(options)
  stage.onClean(() => crowd.stop())

  /** The service started anew, killed once more on the way up now and then. */
  const bringUp = async () => {
    while (random.chance(0.15)) {
      service = launch()
      await delay(random.between(0, 800))
      await service.kill()
    }
    service = launch()
    url = await service.ready
  }
  const whenLoadFlows = async () => {
    const before = ledger.acknowledged.size
    await until(() => ledger.acknowledged.size >= before + answeredAgain || !service.isRunning, {
      progress: () => ledger.acknowledged.size,
    })
  }
  /** At rest: nothing is sent. Half of what was never answered is sent again, the other half stays unknown. */
  const prove = async () => {
    await crowd.stop()
    const open = [...ledger.attempts.values()].filter(({ muid }) => !ledger.acknowledged.has(muid))
    await settleAttempts(
      options,
      open.filter((_, i) => i % 2 === 0),
    )
    const database = await connectToDatabase(dataDir)
    flaws.push(...(await findFlaws(line, database, cast, ledger)), ...ledger.faults)
    await database.end()
    crowd = startCrowd(options)
  }

  // Each kind of victim once before any comes again, in an order of chance.
  let deck: Array<keyof typeof victims> = []
  const draw = () => {
    if (deck.length === 0) deck = Object.keys(victims) as typeof deck
    const victim = random.pick(deck)
    deck = deck.filter((each) => each !== victim)
    return victim
  }

  await whenLoadFlows()
  for (let cycle = 1; cycle <= run.cycles && flaws.length === 0; cycle++) {
    await delay(random.between(0, 600))
    const victim = draw()
    await victims[victim]({ dataDir, service, random })
    if (service.isExpectedToEnd) await bringUp()
    await whenLoadFlows()
    if (!service.isRunning) flaws.push(`cycle ${cycle} (${victim}): the service ended by itself:\n${service.output()}`)
    run.report?.(`cycle ${cycle}: killed ${victim}; ${ledger.acknowledged.size} messages answered`)
    if (cycle % run.proveEvery === 0 || cycle === run.cycles) await prove()
  }
  await crowd.stop()
  await line.close()
  return { ledger, flaws }
}
