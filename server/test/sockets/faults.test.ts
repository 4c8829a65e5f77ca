import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { through } from '../cluster/support.ts'
import { type ExternalServer, startExternalServer } from '../faults/support/external.ts'
import { openNetwork } from '../faults/support/proxy.ts'
import { createStage } from '../faults/support/stage.ts'
import { ask } from '../http/watched.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import type { Service } from '../support/own-services.ts'
import { sharedService, startService } from '../support/service.ts'
import { authFrame, Client, connect, eventually, tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

const stage = createStage()
let server: ExternalServer

beforeAll(async () => {
  server = await startExternalServer(stage)
})
afterAll(() => stage.clean())

describe('while the database is away', () => {
  it('sockets stay, logins are refused for the moment, and all goes on afterwards', async () => {
    const connectionString = await server.database('sockets')
    const network = await openNetwork(stage, server.port)
    const service = await startService(
      {},
      { connectionString: connectionString.replace(`:${server.port}/`, `:${network.port}/`) },
      1_500,
    )
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const [aliceToken, bobToken] = [await tokenOf(world, 'alice'), await tokenOf(world, 'bob')]
    const bob = await connect(world, 'bob', { token: bobToken })
    const { id } = await say(world, 'alice', 'bob', 'before')
    await bob.takeText('before')
    // Nothing is under way of which sockets are to hear, as that bob has come.
    await until(async () => dataOf(await world.get('/users/bob')).status === 'available')

    network.swallow()
    const ready = async () => (await ask(`${world.url}/ready`)).status
    await eventually(ready, (status) => status === 503)
    await bob.pong()
    bob.send({ type: 'receipts', receiver: 'alice', receiverType: 'user', body: { action: 'read', messageId: id } })
    expect((await bob.takeType('error')).body).toMatchObject({ code: 'ERR_MISSION_FAILED', frame: 'receipts' })
    const alice = await new Client(world.url).opened()
    alice.send(authFrame(world, 'alice', aliceToken))
    expect((await alice.takeType('auth')).body).toEqual({ code: '503', status: 'ERR_MISSION_FAILED' })
    expect(await alice.closed()).toBe(1013)

    network.heal()
    await eventually(ready, (status) => status === 200)
    await connect(world, 'alice', { token: aliceToken })
    await say(world, 'alice', 'bob', 'after')
    await sayInGroup(world, 'alice', 'team', 'after in the group')
    await bob.takeText('after')
    await bob.takeText('after in the group')
    // Connections of before that died without a word hold nobody up.
    let isClosed = false
    void service.parley.close().then(() => {
      isClosed = true
    })
    await until(() => isClosed)
    expect(await bob.closed()).toBe(1012)
  })
})

describe('what others did while the database is away', () => {
  it('is told later, or its sockets are closed to ask for it: receipts, goals, presence', async () => {
    const connectionString = await server.database('told')
    const network = await openNetwork(stage, server.port)
    const service = await startService(
      {},
      { connectionString: connectionString.replace(`:${server.port}/`, `:${network.port}/`) },
      1_500,
    )
    const world = await createWorld(service)
    const { appId } = world.app
    await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'zoe')
    await createGroup(world, 'team', 'carol')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const everything = { body: { presenceSubscription: 'ALL_USERS' } }
    const [alice, carol, dave, erin] = [
      await connect(world, 'alice'),
      await connect(world, 'carol'),
      await connect(world, 'dave', everything),
      await connect(world, 'erin'),
    ]
    // Who is connected of the group is known then: nobody else is meant by what happens there.
    await sayInGroup(world, 'carol', 'team', 'hello')
    await until(async () => dataOf(await world.get('/users/erin')).status === 'available')

    network.swallow()
    const ready = async () => (await ask(`${world.url}/ready`)).status
    await eventually(ready, (status) => status === 503)
    const { bus } = service.parley.context.events
    const placeOf = (first: string, second: string) => ({ conversation: 1, kind: 'user', first, second }) as const
    const connection = { action: 'connected', deviceId: 'elsewhere', connectedAt: 1 } as const
    const about = { trigger: 'user_connection_status_changed', timestamp: 1, connection } as const
    bus.receive(appId, { ...about, uid: 'zoe', status: 'online' })
    const read = { trigger: 'message_read_receipt', uid: 'bob', at: 1 } as const
    bus.receive(appId, { ...read, place: placeOf('alice', 'bob'), messageId: Number(id) })
    // One that nobody remembers the sender of.
    const team = { conversation: 2, kind: 'group', first: 'team', second: '' } as const
    bus.receive(appId, { ...read, place: team, messageId: 999_999 })
    const interactions = [{ elementId: 'ok', interactedAt: 1 }]
    bus.receive(appId, {
      ...{ goalOf: 1, place: placeOf('erin', 'frank'), messageSender: 'erin', uid: 'frank', interactions },
    })
    for (const client of [alice, carol, erin]) expect(await client.closed()).toBe(1013)

    network.heal()
    await dave.take(({ type, sender, body }) => type === 'presence' && sender === 'zoe' && body.action === 'online')
    expect(dave.closedWith).toBe(undefined)
    await service.parley.close()
  })
})

