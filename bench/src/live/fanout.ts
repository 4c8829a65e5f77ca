import { setTimeout as delay } from 'node:timers/promises'
import type { Broadcast } from '../bare/sockets.ts'
import { startBareServer } from '../bare/start.ts'
import { textTo } from '../requests.ts'
import type { Service } from '../service.ts'
import { type Clients, closeAll, openBareSockets, openClients } from './clients.ts'
import { type LiveFigure, milliseconds, quantile, rate } from './figures.ts'
import { type Ask, createAsk, type Login, makeGroup, makeLogins } from './people.ts'

const members = 1000
const guid = 'everybody'
/** Messages whose way is measured, and milliseconds between them: how long one takes, not how many go through. */
const oneToOne = { count: 1000, pauseMs: 4 }
const toGroup = { count: 60, pauseMs: 250 }
/** Messages of a burst into the group, sent by so many at once. */
const burst = { count: 600, senders: 8 }

/** From the sender's 200 to the receiver's frame, and how many frames go out a second. */
export async function fanout(service: Service, progress: (text: string) => void): Promise<LiveFigure[]> {
  const ask = createAsk(service)
  const logins = await makeLogins(ask, 'live', members)
  await makeGroup(
    ask,
    guid,
    logins.map(({ uid }) => uid),
  )
  const clients = await openClients(`ws://127.0.0.1:${service.port}/`, logins)
  const arrivals = gatherArrivals(clients)
  try {
    progress('fan-out, one to one')
    const single = await latencies(ask, arrivals, logins, oneToOne, 1, (i) => {
      const receiver = logins[(i + 1) % members] as Login
      return textTo(receiver.uid)
    })
    progress('fan-out, a group of 1,000 members')
    const group = await latencies(ask, arrivals, logins, toGroup, members - 1, () => textTo(guid, 'group'))
    progress('a burst into the group')
    const perSecond = await burstRate(ask, arrivals, logins)
    progress('the same number of frames by bare ws')
    const bare = await bareRate(arrivals.sample())
    return [
      { what: 'one to one, from 200 to frame, p50', value: milliseconds(quantile(single, 0.5)) },
      { what: 'one to one, from 200 to frame, p99', value: milliseconds(quantile(single, 0.99)) },
      { what: 'group of 1,000 connected, p50', value: milliseconds(quantile(group, 0.5)) },
      {
        what: 'group of 1,000 connected, p99',
        value: milliseconds(quantile(group, 0.99)),
        goal: 'below 100 ms',
        met: quantile(group, 0.99) < 100,
      },
      {
        what: `frames a second to 1,000 sockets, ${burst.senders} senders`,
        value: rate(perSecond),
        beside: `${rate(bare)} bare ws`,
      },
    ]
  } finally {
    await clients.close()
  }
}

/** What has arrived: for each message id the times, in milliseconds. */
interface Arrivals {
  readonly times: Map<string, number[]>
  count(): number
  /** A frame as it came. */
  sample(): string
}

function gatherArrivals(clients: Clients): Arrivals {
  const times = new Map<string, number[]>()
  let count = 0
  let last = ''
  clients.onMessage((frame) => {
    const at = performance.now()
    count++
    last = frame
    // The first id in the body is that of the message; parsing a thousand frames would be measured along.
    const from = frame.indexOf('"id":"') + 6
    const id = frame.slice(from, frame.indexOf('"', from))
    const known = times.get(id)
    if (known === undefined) times.set(id, [at])
    else known.push(at)
  })
  return { times, count: () => count, sample: () => last }
}

async function latencies(
  ask: Ask,
  arrivals: Arrivals,
  logins: readonly Login[],
  { count, pauseMs }: { count: number; pauseMs: number },
  receivers: number,
  body: (i: number) => object,
): Promise<number[]> {
  const answered = new Map<string, number>()
  for (let i = 0; i < count; i++) {
    const sender = logins[i % logins.length] as Login
    const { id } = (await ask('POST', '/messages', body(i), sender.uid)) as { id: string }
    answered.set(id, performance.now())
    await delay(pauseMs)
  }
  await whenTrue(() => [...answered.keys()].every((id) => (arrivals.times.get(id)?.length ?? 0) >= receivers))
  // A frame may be there before the answer.
  return [...answered].flatMap(([id, at]) => (arrivals.times.get(id) ?? []).map((time) => Math.max(0, time - at)))
}

async function burstRate(ask: Ask, arrivals: Arrivals, logins: readonly Login[]): Promise<number> {
  const before = arrivals.count()
  const startedAt = performance.now()
  let sent = 0
  await Promise.all(
    logins.slice(0, burst.senders).map(async ({ uid }) => {
      while (sent < burst.count) {
        sent++
        await ask('POST', '/messages', textTo(guid, 'group'), uid)
      }
    }),
  )
  const expected = sent * (members - 1)
  await whenTrue(() => arrivals.count() - before >= expected)
  return (expected / (performance.now() - startedAt)) * 1000
}

/** The same frame to as many sockets, as often, by a server that does nothing else. */
async function bareRate(frame: string): Promise<number> {
  const bare = await startBareServer('sockets')
  try {
    const sockets = await openBareSockets(bare.port, members)
    let count = 0
    // As much is done with each as with those of the service.
    for (const socket of sockets) {
      socket.on('message', (data: Buffer) => {
        if (data.toString('utf8').includes('"type":"message"')) count++
      })
    }
    const startedAt = performance.now()
    bare.tell({ frame, times: burst.count } satisfies Broadcast)
    await whenTrue(() => count >= burst.count * members)
    const seconds = (performance.now() - startedAt) / 1000
    await closeAll(sockets)
    return (burst.count * members) / seconds
  } finally {
    bare.stop()
  }
}

const patienceMs = 60_000

async function whenTrue(check: () => boolean): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!check()) {
    if (performance.now() > deadline) throw new Error('not everything arrived within a minute')
    await delay(2)
  }
}
