import net from 'node:net'
import { inject } from 'vitest'
import type { ConnectionSettings } from '../../src/store/connection.ts'

/** What is done with somebody who comes: `hold` lets him wait, as before a database that hangs. */
export type Welcome = 'pass' | 'refuse' | 'hold'

/** A way to the test's PostgreSQL that looks at who comes. */
export interface Reception {
  readonly connection: ConnectionSettings
  /** How many have come under this application name. */
  count(applicationName: string): number
  /** What is done from now on. @param count how many have come under this name, this one included */
  behave(welcome: (applicationName: string, count: number) => Welcome): void
  /** Nothing gets through any more to those who are there under this name, and nobody is told. */
  mute(applicationName: string): void
  /** Everybody gets through from now on, those who wait as well. */
  open(): void
  close(): void
}

/** @param database the name of the database that it leads to */
export async function openReception(database: string): Promise<Reception> {
  const { host, port, ...rest } = inject('connection')
  const sockets = new Set<net.Socket>()
  const came = new Map<string, number>()
  const waiting = new Set<() => void>()
  const mutes = new Map<string, Array<() => void>>()
  let behaviour: (name: string, count: number) => Welcome = () => 'pass'

  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const pass = (near: net.Socket, first: Buffer) => {
    const far = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host)
    keep(far)
    far.write(first)
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
    const mute = () => {
      for (const socket of [near, far]) socket.unpipe().pause()
    }
    const name = applicationNameOf(first)
    mutes.set(name, [...(mutes.get(name) ?? []), mute])
  }
  const server = net.createServer((near) => {
    keep(near)
    near.once('data', (first: Buffer) => {
      near.pause()
      const name = applicationNameOf(first)
      const count = (came.get(name) ?? 0) + 1
      came.set(name, count)
      const welcome = behaviour(name, count)
      if (welcome === 'refuse') near.end(tooManyClients())
      else if (welcome === 'hold') waiting.add(() => pass(near, first))
      else pass(near, first)
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return {
    connection: { ...rest, host: '127.0.0.1', port: (server.address() as net.AddressInfo).port, database, ssl: false },
    count: (name) => came.get(name) ?? 0,
    behave(welcome) {
      behaviour = welcome
    },
    mute(name) {
      for (const mute of mutes.get(name) ?? []) mute()
    },
    open() {
      behaviour = () => 'pass'
      for (const go of waiting) go()
      waiting.clear()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** The startup message: its length, a version, then names and values that end with a zero each. */
function applicationNameOf(startup: Buffer): string {
  const words = startup.subarray(8).toString('latin1').split('\0')
  return words[words.indexOf('application_name') + 1] ?? ''
}

/** PostgreSQL's error response: its type, its length, then fields that end with a zero each. */
function tooManyClients(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0', 'latin1')
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
