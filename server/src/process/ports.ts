import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config/index.ts'

/**
 * Listens on each port for a moment. A start that could not listen in the end would have made a database, keys and an app first, and
 * the next one would not print them.
 * @throws Error for people, naming the setting
 */
export async function requireFreePorts({ host, port, metricsPort, adminPort }: Config): Promise<void> {
  const { address } = await lookup(host)
  await requireFree(address, 'PORT', port)
  if (metricsPort !== undefined) await requireFree(address, 'METRICS_PORT', metricsPort)
  if (adminPort !== undefined) await requireFree(address, 'ADMIN_PORT', adminPort)
}

async function requireFree(host: string, setting: string, port: number): Promise<void> {
  const server = createServer()
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening')
  } catch (error) {
    throw describe(error as NodeJS.ErrnoException, host, setting, port)
  }
  server.close()
  await once(server, 'close')
}

function describe(error: NodeJS.ErrnoException, host: string, setting: string, port: number): Error {
  const place = `port ${port} of ${host}`
  if (error.code === 'EADDRINUSE') {
    return new Error(`another program listens on ${place}. Stop it, or set ${setting} to another port`)
  }
  if (error.code === 'EACCES')
    return new Error(`this user may not listen on ${place}. Set ${setting} to one from 1024 on`)
  if (error.code === 'EADDRNOTAVAIL') return new Error(`${host} is no address of this machine. Set HOST to one that is`)
  return error
}
