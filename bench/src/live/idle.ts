import { setTimeout as delay } from 'node:timers/promises'
import { startBareServer } from '../bare/start.ts'
import { residentMemory } from '../processes.ts'
import { startService } from '../service.ts'
import { closeAll, openBareSockets, openClients } from './clients.ts'
import { kilobytes, type LiveFigure } from './figures.ts'
import { createAsk, makeLogins } from './people.ts'

/** Users behind the sockets: each has several, as people have devices; what is measured is the socket. */
const socketsEach = 10
/** Until garbage of the opening is collected, which the service does by itself when it has nothing to do. */
const quietMs = 15_000

/** Resident memory of each of many sockets that do nothing, with and without TLS in the process, beside bare `ws`. */
export async function idleSockets(count: number, progress: (text: string) => void): Promise<LiveFigure[]> {
  progress(`${count} idle sockets: bare ws`)
  const bare = await bareBytes(count)
  progress(`${count} idle sockets: the service`)
  const plain = await serviceBytes(count, 'http')
  progress(`${count} idle sockets: the service over TLS`)
  const tls = await serviceBytes(count, 'https')
  const name = `${count.toLocaleString('en')} idle sockets, memory of each`
  return [
    {
      what: name,
      value: kilobytes(plain),
      beside: `${kilobytes(bare)} bare ws`,
      goal: 'at most 20 kB',
      met: plain <= 20 * 1024,
    },
    { what: `${name}, TLS in the process`, value: kilobytes(tls), goal: 'at most 45 kB', met: tls <= 45 * 1024 },
  ]
}

async function serviceBytes(count: number, scheme: 'http' | 'https'): Promise<number> {
  const service = await startService({
    env: { SOCKET_IDLE_SECONDS: '600', ...(scheme === 'https' && { TLS: 'self-signed' }) },
  })
  try {
    const ask = createAsk(service, scheme)
    const logins = await makeLogins(ask, 'idle', count / socketsEach)
    const address = `${scheme === 'https' ? 'wss' : 'ws'}://127.0.0.1:${service.port}/`
    // A few first, so that what is needed once is there before.
    const first = await openClients(address, logins.slice(0, 20))
    await delay(quietMs)
    const before = residentMemory(service.pid)?.now ?? Number.NaN
    const clients = await openClients(address, Array.from({ length: socketsEach }, () => logins).flat())
    await delay(quietMs)
    const after = residentMemory(service.pid)?.now ?? Number.NaN
    await Promise.all([first.close(), clients.close()])
    return (after - before) / clients.sockets.length
  } finally {
    await service.stop()
  }
}

async function bareBytes(count: number): Promise<number> {
  const bare = await startBareServer('sockets')
  try {
    await closeAll(await openBareSockets(bare.port, 20))
    const before = residentMemory(bare.pid)?.now ?? Number.NaN
    const sockets = await openBareSockets(bare.port, count)
    await delay(quietMs)
    const after = residentMemory(bare.pid)?.now ?? Number.NaN
    await closeAll(sockets)
    return (after - before) / count
  } finally {
    bare.stop()
  }
}
