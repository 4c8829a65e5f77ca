/**
 * What `ws` does at best on this machine: sockets that are only held, and one frame to all of them as often as asked.
 * No login, no rule, no database.
 */
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { listen } from './listen.ts'

/** What its parent may ask: a frame sent to every socket, so many times. */
export interface Broadcast {
  readonly frame: string
  readonly times: number
}

/** Bytes that may wait for one socket before the next frame is put off. */
const patience = 64 * 1024

const server = createServer()
const wss = new WebSocketServer({ server, perMessageDeflate: false })
process.on('message', ({ frame, times }: Broadcast) => {
  let left = times
  const step = () => {
    while (left > 0) {
      if ([...wss.clients].some(({ bufferedAmount }) => bufferedAmount > patience)) {
        setImmediate(step)
        return
      }
      left--
      for (const client of wss.clients) client.send(frame)
    }
  }
  step()
})
await listen(server)
