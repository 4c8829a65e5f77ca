import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { firstCursor } from '../support/events.ts'
import { createOwnServices } from '../support/own-services.ts'
import { startService } from '../support/service.ts'
import { authFrame, Client, connect, eventually, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const chatWorld = async (...uids: string[]): Promise<World> => {
  const world = await createWorld()
  await createUsers(world, ...uids)
  return world
}

const presenceOf =
  (uid: string, action: string) => (frame: { type: string; sender: string; body: { action: string } }) =>
    frame.type === 'presence' && frame.sender === uid && frame.body.action === action

const statusOf = async (world: World, uid: string) => dataOf(await world.get(`/users/${uid}`)).status
const uidsOf = (answer: { uid: string }[]) => answer.map(({ uid }) => uid)

/** Wherever in a frame a user is shown. */
function usersIn(value: unknown, uid: string): object[] {
  if (typeof value !== 'object' || value === null) return []
  const isUser = (value as { uid?: string }).uid === uid && 'name' in value
  return [...(isUser ? [value] : []), ...Object.values(value).flatMap((member) => usersIn(member, uid))]
}

const everything = { body: { presenceSubscription: 'ALL_USERS' } }

describe('presence', () => {
  it('is told to who asked for everybody, without anything private, and shown wherever users are', async () => {
    const world = await chatWorld('alice', 'bob')
    dataOf(
      await world.put('/users/bob', {
        metadata: { '@private': { email: 'b@example.com' }, seen: 1 },
        tags: ['secret'],
      }),
    )
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await say(world, 'alice', 'bob', 'hi')
    const alice = await connect(world, 'alice', everything)
    expect(await statusOf(world, 'bob')).toBe('offline')
    const bob = await connect(world, 'bob')
    const { createdAt } = dataOf(await world.get('/users/bob'))
    expect(await alice.take(presenceOf('bob', 'online'))).toEqual({
      appId: world.app.name,
      type: 'presence',
      sender: 'bob',
      body: {
        action: 'online',
        user: {
          uid: 'bob',
          name: 'Bob',
          role: 'default',
          status: 'available',
          createdAt,
          lastActiveAt: expect.any(Number),
        },
        timestamp: expect.any(Number),
      },
    })
    const shown = dataOf(await world.get('/users/bob'))
    expect(shown).toMatchObject({ status: 'available', lastActiveAt: expect.any(Number) })
    expect(dataOf(await world.get('/groups/team')).onlineMembersCount).toBe(2)
    const list = async (path: string) => uidsOf(dataOf(await world.get(path)))
    expect(await list('/users?status=available')).toEqual(['alice', 'bob'])
    expect(await list('/users?status=offline')).toEqual([])
    expect(await list('/groups/team/members?status=available')).toEqual(['alice', 'bob'])
    const conversations = dataOf(await world.get('/conversations', { as: 'alice' }))
    const [talk] = conversations.filter(
      ({ conversationType }: { conversationType: string }) => conversationType === 'user',
    )
    expect(talk.conversationWith).toMatchObject({ uid: 'bob', status: 'available' })
    expect((await say(world, 'bob', 'alice', 'hello')).data.entities.sender.entity.status).toBe('available')

    bob.close()
    expect(await alice.take(presenceOf('bob', 'offline'))).toMatchObject({ body: { user: { status: 'offline' } } })
    expect(await statusOf(world, 'bob')).toBe('offline')
    expect(await list('/users?status=available')).toEqual(['alice'])
    expect(await list('/users?status=offline')).toEqual(['bob'])
    expect(await list('/users?status=offline,available')).toEqual(['alice', 'bob'])
    expect(await list('/groups/team/members?status=offline')).toEqual(['bob'])
    expect((await world.get('/users?status=available')).body.meta.pagination.total).toBe(1)
    expect((await world.get('/groups/team/members?status=offline')).body.meta.pagination.total).toBe(1)
    expect(dataOf(await world.get('/groups/team')).onlineMembersCount).toBe(1)
    const changed = dataOf(await world.get('/users/bob'))
    expect(changed.updatedAt).toBe(shown.updatedAt)
  })

  it('ends with the last device, not before', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    const alice = await connect(world, 'alice', everything)
    const [first, second] = [
      await connect(world, 'bob', { deviceId: 'b1' }),
      await connect(world, 'bob', { deviceId: 'b2' }),
    ]
    await alice.take(presenceOf('bob', 'online'))
    first.close()
    await first.closed()
    const carol = await connect(world, 'carol')
    await alice.take(presenceOf('carol', 'online'))
    expect(alice.frames).toEqual([])
    second.close()
    carol.close()
    await alice.take(presenceOf('bob', 'offline'))
  })

  it('is told by kind of subscription: friends, roles, nobody', async () => {
    const world = await chatWorld('alice', 'bob', 'carol', 'dave')
    dataOf(await world.post('/roles', { role: 'staff', name: 'Staff' }))
    dataOf(await world.put('/users/carol', { role: 'staff' }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    const as = (presenceSubscription: string, more: object = {}) =>
      connect(world, 'alice', { deviceId: presenceSubscription, body: { presenceSubscription, ...more } })
    const [all, friends, roles, none] = [
      await as('ALL_USERS'),
      await as('FRIENDS'),
      await as('ROLES', { roles: ['Staff'] }),
      await as('NONE'),
    ]
    await Promise.all(['bob', 'carol', 'dave'].map((uid) => connect(world, uid)))
    for (const uid of ['bob', 'carol', 'dave']) await all.take(presenceOf(uid, 'online'))
    await friends.take(presenceOf('bob', 'online'))
    await roles.take(presenceOf('carol', 'online'))
    for (const client of [all, friends, roles, none]) {
      await client.pong()
      expect(client.frames).toEqual([])
    }
  })

  it('is not told between users of whom one has blocked the other, nor to himself', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const [alice, carol] = [await connect(world, 'alice', everything), await connect(world, 'carol', everything)]
    await eventually(
      () => statusOf(world, 'carol'),
      (status) => status === 'available',
    )
    const bob = await connect(world, 'bob', everything)
    await carol.take(presenceOf('bob', 'online'))
    alice.close()
    await carol.take(presenceOf('alice', 'offline'))
    for (const client of [bob, carol]) {
      await client.pong()
      expect(client.frames.filter(({ sender }) => sender === 'bob' || sender === 'alice')).toEqual(
        client === carol
          ? client.frames.filter(({ body }) => body.action === 'online' && body.user.uid === 'alice')
          : [],
      )
    }
  })

  it('is in no frame of a message whom it mentions or quotes, since one for all cannot hide it from some', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const [alice, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    await eventually(
      () => statusOf(world, 'bob'),
      (status) => status === 'available',
    )
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const quoted = await sayInGroup(world, 'bob', 'team', 'mine, <@uid:bob>')
    const said = await sayInGroup(world, 'carol', 'team', 'see <@uid:bob>', { quotedMessageId: quoted.id })
    const frames = [await alice.take(({ type, body }) => type === 'message' && body.id === said.id)]
    dataOf(await world.put(`/messages/${said.id}`, { data: { text: 'saw <@uid:bob>' } }, { as: 'carol' }))
    frames.push(await alice.take(({ type, body }) => type === 'message' && body.data.action === 'edited'))
    dataOf(await world.post(`/messages/${quoted.id}/pin`, {}, { as: 'carol' }))
    frames.push(await alice.take(({ type }) => type === 'message_pin'))
    const users = frames.flatMap((frame) => usersIn(frame, 'bob'))
    expect(users.length).toBeGreaterThanOrEqual(6)
    expect(users.filter((user) => 'status' in user || 'lastActiveAt' in user)).toEqual([])
    expect(users[0]).toMatchObject({ uid: 'bob', name: 'Bob', role: 'default' })
    // Requests are each answered for one user, so they still show it to who may see it.
    const [listed] = dataOf(await world.get(`/groups/team/messages?id=${quoted.id}&affix=append`, { as: 'carol' }))
    expect(listed.data.mentions.bob).toMatchObject({ status: 'available', lastActiveAt: expect.any(Number) })
    for (const client of [alice, bob]) client.close()
  })

  it('is told only of users whom the role may list', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
    dataOf(await world.put('/roles/guest/permissions', { permissions: { 'listUsers.mode': 'friends' } }))
    dataOf(await world.put('/users/alice', { role: 'guest' }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['carol'] }))
    const alice = await connect(world, 'alice', everything)
    const [bob, carol] = [await connect(world, 'bob'), await connect(world, 'carol')]
    await alice.take(presenceOf('carol', 'online'))
    await alice.pong()
    expect(alice.frames).toEqual([])
    bob.close()
    carol.close()
  })

  it('goes with a user who is deactivated or deleted, of whom it leaves nothing', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    const alice = await connect(world, 'alice', everything)
    await Promise.all([connect(world, 'bob'), connect(world, 'carol')])
    await alice.take(presenceOf('bob', 'online'))
    await alice.take(presenceOf('carol', 'online'))
    dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
    await alice.take(presenceOf('bob', 'offline'))
    expect(await statusOf(world, 'bob')).toBe('offline')
    dataOf(await world.delete('/users/carol', { permanent: true }))
    expect((await alice.take(presenceOf('carol', 'offline'))).body.user.name).toBe('Deleted user')
    await createUsers(world, 'carol')
    expect(await statusOf(world, 'carol')).toBe('offline')
    expect(uidsOf(dataOf(await world.get('/users?status=available')))).toEqual(['alice'])
  })

  it('raises an event for each turn, with the connection that it came by', async () => {
    const world = await chatWorld('alice')
    const heard: object[] = []
    const stop = world.context.events.bus.subscribe((appId, event) => {
      if (appId === world.app.appId && 'trigger' in event) heard.push(event)
    })
    const params = { platform: 'WEB', userAgent: 'test', appInfo: { version: '4.2.0' } }
    const alice = await connect(world, 'alice', { deviceId: 'd1', body: { params } })
    await eventually(
      async () => heard.length,
      (count) => count === 1,
    )
    alice.close()
    await eventually(
      async () => heard.length,
      (count) => count === 2,
    )
    stop()
    const appInfo = { version: '4.2.0', clientIp: '127.0.0.1' }
    const connection = { deviceId: 'd1', ...params, appInfo, connectedAt: expect.any(Number) }
    const event = { trigger: 'user_connection_status_changed', uid: 'alice', timestamp: expect.any(Number) }
    expect(heard).toEqual([
      { ...event, status: 'online', connection: { action: 'connected', ...connection } },
      { ...event, status: 'offline', connection: { action: 'disconnected', ...connection } },
    ])
  })
})

