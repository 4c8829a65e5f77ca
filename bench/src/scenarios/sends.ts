import { type Bench, repeat, runPlan, times } from '../bench.ts'
import type { Run, Scenario } from '../measure.ts'
import { postRequest, textTo } from '../requests.ts'
import { groupOf, hubs, memberOf } from './imports.ts'

const mostConnections = 256
/** Each connection has conversations of its own, and writes into them in turn. */
const pairsEach = 4
const strangers = 1500
/** More new conversations a second than are ever made here, so that a run does not end early. */
const mostPerSecond = 10_000

const pairs = times(mostConnections, (c) => times(pairsEach, (p) => [`p${c}-${p}-a`, `p${c}-${p}-b`] as const))

/** Makes the users who send and receive. */
export async function prepareSends(bench: Bench): Promise<void> {
  const { service } = bench
  const uids = [...pairs.flat(2), ...times(strangers, (i) => `s${i}`)]
  const requests = uids.map((uid) => postRequest('/v3/users', { uid, name: `User ${uid}` }, { apiKey: service.apiKey }))
  const connections = times(16, (c) => requests.filter((_, i) => i % 16 === c))
  const result = await runPlan(bench, { port: service.port, connections, repeat: false, warmup: 0, seconds: 60 })
  if (result.count !== uids.length) {
    throw new Error(`Of ${uids.length} users ${result.count} were made: ${result.firstFailure}`)
  }
}

const warmUpSeconds = 10

/**
 * A service that has just started has yet to compile what it does often, and its database to learn how large its tables
 * are: what is measured is one that has run for a while.
 */
export async function warmUp(bench: Bench): Promise<void> {
  await repeat(
    { ...bench, extent: { ...bench.extent, warmup: 0, seconds: warmUpSeconds } },
    bench.service.port,
    sendsInTurn(bench, 64),
  )
}

export function sends(bench: Bench): Scenario[] {
  const existing = (connections: number): Scenario => ({
    id: `send-existing-${connections}`,
    name: `Sends into existing conversations, ${connections} connections`,
    beside: [`http-${connections}`, `empty-${connections}`, 'sql-1'],
    run: () => repeat(bench, bench.service.port, sendsInTurn(bench, connections)),
  })
  const fresh = (connections: number): Scenario => ({
    id: `send-new-${connections}`,
    name: `Sends into new conversations, ${connections} connections`,
    beside: [`empty-${connections}`, 'sql-1'],
    run: () => sendToNewPeers(bench, connections),
  })
  return [existing(64), existing(256), fresh(64), fresh(256)]
}

/** Both sides of a conversation write, one after the other: each message also moves its sender's marks. */
export function sendsInTurn({ service: { apiKey } }: Bench, connections: number): string[][] {
  const send = (from: string, to: string) => postRequest('/v3/messages', textTo(to), { apiKey, as: from })
  return pairs
    .slice(0, connections)
    .map((own) => [...own.map(([a, b]) => send(a, b)), ...own.map(([a, b]) => send(b, a))])
}

/** Sends into the groups that the first round has imported, so it comes after that. */
export function groupSends(bench: Bench): Scenario {
  const { apiKey, port } = bench.service
  const connections = 64
  const requests = times(connections, (c) => {
    const h = c % hubs
    const body = textTo(groupOf(0, h), 'group')
    return times(pairsEach, (i) => {
      const as = memberOf(0, h, Math.floor(c / hubs) * pairsEach + i, bench.extent)
      return postRequest('/v3/messages', body, { apiKey, as })
    })
  })
  return {
    id: 'send-group-64',
    name: `Sends into ${hubs} groups of ${Math.floor(bench.extent.members / hubs)} members, ${connections} connections`,
    beside: ['empty-64', 'sql-1'],
    run: () => repeat(bench, port, requests),
  }
}

let acquainted = 0

/** Each message is the first between two users. */
function sendToNewPeers(bench: Bench, connections: number): Promise<Run> {
  const { port, apiKey } = bench.service
  const { warmup, seconds } = bench.extent
  const requestsEach = Math.ceil(((warmup + seconds) * mostPerSecond) / connections)
  const plan = times(connections, () =>
    times(requestsEach, () => {
      const [from, to] = nextNewPair()
      return postRequest('/v3/messages', textTo(to), { apiKey, as: from })
    }),
  )
  return runPlan(bench, { port, connections: plan, repeat: false, warmup, seconds })
}

/** Each pair once: first all users with their neighbours, then with the ones after, and so on. */
function nextNewPair(): [string, string] {
  const distance = 1 + Math.floor(acquainted / strangers)
  const first = acquainted % strangers
  if (distance >= strangers / 2) throw new Error('everybody knows everybody: make more strangers')
  acquainted++
  return [`s${first}`, `s${(first + distance) % strangers}`]
}
