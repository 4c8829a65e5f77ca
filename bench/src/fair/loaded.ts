import { setTimeout as delay } from 'node:timers/promises'
import { times } from '../bench.ts'
import { whenAtRest } from '../cpu.ts'
import type { LoadResult } from '../load/plan.ts'
import { getRequest } from '../requests.ts'
import { askSteadily, type TimedList, type Waits } from './waits.ts'
import type { TwoApps } from './world.ts'

/** Requests that the greedy user has under way at once. */
export const greedyConnections = 100
/** What they ask for is queued before the others are looked at. */
const leadSeconds = 2
/** Who is refused asks again, but not at once: how fast the service refuses is not what is measured. */
const pauseWhenRefused = 100
/** What is left of the load before may take its time. */
export const restLimitMs = 180_000

export interface OthersWaits {
  readonly 'same app': Waits
  readonly 'other app': Waits
}

/** How long the others wait when nobody else asks. */
export async function measureQuiet(world: TwoApps, seconds: number): Promise<OthersWaits> {
  await askOthers(world, Math.min(3, seconds))
  await whenAtRest(world.readCpu)
  return askOthers(world, seconds)
}

/** How long the others wait while the greedy user asks, and what became of those requests. */
export async function measureLoaded(
  world: TwoApps,
  lists: readonly TimedList[],
  seconds: number,
): Promise<OthersWaits & { readonly greedy: LoadResult }> {
  const { load, service, greedy, readCpu } = world
  await whenAtRest(readCpu)
  const requests = lists.map(({ path }) => getRequest(path, greedy))
  const connections = times(greedyConnections, (c) =>
    times(requests.length, (i) => requests[(c + i) % requests.length] as string),
  )
  const plan = {
    port: service.port,
    connections,
    repeat: true,
    warmup: 0,
    seconds: seconds + leadSeconds,
    pauseWhenRefused,
  }
  const [result, waits] = await Promise.all([
    load.run(plan),
    delay(leadSeconds * 1000).then(() => askOthers(world, seconds)),
  ])
  await whenAtRest(readCpu, restLimitMs)
  return { ...waits, greedy: result }
}

async function askOthers(world: TwoApps, seconds: number): Promise<OthersWaits> {
  const [same, other] = await Promise.all([
    askSteadily(world, 'same app', seconds),
    askSteadily(world, 'other app', seconds),
  ])
  return { 'same app': same, 'other app': other }
}