describe('the address of a client', () => {
  const appInfoOf = async (world: World, params: object, headers: Record<string, string> = {}) => {
    const cursor = await firstCursor(world)
    const client = await new Client(world.url, headers).opened()
    client.send(authFrame(world, 'alice', await tokenOf(world, 'alice'), { body: { params } }))
    await client.takeType('auth')
    const ask = async () => dataOf(await world.get(`/events?after=${cursor}&triggers=user_connection_status_changed`))
    const [event] = await eventually(ask, (events) => events.length === 1)
    client.close()
    return event.data.currentConnection.appInfo
  }

  it('is told of a connection, unless the client tells one', async () => {
    expect(await appInfoOf(await chatWorld('alice'), {})).toEqual({ clientIp: '127.0.0.1' })
    const appInfo = { clientIp: '192.0.2.1', version: '1' }
    expect(await appInfoOf(await chatWorld('alice'), { appInfo })).toEqual(appInfo)
  })

  it('is as trusted proxies say, and is not told if it is not to be kept', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.9' }
    for (const [environment, expected] of [
      [{ TRUST_PROXY: 'loopback' }, { clientIp: '203.0.113.9' }],
      [{ KEEP_CLIENT_ADDRESSES: 'false' }, undefined],
    ] as const) {
      const service = await startService(environment)
      const world = await createWorld(service)
      await createUsers(world, 'alice')
      expect(await appInfoOf(world, {}, forwarded)).toEqual(expected)
      await service.parley.close()
    }
  })
})

