import { setTimeout as delay } from 'node:timers/promises'
import { createLiveClient, type Live, type LiveOptions, type WebSocketConstructor } from '@parley/client'
import { WebSocket } from 'ws'
import { answer } from '../child.ts'
import type { Login } from '../live/people.ts'

export type Order =
  | {
      readonly connect: readonly Login[]
      readonly port: number
      readonly presence: NonNullable<LiveOptions['presence']>
    }
  /** Wait until so many of all are live, or so long. */
  | { readonly live: number; readonly withinMs: number }

/** Many live clients in one process. */
const lives: Live[] = []

answer<Order>(async (order) => {
  if ('connect' in order) {
    for (const { token } of order.connect) {
      const { live } = createLiveClient({
        url: `http://127.0.0.1:${order.port}`,
        authToken: token,
        presence: order.presence,
        WebSocket: WebSocket as unknown as WebSocketConstructor,
      })
      live.connect()
      lives.push(live)
      // One after the other: all at once is what the restart is for.
      await delay(2)
    }
    return {}
  }
  const count = () => lives.filter(({ connection }) => connection.getSnapshot().status === 'live').length
  for (const until = performance.now() + order.withinMs; performance.now() < until; await delay(50)) {
    if (order.live === 0 ? count() === 0 : count() >= order.live) break
  }
  return { live: count() }
})
