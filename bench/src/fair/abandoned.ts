import { setTimeout as delay } from 'node:timers/promises'
import { times } from '../bench.ts'
import { whenAtRest } from '../cpu.ts'
import { openConnection } from '../load/connection.ts'
import { getRequest, type RequestOptions } from '../requests.ts'
import { type OthersWaits, restLimitMs } from './loaded.ts'
import { ask, sumUp, type TimedList } from './waits.ts'
import type { TwoApps } from './world.ts'

const tries = 3
export const abandonedAtOnce = 60
const patienceMs = 800

export interface AbandonedWaits extends OthersWaits {
  /** What was asked for and abandoned: the dearest list that is not refused. */
  readonly list: string
}

/** How long the next list of somebody else takes after many requests were sent and abandoned. */
export async function measureAbandoned(world: TwoApps, lists: readonly TimedList[]): Promise<AbandonedWaits> {
  const { service, greedy, others, readCpu } = world
  const [dearest] = lists.filter(({ refusal }) => refusal === undefined).toSorted((a, b) => b.ms - a.ms)
  if (dearest === undefined) throw new Error('every list is refused: there is nothing to abandon')
  const request = Buffer.from(getRequest(dearest.path, greedy))
  const same = []
  const other = []
  for (let i = 0; i < tries; i++) {
    await whenAtRest(readCpu, restLimitMs)
    let sent = 0
    const connections = times(abandonedAtOnce, () => {
      const connection = openConnection(service.port, {
        open: () => {
          connection.send(request)
          sent++
        },
        // Whatever comes, nobody waits for it.
        answer: () => {},
        broken: () => {},
      })
      return connection
    })
    await delay(patienceMs)
    for (const connection of connections) connection.close()
    if (sent < abandonedAtOnce) throw new Error(`only ${sent} of ${abandonedAtOnce} requests could be sent`)
    const asked = { path: '/v3/conversations' }
    const [ofSame, ofOther] = await Promise.all([
      ask(service.port, asked, others['same app'][i] as RequestOptions),
      ask(service.port, asked, others['other app'][i] as RequestOptions),
    ])
    same.push(ofSame)
    other.push(ofOther)
  }
  return { list: dearest.name, 'same app': sumUp(same), 'other app': sumUp(other) }
}
