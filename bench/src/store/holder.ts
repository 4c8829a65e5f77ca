import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { createLiveClient, type WebSocketConstructor } from '@parley/client'
import { WebSocket } from 'ws'
import { answer } from '../child.ts'
import { openClients } from '../live/clients.ts'
import type { Login } from '../live/people.ts'

export type Order =
  | { readonly open: 'store' | 'socket'; readonly port: number; readonly login: Login; readonly peer: string }
  | { readonly measure: 'begin' | 'end' }

/** What it took to hold what came. */
export interface Held {
  readonly messages: number
  readonly cpuSeconds: number
  readonly seconds: number
  /** The longest time for which nothing else could run, in milliseconds. */
  readonly longestTask: number
}

/** A store that shows a conversation, or a socket whose frames are only parsed. */
let messages = () => 0
let startedAt = 0
let cpu = process.cpuUsage()
const loop = monitorEventLoopDelay({ resolution: 1 })

answer<Order>(async (order) => {
  if ('open' in order) {
    messages = await (order.open === 'store' ? openStore : openSocket)(order)
    return {}
  }
  if (order.measure === 'begin') {
    loop.enable()
    loop.reset()
    startedAt = performance.now()
    cpu = process.cpuUsage()
    return {}
  }
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (performance.now() - startedAt) / 1000
  const held: Held = {
    ...{ messages: messages(), cpuSeconds: (user + system) / 1e6, seconds, longestTask: loop.max / 1e6 },
  }
  return held
})

type Opening = Extract<Order, { open: unknown }>

/** Whoever listens looks at each change, as a page does. */
async function openStore({ port, login, peer }: Opening): Promise<() => number> {
  const { live } = createLiveClient({
    url: `http://127.0.0.1:${port}`,
    authToken: login.token,
    WebSocket: WebSocket as unknown as WebSocketConstructor,
  })
  live.connect()
  const chat = live.openConversation({ uid: peer })
  for (const view of [chat, live.conversations, live.unread]) view.subscribe(() => view.getSnapshot())
  while (live.connection.getSnapshot().status !== 'live' || !chat.getSnapshot().isLoaded) await delay(10)
  return () => chat.getSnapshot().messages.length
}

async function openSocket({ port, login }: Opening): Promise<() => number> {
  let count = 0
  const clients = await openClients(`ws://127.0.0.1:${port}/`, [login])
  clients.onMessage((frame) => {
    JSON.parse(frame)
    count++
  })
  return () => count
}