describe('a process that is gone', () => {
  it('leaves nobody online', async () => {
    const service = await startService()
    const other = await createWorld(service)
    await createUsers(other, 'alice', 'bob')
    const [alice, bob] = [await connect(other, 'alice'), await connect(other, 'bob')]
    await eventually(
      async () => uidsOf(dataOf(await other.get('/users?status=available'))),
      (uids) => uids.length === 2,
    )
    await service.parley.close()
    expect([await alice.closed(), await bob.closed()]).toEqual([1012, 1012])
    // Those who connect elsewhere in time never were away.
    const world = { ...(await createWorld()), app: other.app, apiKey: other.apiKey }
    const here = (path: string) =>
      world.call('GET', path, undefined, { headers: { appid: other.app.name, apikey: other.apiKey } })
    const token = dataOf(
      await world.call(
        'POST',
        '/users/alice/auth_tokens',
        {},
        { headers: { appid: other.app.name, apikey: other.apiKey } },
      ),
    ).authToken
    const back = await new Client(world.url).opened()
    back.send(authFrame(world, 'alice', token))
    await back.takeType('auth')
    expect(uidsOf(dataOf(await here('/users?status=available')))).toEqual(['alice', 'bob'])
    const left = await eventually(
      async () => uidsOf(dataOf(await here('/users?status=available'))),
      (uids) => uids.length === 1,
    )
    expect(left).toEqual(['alice'])
  })
})

