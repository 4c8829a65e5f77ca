import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Broadcast } from './bare-sockets.ts'

/** The bare socket server, in a process of its own. */
export interface BareSockets {
  readonly pid: number
  readonly port: number
  broadcast(task: Broadcast): void
  stop(): void
}

export async function startBareSockets(): Promise<BareSockets> {
  const child = fork(fileURLToPath(new URL('bare-sockets.js', import.meta.url)))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    pid: child.pid as number,
    port,
    broadcast: (task) => void child.send(task),
    stop: () => void child.kill(),
  }
}