describe('when the database is back after so long that every process looks dead', () => {
  it('nobody goes offline who is still connected to one of them', async () => {
    const connectionString = await server.database('back')
    const networks = [await openNetwork(stage, server.port), await openNetwork(stage, server.port)]
    const services = await Promise.all(
      networks.map(({ port }) =>
        startService({}, { connectionString: connectionString.replace(`:${server.port}/`, `:${port}/`) }, 1_500),
      ),
    )
    const [first, second] = services as [Service, Service]
    const world = await createWorld(first)
    await createUsers(world, 'alice', 'bob')
    const clients = [await connect(world, 'alice'), await connect(through(second, world), 'bob')]
    const online = async () => dataOf(await world.get('/users?status=available')).length
    await eventually(online, (users) => users === 2)
    const went: string[] = []
    for (const { parley } of services) {
      parley.context.events.bus.subscribe((_, event) => {
        if ('status' in event && event.status === 'offline') went.push(event.uid)
      })
    }

    for (const network of networks) network.swallow()
    const database = new pg.Client(connectionString)
    onTestFinished(() => database.end())
    database.on('error', () => {})
    await database.connect()
    const living = async () => {
      const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
      const { rows } = await database.query(`select id from presence_nodes where expires_at >= ${now}`)
      return rows.length
    }
    await eventually(living, (nodes) => nodes === 0)
    for (const network of networks) network.heal()
    await eventually(living, (nodes) => nodes === 2)
    expect(went).toEqual([])
    expect(await online()).toBe(2)
    for (const client of clients) expect(client.closedWith).toBe(undefined)
    await Promise.all(services.map(({ parley }) => parley.close()))
  })
})

describe('when the database is lost before it says that something is stored', () => {
  it('sockets are closed, to ask for what they may lack', async () => {
    const connectionString = await server.database('doubt')
    const network = await openNetwork(stage, server.port)
    const service = await startService(
      {},
      { connectionString: connectionString.replace(`:${server.port}/`, `:${network.port}/`) },
    )
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const bob = await connect(world, 'bob')
    await say(world, 'alice', 'bob', 'before')
    await bob.takeText('before')

    const body = { receiver: 'bob', receiverType: 'user', muid: 'once', data: { text: 'on its way' } }
    const send = () => world.post('/messages', body, { as: 'alice' })
    network.loseAnswerTo('on its way')
    const lost = send()
    const { database } = world.context
    const stored = sql`select from messages where app_id = ${world.app.appId} and muid = 'once'`
    await until(async () => (await database.run(stored)).length > 0)
    network.cutLost()
    expect((await lost).status).toBe(503)
    expect((await send()).status).toBe(200)
    expect(await bob.closed()).toBe(1013)
    const again = await connect(world, 'bob')
    await say(world, 'alice', 'bob', 'after')
    await again.takeText('after')
    await service.parley.close()
  })
})

describe('when what other processes told may have been missed', () => {
  it('nothing that is kept is believed: tokens, members, blocks', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const tokens = [await tokenOf(world, 'bob'), await tokenOf(world, 'bob')] as const
    const gone = await connect(world, 'bob', { token: tokens[0], deviceId: 'gone' })
    const bob = await connect(world, 'bob', { token: tokens[1] })
    const [alice, carol] = [await connect(world, 'alice'), await connect(world, 'carol')]
    const typing = { type: 'typing_indicator', receiver: 'team', receiverType: 'group', body: { action: 'started' } }
    alice.send(typing)
    for (const client of [gone, bob, carol]) await client.takeType('typing_indicator')
    await sayInGroup(world, 'alice', 'team', 'one')
    for (const client of [gone, bob, carol]) await client.takeText('one')

    // As if another process had done it, and the line to it were cut.
    const { database, secrets } = world.context
    const { appId } = world.app
    await database.run(sql`delete from auth_tokens where app_id = ${appId} and digest = ${secrets.digest(tokens[0])}`)
    await database.run(sql`delete from group_members where app_id = ${appId} and guid = 'team' and uid = 'bob'`)
    await database.run(sql`
      insert into blocks (app_id, blocker, blocked, blocked_at)
      values (${appId}, 'carol', 'alice', 1)`)
    await (await sharedService()).parley.sockets.resync()

    expect(await gone.closed()).toBe(4403)
    dataOf(await world.post('/messages', { receiver: 'team', receiverType: 'group', data: { text: 'two' } }))
    await carol.takeText('two')
    await bob.pong()
    expect(bob.frames).toEqual([])
    const tab = await connect(world, 'alice', { deviceId: 'tab' })
    alice.send(typing)
    await tab.takeType('typing_indicator')
    await carol.pong()
    expect(carol.frames).toEqual([])
  })
})
