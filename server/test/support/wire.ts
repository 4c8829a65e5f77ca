import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import type { ConnectionSettings } from '../../src/store/connection.ts'

/** The way to a database, on which every statement is noted that goes over it. */
export interface Wire {
  /** The same database over this way. */
  readonly connection: ConnectionSettings
  /** The texts of statements in the order in which they were run, by whatever connection; prepared ones each time. */
  readonly statements: readonly string[]
  close(): void
}

/** Opens a port that leads to a database, and reads along what is asked of it. */
export async function openWire(
  to: ConnectionSettings & { readonly host: string; readonly port: number },
): Promise<Wire> {
  const statements: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = to.host.startsWith('/')
      ? connect(path.join(to.host, `.s.PGSQL.${to.port}`))
      : connect(to.port, to.host)
    for (const socket of [client, database]) {
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)))
    }
    client.on(
      'data',
      createReader((text) => statements.push(text)),
    )
    client.pipe(database).pipe(client)
    client.once('close', () => database.destroy())
    database.once('close', () => client.destroy())
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    connection: { ...to, host: '127.0.0.1', port },
    statements,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Reads one connection by the protocol of PostgreSQL: what is parsed gets a name, what is bound is run. */
function createReader(note: (text: string) => void): (chunk: Buffer) => void {
  const texts = new Map<string, string>()
  let rest = Buffer.alloc(0)
  // The first message has no letter that says what it is.
  let head = 0
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= head + 4) {
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      const kind = head === 0 ? '' : rest.toString('latin1', 0, 1)
      const [first = '', second = ''] = rest.toString('utf8', head + 4, end).split('\0', 2)
      if (kind === 'P') texts.set(first, second)
      else if (kind === 'B') note(texts.get(second) ?? '')
      else if (kind === 'Q') note(first)
      rest = rest.subarray(end)
      head = 1
    }
  }
}