describe('a process that was taken for dead', () => {
  it('says anew who is connected to it', async () => {
    const world = await chatWorld('alice', 'bob')
    await connect(world, 'alice')
    const online = async () => uidsOf(dataOf(await world.get('/users?status=available')))
    await eventually(online, (uids) => uids.length === 1)
    const { database } = world.context
    // As after a pause of half a minute, in which another process has swept what was left.
    await database.run(sql`delete from presence_nodes
      where id in (select node from presence where app_id = ${world.app.appId})`)
    await database.run(sql`delete from presence where app_id = ${world.app.appId}`)
    await database.run(sql`update users set online = false where app_id = ${world.app.appId}`)
    expect(await online()).toEqual([])
    await connect(world, 'bob')
    expect(await eventually(online, (uids) => uids.length === 2)).toEqual(['alice', 'bob'])
    expect(await statusOf(world, 'alice')).toBe('available')
  })

  it('says it anew where another process has swept only some of them so far', async () => {
    const services = await createOwnServices()
    onTestFinished(() => services.close())
    const world = await createWorld(await services.start())
    await createUsers(world, 'alice', 'bob')
    for (const uid of ['alice', 'bob']) await connect(world, uid)
    const online = async () => uidsOf(dataOf(await world.get('/users?status=available')))
    await eventually(online, (uids) => uids.length === 2)
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`update presence_nodes set expires_at = 0`)
      await tx.run(sql`delete from presence where uid = 'alice'`)
      await tx.run(sql`update users set online = false where uid = 'alice'`)
    })
    expect(await eventually(online, (uids) => uids.length === 2)).toEqual(['alice', 'bob'])
  })

  it('says of those who left meanwhile that they are gone', async () => {
    const services = await createOwnServices()
    onTestFinished(() => services.close())
    const world = await createWorld(await services.start())
    await createUsers(world, 'alice', 'bob')
    const [, bob] = [await connect(world, 'alice'), await connect(world, 'bob')]
    const online = async () => uidsOf(dataOf(await world.get('/users?status=available')))
    await eventually(online, (uids) => uids.length === 2)
    const { database } = world.context
    await database.transaction(async (tx) => {
      await tx.run(sql`update presence_nodes set expires_at = 0`)
      // The next beat waits for that, and what is to be written waits for the beat.
      await eventually(
        () =>
          database.run<{ count: number }>(sql`select count(*)::integer as count from pg_stat_activity
            where wait_event_type = 'Lock' and query like '%presence_nodes%'`),
        ([waiting]) => (waiting?.count ?? 0) > 0,
      )
      bob.close()
      await bob.closed()
    })
    expect(await eventually(online, (uids) => uids.length === 1)).toEqual(['alice'])
  })
})
