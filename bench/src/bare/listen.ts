import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens on a free port, reports it to the parent, and ends with the parent. */
export async function listen(server: Server): Promise<void> {
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send?.({ port: (server.address() as AddressInfo).port })
}
