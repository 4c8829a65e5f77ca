import { once } from 'node:events'
import { WebSocket } from 'ws'
import { inParallel, type Login } from './people.ts'

/** Sockets that are logged in. */
export interface Clients {
  readonly sockets: readonly WebSocket[]
  /** Calls back with each frame of type `message`, as text. */
  onMessage(listener: (frame: string, uid: string) => void): void
  close(): Promise<void>
}

/** Opens a socket for each and logs in; one after the other would take long, all at once is another test. */
export async function openClients(address: string, logins: readonly Login[]): Promise<Clients> {
  const opened: Array<{ socket: WebSocket; uid: string }> = []
  await inParallel(logins, async ({ uid, token }) => {
    const socket = new WebSocket(address, { perMessageDeflate: false, rejectUnauthorized: false })
    await once(socket, 'open')
    const device = `bench-${uid}`
    socket.send(
      JSON.stringify({
        type: 'auth',
        sender: uid,
        deviceId: device,
        body: { auth: token, deviceId: device, presenceSubscription: 'NONE' },
      }),
    )
    const [answer] = (await once(socket, 'message')) as [Buffer]
    if (!answer.includes('"200"')) throw new Error(`${uid} could not log in: ${answer}`)
    opened.push({ socket, uid })
  })
  return {
    sockets: opened.map(({ socket }) => socket),
    onMessage(listener) {
      for (const { socket, uid } of opened) {
        socket.on('message', (data: Buffer) => {
          const frame = data.toString('utf8')
          if (frame.includes('"type":"message"')) listener(frame, uid)
        })
      }
    },
    close: () => closeAll(opened.map(({ socket }) => socket)),
  }
}

/** Opens sockets to a bare server, which wants no login. */
export async function openBareSockets(port: number, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  await inParallel(Array.from({ length: count }), async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false })
    await once(socket, 'open')
    sockets.push(socket)
  })
  return sockets
}

export async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  const closed = sockets.map((socket) => socket.readyState === WebSocket.CLOSED || once(socket, 'close'))
  for (const socket of sockets) socket.close()
  await Promise.all(closed)
}
