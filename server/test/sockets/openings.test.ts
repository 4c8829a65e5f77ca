import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { graceOf } from '../../src/sockets/presence/tracker.ts'
import { watchForEnd } from '../../src/sockets/upgrade.ts'
import { startService } from '../support/service.ts'
import { authFrame, Client, eventually, tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** So many are opened at once; then others wait. */
const burst = 5
const crowd = 40

const outcomeOf = (client: Client): Promise<number> =>
  new Promise((resolve) => {
    client.ws.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode))
    client.ws.on('open', () => resolve(101))
  })

describe('sockets that many open at once', () => {
  it('are opened in turn, but for those whose clients have gone; a service that stops refuses who waits', async () => {
    const service = await startService({ SOCKET_LOGINS_PER_SECOND: '1' })
    const world = await createWorld(service)
    const uids = Array.from({ length: burst }, (_, i) => `u${i}`)
    await createUsers(world, ...uids)
    const tokens = await Promise.all(uids.map((uid) => tokenOf(world, uid)))
    const first = await Promise.all(uids.map(() => new Client(service.url).opened()))
    const order: string[] = []
    const open = (name: string) => {
      const client = new Client(service.url)
      client.ws.on('open', () => order.push(name))
      return client
    }
    const [gone, second, third] = [open('gone'), open('second'), open('third')]
    gone.ws.terminate()
    await Promise.all([second.opened(), third.opened()])
    expect(order.sort()).toEqual(['second', 'third'])

    for (const [i, client] of first.entries()) client.send(authFrame(world, uids[i] as string, tokens[i] as string))
    const codes = await Promise.all(first.map(async (client) => (await client.takeType('auth')).body.code))
    expect(codes).toEqual(uids.map(() => '200'))
    const ofApp = sql<{ node: string }>`select node from presence where app_id = ${world.app.appId}`
    const [present] = await eventually(
      () => world.context.database.run(ofApp),
      (rows) => rows.length === burst,
    )

    const countConnections = promisify(service.parley.http.server.getConnections.bind(service.parley.http.server))
    const before = await countConnections()
    const late = Array.from({ length: crowd }, () => outcomeOf(new Client(service.url)))
    await until(async () => (await countConnections()) >= before + crowd / 2)
    const { context } = await createWorld()
    const [clock] = await context.database.run(
      sql<{ now: number }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`,
    )
    const stopping = service.parley.close()
    const outcomes = await Promise.all(late.slice(0, crowd / 2))
    await stopping
    expect(outcomes.every((outcome) => outcome === 101 || outcome === 503)).toBe(true)
    expect(outcomes).toContain(503)

    // It takes a second for each until all are let in again; until then nobody who was online has gone.
    const [node] = await context.database.run(
      sql<{ until: number }>`select expires_at as until from presence_nodes where id = ${present?.node}`,
    )
    expect(Number(node?.until) - Number(clock?.now)).toBeGreaterThanOrEqual(10_000 + burst * 1000)
  })
})

describe('a stream that waits', () => {
  it('ends when its client goes, and keeps what the client sends', async () => {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const accept = async (): Promise<[Socket, Socket]> => {
      const client = connectTcp(port, '127.0.0.1')
      const [stream] = (await once(server, 'connection')) as [Socket]
      return [client, stream]
    }
    const [gone, left] = await accept()
    watchForEnd(left)
    gone.end()
    await once(left, 'close')

    const [client, stream] = await accept()
    const endWatch = watchForEnd(stream)
    client.write('early')
    await until(() => stream.readableLength === 5)
    endWatch()
    const [heard] = await once(stream, 'data')
    expect(String(heard)).toBe('early')
    client.write('late')
    expect(String((await once(stream, 'data'))[0])).toBe('late')
    client.destroy()
    server.close()
  })
})

describe('how long users of a process that stopped stay online', () => {
  it('is as long as it takes to let all of them in again, within bounds', () => {
    expect([0, 40, 2_000, 100_000].map((users) => graceOf(users, 40, { graceMs: 10_000 }))).toEqual([
      10_000, 11_000, 60_000, 120_000,
    ])
  })
})
