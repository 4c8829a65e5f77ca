import { connect, createServer, type Socket } from 'node:net'
import type { Stage } from './stage.ts'

/** A network between the service and its database, with faults. */
export interface Network {
  readonly port: number
  /** Nothing gets through any more, and nobody is told; as when a cable is cut or a firewall forgets a connection. */
  swallow(): void
  /** New connections get through. Those of before stay dead without a word. */
  heal(): void
  /** The database gets what holds this text next; what it answers on that connection from then on gets lost. */
  loseAnswerTo(text: string): void
  /** Cuts the connections on which answers got lost. */
  cutLost(): void
}

/** Opens a port that leads to another one on this machine. */
export async function openNetwork(stage: Stage, to: number): Promise<Network> {
  const sockets = new Set<Socket>()
  /** Connections on which nothing gets through any more, not even that the other side has closed its end. */
  const dead = new Set<Socket>()
  let swallowing = false
  let losing: string | undefined
  const lost = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client)
    if (swallowing) return
    const database = connect(to, '127.0.0.1')
    keep(database)
    client.on('data', (chunk) => {
      if (losing === undefined || !chunk.includes(losing)) return
      losing = undefined
      lost.add(client)
      database.unpipe(client)
      database.resume()
    })
    client.pipe(database).pipe(client)
    client.once('close', () => dead.has(database) || database.destroy())
    database.once('close', () => dead.has(client) || client.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  stage.onClean(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    swallow() {
      swallowing = true
      for (const socket of sockets) {
        dead.add(socket)
        socket.unpipe()
        socket.pause()
      }
    },
    heal() {
      swallowing = false
    },
    loseAnswerTo(text) {
      losing = text
    },
    cutLost() {
      for (const client of lost) client.destroy()
    },
  }
}
