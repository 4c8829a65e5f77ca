import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUnauthenticated } from '../../src/sockets/unauthenticated.ts'
import { startService } from '../support/service.ts'
import { Client, connect } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

const ofOneClient = 1_000

describe('sockets that have not said who they are', () => {
  let service: Awaited<ReturnType<typeof startService>>
  beforeAll(async () => {
    service = await startService({
      TRUST_PROXY: 'loopback',
      SOCKET_AUTH_SECONDS: '300',
      SOCKET_LOGINS_PER_SECOND: '1000',
    })
  })
  afterAll(() => service.parley.close())

  const open = (address: string) => new Client(service.url, { 'x-forwarded-for': address })
  const statusOf = async (client: Client) => {
    const refused = new Promise<number | undefined>((resolve) =>
      client.ws.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode)),
    )
    return Promise.race([refused, client.opened().then(() => 101)])
  }

  it('are bounded for each address, so that one cannot keep others out', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice')
    const silent = Array.from({ length: ofOneClient }, () => open('198.51.100.1'))
    await Promise.all(silent.map((client) => client.opened()))
    expect(await statusOf(open('198.51.100.1'))).toBe(503)

    const other = open('198.51.100.2')
    expect(await statusOf(other)).toBe(101)
    const alice = await connect(world, 'alice')
    await alice.pong()

    silent[0]?.ws.terminate()
    await until(async () => (await statusOf(open('198.51.100.1'))) === 101)
    for (const client of [...silent, other]) client.ws.terminate()
  })
})

describe('how long they may be silent', () => {
  const withWaiting = (count: number) => {
    const unauthenticated = createUnauthenticated({ authTimeoutMs: 10_000 })
    for (let i = 0; i < count; i++) unauthenticated.add(undefined)
    return unauthenticated
  }

  it('gets shorter where many wait', () => {
    expect([0, 5_000, 7_500, 9_500, 10_000].map((count) => withWaiting(count).patienceMs)).toEqual([
      10_000, 10_000, 5_000, 1_000, 1_000,
    ])
    expect(createUnauthenticated({ authTimeoutMs: 100 }).patienceMs).toBe(100)
  })

  it('gets longer again when they are gone; there is no room for more than 10,000', () => {
    const full = withWaiting(10_000)
    expect(full.hasRoomFor(undefined)).toBe(false)
    for (let i = 0; i < 5_000; i++) full.remove(undefined)
    expect(full.hasRoomFor(undefined)).toBe(true)
    expect(full.patienceMs).toBe(10_000)
  })
})
