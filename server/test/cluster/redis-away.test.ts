import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith } from '../gate/needs.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import type { Service } from '../support/own-services.ts'
import { type Client, connect, eventually, type Frame, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { redisServer } from './redis.ts'
import { type Cluster, createCluster, metricOf, through } from './support.ts'

describeWith(redisServer, 'Redis goes away and comes back', () => {
  let cluster: Cluster
  let first: Service
  let second: Service

  beforeAll(async () => {
    cluster = await createCluster()
    const environment = { SOCKET_DRAIN_SECONDS: '0.2', RATE_LIMITS: 'markUnreadPerUser=5' }
    ;[first, second] = [await cluster.start(environment), await cluster.start(environment)]
  })
  afterAll(() => cluster.close())

  const worlds = async (...uids: string[]): Promise<[World, World]> => {
    const world = await createWorld(first)
    await createUsers(world, ...uids)
    return [world, through(second, world)]
  }
  const redisUp = (up: number) =>
    eventually(
      () => Promise.all([first, second].map(({ url }) => metricOf(url, 'parley_redis_up'))),
      (states) => states.every((state) => state === up),
    )
  const drops = () => metricOf(second.url, 'parley_remote_resyncs_total{missed="true"}')

  it('under load: every request is answered, nothing is lost, and sockets get what was said meanwhile', async () => {
    const [here, there] = await worlds('alice', 'bob', 'carol')
    await createGroup(here, 'team', 'alice', { participants: ['bob', 'carol'] })
    const bob = await flappingClient(there, 'bob')
    const statuses: number[] = []
    const acknowledged: string[] = []
    let isOver = false
    const senders = [here, there].flatMap((world, w) =>
      Array.from({ length: 4 }, async (_, s) => {
        for (let n = 0; !isOver; n++) {
          const text = `${w} ${s} ${n}`
          const body = { receiver: 'team', receiverType: 'group', data: { text } }
          const answer = await world.post('/messages', body, { as: s % 2 ? 'alice' : 'carol' })
          statuses.push(answer.status)
          if (answer.status === 200) acknowledged.push(answer.body.data.id)
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      }),
    )
    const grown = (by: number) => {
      const from = acknowledged.length
      return eventually(
        async () => acknowledged.length,
        (length) => length > from + by,
      )
    }
    await grown(50)
    await cluster.redis.stop()
    await grown(200)
    await redisUp(0)
    // What is local goes on at once.
    const carol = await connect(there, 'carol')
    await sayInGroup(there, 'alice', 'team', 'among us')
    await carol.takeText('among us')
    await cluster.redis.start()
    await redisUp(1)
    await grown(50)
    isOver = true
    await Promise.all(senders)

    expect(new Set(statuses)).toEqual(new Set([200]))
    const stored = await cluster.services.query<{ id: string }>('select id::text from messages where app_id = $1', [
      here.app.appId,
    ])
    expect(acknowledged.filter((id) => !new Set(stored.map((row) => row.id)).has(id))).toEqual([])
    // Each was told over the socket, or found when connecting again.
    await eventually(
      async () => acknowledged.filter((id) => !bob.known.has(id)).length,
      (missing) => missing === 0,
    )
    bob.stop()
  })

  it('what is said while it is away for a moment comes late to sockets that stay open', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const bob = await connect(there, 'bob')
    await say(here, 'alice', 'bob', 'before')
    await bob.takeText('before')
    await cluster.redis.stop()
    await say(here, 'alice', 'bob', 'meanwhile')
    await bob.pong()
    expect(bob.frames).toEqual([])
    await cluster.redis.start()
    await bob.takeText('meanwhile')
    expect(bob.closedWith).toBe(undefined)
  })

  it('what was missed sends the sockets of that process away, to list it', async () => {
    const [here, there] = await worlds('alice', 'bob')
    await redisUp(1)
    const [alice, bob] = [await connect(here, 'alice'), await connect(there, 'bob')]
    const before = (await drops()) ?? 0
    // The others go on telling while this one listener is cut off.
    await second.parley.context.redis?.listener.unsubscribe()
    await say(here, 'alice', 'bob', 'unheard')
    await bob.pong()
    expect(bob.frames).toEqual([])
    second.parley.context.redis?.listener.disconnect(true)
    expect(await bob.closed()).toBe(1013)
    expect(await drops()).toBeGreaterThan(before)
    await alice.pong()
    const again = await connect(there, 'bob')
    await say(here, 'alice', 'bob', 'heard')
    await again.takeText('heard')
  })

  it('what a process stored, and was killed before it told it, sends the sockets of the others away', async () => {
    const third = await cluster.start()
    const [here, there] = await worlds('alice', 'bob')
    const bob = await connect(there, 'bob')
    await say(through(third, here), 'alice', 'bob', 'before')
    await bob.takeText('before')
    // As after a SIGKILL, nothing more is heard of it, no goodbye either.
    const { redis } = third.parley.context
    for (const line of [redis?.commands, redis?.listener]) line?.disconnect()
    const body = { receiver: 'bob', receiverType: 'user', muid: 'once', data: { text: 'untold' } }
    const sent = dataOf(await through(third, here).post('/messages', body, { as: 'alice' }))
    expect(dataOf(await there.post('/messages', body, { as: 'alice' })).id).toBe(sent.id)
    expect(await bob.closed()).toBe(1013)
    expect(bob.frames.filter(({ type }) => type === 'message')).toEqual([])
    await third.parley.close()
  })

  it('a token revoked while it is away stops working everywhere, and its sockets close', async () => {
    const [here, there] = await worlds('alice')
    const token = await tokenOf(here, 'alice')
    const socket = await connect(there, 'alice', { token })
    await cluster.redis.stop()
    dataOf(await here.delete(`/users/alice/auth_tokens/${token}`))
    expect((await there.get('/me', { token })).status).toBe(401)
    expect(await socket.closed()).toBe(4403)
    await cluster.redis.start()
    await redisUp(1)
  })

  it('limits are counted by each process meanwhile', async () => {
    const [here, there] = await worlds('alice', 'bob')
    await say(here, 'alice', 'bob', 'hi')
    await cluster.redis.stop()
    const mark = (world: World) => world.delete('/users/alice/conversation/read', {}, { as: 'bob' })
    const statuses = []
    for (let i = 0; i < 11; i++) statuses.push((await mark(i % 2 ? here : there)).status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10)
    await cluster.redis.start()
    await redisUp(1)
  })

  it('one that hangs holds nothing up', async () => {
    const [here, there] = await worlds('alice', 'bob')
    const bob = await connect(here, 'bob')
    cluster.redis.freeze()
    await say(here, 'alice', 'bob', 'at once')
    await bob.takeText('at once')
    expect((await there.get('/users')).status).toBe(200)
    await redisUp(0)
    expect((await fetch(`${first.url}/ready`)).status).toBe(200)
    cluster.redis.thaw()
    await redisUp(1)
    await say(there, 'alice', 'bob', 'across again')
    // Over the socket; or it may have missed something, and is told to connect again.
    await eventually(
      async () => bob.closedWith ?? bob.frames.find(({ body }) => body?.data?.text === 'across again')?.type,
      (outcome) => outcome === 1013 || outcome === 'message',
    )
  })

  it('a process starts without it, and hears the others once it is there', async () => {
    await cluster.redis.stop()
    const third = await cluster.start()
    const [here] = await worlds('alice', 'bob')
    const bob = await connect(through(third, here), 'bob')
    await say(through(third, here), 'alice', 'bob', 'alone')
    await bob.takeText('alone')
    await cluster.redis.start()
    await redisUp(1)
    await eventually(
      () => metricOf(third.url, 'parley_redis_up'),
      (up) => up === 1,
    )
    await third.parley.close()
  })
})

/** As client SDKs do: connects again whenever it is told to, and lists what is new. */
async function flappingClient(world: World, uid: string) {
  const known = new Set<string>()
  const token = await tokenOf(world, uid)
  let client: Client | undefined
  let isStopped = false
  let cursor: string | undefined
  const note = ({ id, category }: Frame) => {
    if (category === 'message') known.add(id)
  }
  const list = async () => {
    for (;;) {
      const from = cursor === undefined ? '' : `&id=${cursor}`
      const messages = dataOf(await world.get(`/groups/team/messages?affix=append${from}&limit=100`, { as: uid }))
      for (const message of messages) note(message)
      cursor = messages.at(-1)?.id ?? cursor
      if (messages.length < 100) return
    }
  }
  const open = async () => {
    const opened = await connect(world, uid, { token })
    client = opened
    opened.ws.on('message', (data) => {
      const frame = JSON.parse(String(data))
      if (frame.type === 'message') note(frame.body)
    })
    opened.ws.on('close', () => {
      if (!isStopped) reopen()
    })
    await list()
  }
  const reopen = () => {
    open().catch(() => {
      if (!isStopped) setTimeout(reopen, 100)
    })
  }
  await open()
  return {
    known,
    stop() {
      isStopped = true
      client?.close()
    },
  }
}
