import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startService } from '../support/service.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService({ TRUST_PROXY: 'loopback', SOCKET_AUTH_SECONDS: '300' })
})
afterAll(() => service.parley.close())

const open = (address: string) =>
  new WebSocket(service.url.replace('http', 'ws'), { headers: { 'x-forwarded-for': address } })

/** The status that a socket is answered with. */
async function statusOf(socket: WebSocket): Promise<number> {
  socket.on('error', () => {})
  return Promise.race([
    once(socket, 'open').then(() => 101),
    once(socket, 'unexpected-response').then(([, { statusCode }]) => statusCode),
  ])
}

/** One address opens sockets that say nothing, until there is room for nobody. */
it.each([
  ['an address', () => '198.51.100.1'],
  ['a network of IPv6', (n: number) => `2001:db8:1:2::${(n + 1).toString(16)}`],
])('Silent sockets of %s keep nobody else out', async (_, addressOf) => {
  const world = await createWorld(service)
  await createUsers(world, 'alice')
  const silent = Array.from({ length: 1_200 }, (_, n) => open(addressOf(n)))
  const statuses = await Promise.all(silent.map(statusOf))
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(100)
  const honest = open('203.0.113.9')
  expect(await statusOf(honest)).toBe(101)
  const alice = await connect(world, 'alice')
  await alice.pong()
  for (const socket of [...silent, honest]) socket.terminate()
})
