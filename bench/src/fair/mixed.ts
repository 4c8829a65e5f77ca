import { setTimeout as delay } from 'node:timers/promises'
import { times } from '../bench.ts'
import { type Asked, ask, sumUp, type Waits } from './waits.ts'
import { otherUids, type Side, type TwoApps } from './world.ts'

/** How long each kind of request took, and all of them together. */
export interface MixedWaits {
  readonly all: Waits
  readonly kinds: Readonly<Record<string, Waits>>
  /** The longest wait of those asked within each second, in milliseconds: what comes and goes shows here. */
  readonly bySecond: readonly number[]
}

/** What an open front end asks for, each as often as the others. @param peer whom the user writes to */
const kinds: Readonly<Record<string, (peer: string) => Asked>> = {
  conversations: () => ({ path: '/v3/conversations' }),
  'send to a user': (peer) => ({
    path: '/v3/messages',
    body: { receiver: peer, receiverType: 'user', data: { text: 'How are you today?' } },
  }),
  'page of messages': (peer) => ({ path: `/v3/users/${peer}/messages?affix=prepend&limit=30` }),
  'mark as read': (peer) => ({ path: `/v3/users/${peer}/conversation/read`, body: {} }),
  users: () => ({ path: '/v3/users?perPage=30' }),
}

const everyMs = 50

/**
 * Users of both apps who write to each other and read, at a pace of their own: whoever waits for answers would ask least
 * when it takes longest.
 */
export async function askMixed(world: TwoApps, seconds: number): Promise<Readonly<Record<Side, MixedWaits>>> {
  const [same, other] = await Promise.all([askSide(world, 'same app', seconds), askSide(world, 'other app', seconds)])
  return { 'same app': same, 'other app': other }
}

async function askSide({ service, others }: TwoApps, side: Side, seconds: number): Promise<MixedWaits> {
  const names = Object.keys(kinds)
  const answers = new Map(names.map((name) => [name, [] as Promise<Awaited<ReturnType<typeof ask>>>[]]))
  const from = performance.now()
  for (let i = 0; i * everyMs < seconds * 1000; i++) {
    await delay(Math.max(0, from + i * everyMs - performance.now()))
    const name = names[i % names.length] as string
    // Each user does one thing after the other.
    const person = Math.floor(i / names.length) % otherUids.length
    const peer = otherUids[(person + 1) % otherUids.length] as string
    const asked = (kinds[name] as (typeof kinds)[string])(peer)
    answers.get(name)?.push(ask(service.port, asked, others[side][person] ?? {}))
  }
  const perSecond = 1000 / everyMs
  const done = await Promise.all([...answers].map(async ([name, each]) => [name, await Promise.all(each)] as const))
  // Kinds take turns, so the nth of each was asked a round after the one before.
  const inOrder = times(seconds * perSecond, (i) => done[i % names.length]?.[1][Math.floor(i / names.length)]?.ms ?? 0)
  return {
    all: sumUp(done.flatMap(([, each]) => each)),
    kinds: Object.fromEntries(done.map(([name, each]) => [name, sumUp(each)])),
    bySecond: times(seconds, (second) =>
      Math.round(Math.max(...inOrder.slice(second * perSecond, (second + 1) * perSecond))),
    ),
  }
}
