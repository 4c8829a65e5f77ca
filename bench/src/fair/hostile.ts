import { setTimeout as delay } from 'node:timers/promises'
import { times } from '../bench.ts'
import { whenAtRest } from '../cpu.ts'
import type { LoadResult } from '../load/plan.ts'
import { fetchBody, getRequest, postRequest } from '../requests.ts'
import { restLimitMs } from './loaded.ts'
import { askMixed, type MixedWaits } from './mixed.ts'
import type { TimedList } from './waits.ts'
import { otherUids, type Side, type TwoApps } from './world.ts'

/** Connections by which the hostile user does each of these at once. */
export const hostileConnections = { lists: 60, sends: 20, 'sends to many': 10, 'wrong passwords': 10 }

const leadSeconds = 2
/** Who is refused tries again, but not at once: how fast the service refuses is not what is measured. */
const pauseWhenRefused = 100
const lockedGuid = 'locked'

export interface HostileWaits {
  readonly quiet: Readonly<Record<Side, MixedWaits>>
  readonly hostile: Readonly<Record<Side, MixedWaits>>
  /** What became of the requests of the hostile user. */
  readonly attack: LoadResult
}

/** How long everybody waits when it is quiet, and beside one token that does what it can for some minutes. */
export async function measureHostile(
  world: TwoApps,
  lists: readonly TimedList[],
  minutes: number,
): Promise<HostileWaits> {
  const { load, service, readCpu } = world
  await fetchBody(service.port, 'POST', '/v3/groups', { apiKey: service.apiKey }, lockedGroup)
  await askMixed(world, 5)
  await whenAtRest(readCpu, restLimitMs)
  const seconds = minutes * 60
  const quiet = await askMixed(world, Math.max(30, seconds / 10))
  await whenAtRest(readCpu, restLimitMs)
  const plan = {
    port: service.port,
    connections: attackBy(world, lists),
    repeat: true,
    warmup: 0,
    seconds: seconds + leadSeconds,
    pauseWhenRefused,
  }
  const [attack, hostile] = await Promise.all([
    load.run(plan),
    delay(leadSeconds * 1000).then(() => askMixed(world, seconds)),
  ])
  return { quiet, hostile, attack }
}

const lockedGroup = { guid: lockedGuid, name: 'Locked', type: 'password', password: 'open sesame' }

/** The requests of each connection. */
function attackBy({ greedy }: TwoApps, lists: readonly TimedList[]): string[][] {
  const data = { text: 'Buy now!' }
  const dear = lists.map(({ path }) => getRequest(path, greedy))
  const sends = otherUids.map((receiver) =>
    postRequest('/v3/messages', { receiver, receiverType: 'user', data }, greedy),
  )
  const toMany = [postRequest('/v3/messages', { multipleReceivers: { uids: otherUids }, data }, greedy)]
  const guesses = times(1000, (n) => postRequest(`/v3/groups/${lockedGuid}/members`, { password: `${n}` }, greedy))
  const by = { lists: dear, sends, 'sends to many': toMany, 'wrong passwords': guesses }
  return Object.entries(by).flatMap(([name, requests]) =>
    times(hostileConnections[name as keyof typeof hostileConnections], (c) =>
      times(requests.length, (i) => requests[(c + i) % requests.length] as string),
    ),
  )
}
