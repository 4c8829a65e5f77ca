import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { inLongSuite } from '../gate/needs.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { authFrame, Client, connect, type Frame, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const crowd = inLongSuite.isMet ? 1_000 : 300
/** Changes of presence that one socket is sent at most in each second (presence/fanout.ts). */
const changesPerSecond = 100

describe('a crowd of clients that reconnect at once', () => {
  let service: { parley: Parley; url: string }
  let world: World
  let tokens: string[]
  const uids = Array.from({ length: crowd }, (_, i) => `u${i}`)

  beforeAll(async () => {
    service = await startService({ RATE_LIMITS: 'off', SOCKETS_PER_USER: '5', SOCKET_LOGINS_PER_SECOND: '1000' })
    world = await createWorld(service)
    await createUsers(world, 'host')
    await createGroup(world, 'hall', 'host')
    tokens = []
    for (let i = 0; i < crowd; i += 50) {
      const made = await Promise.all(
        uids.slice(i, i + 50).map(async (uid) => {
          const { authToken } = dataOf(await world.post('/users', { uid, name: uid, withAuthToken: true }))
          return authToken as string
        }),
      )
      tokens.push(...made)
      for (let k = i; k < i + 50; k += 25) {
        dataOf(await world.post('/groups/hall/members', { participants: uids.slice(k, k + 25) }))
      }
    }
  })
  afterAll(() => service.parley.close())

  const connectAll = () =>
    Promise.all(
      uids.map(async (uid, i) => {
        const client = await new Client(world.url).opened()
        const body = { presenceSubscription: 'ALL_USERS' }
        client.send(authFrame(world, uid, tokens[i] as string, { body }))
        const answer = await client.takeType('auth')
        return { client, code: answer.body.code }
      }),
    )

  it('all get in, hear everything from then on, and presence does not storm', async () => {
    const first = await connectAll()
    expect(first.every(({ code }) => code === '200')).toBe(true)
    for (const { client } of first) client.ws.terminate()
    const since = performance.now()
    const again = await connectAll()
    expect(again.every(({ code }) => code === '200')).toBe(true)
    const sent = await sayInGroup(world, 'host', 'hall', 'to all')
    const heard = await Promise.all(again.map(({ client }) => client.takeText('to all')))
    expect(heard.every(({ body }) => body.id === sent.id)).toBe(true)
    await Promise.all(again.map(({ client }) => client.pong()))
    // Everybody watches everybody: one by one it would be the square of them in frames at once, whatever the time it took them.
    const seconds = Math.ceil((performance.now() - since) / 1000) + 1
    const presence = again.map(({ client }) => client.frames.filter(({ type }: Frame) => type === 'presence').length)
    expect(Math.max(...presence)).toBeLessThanOrEqual(changesPerSecond * seconds)
    expect(dataOf(await world.get('/users?status=available&perPage=1')).length).toBe(1)
    for (const { client } of again) client.ws.terminate()
  })
})

describe('a client whose line is cut again and again', () => {
  it('has exactly the messages stored when it lists after each login, also over a restart of the service', async () => {
    let service = await startService()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const token = await tokenOf(world, 'bob')
    const at = () => ({ ...world, url: service.url })
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const post = (path: string, body: object, as: string) =>
      send(service.url, 'POST', path, body, { ...headers, onbehalfof: as })
    const list = (path: string) => send(service.url, 'GET', path, undefined, { ...headers, onbehalfof: 'bob' })

    const seen = { user: new Map<string, string>(), group: new Map<string, string>() }
    const note = (kind: 'user' | 'group', message: { id: string; data: { text?: string } }) =>
      seen[kind].set(message.id, message.data.text ?? '')
    const newest = { user: '', group: '' }
    const paths = { user: '/users/alice/messages', group: '/groups/team/messages' }

    /** The recipe of docs/sockets.md: first the socket, then the list from the last that is known. */
    const catchUp = async (kind: 'user' | 'group') => {
      for (;;) {
        const cursor = newest[kind] === '' ? '' : `&id=${newest[kind]}`
        const page = dataOf(await list(`${paths[kind]}?limit=7&affix=append${cursor}`))
        for (const message of page) note(kind, message)
        if (page.length === 0) return
        newest[kind] = page.at(-1).id
      }
    }
    const hear = (client: Client) => {
      client.ws.on('message', (data) => {
        const frame = JSON.parse(String(data))
        if (frame.type === 'message') note(frame.receiverType, frame.body)
      })
    }

    let writing = true
    let restarting: Promise<void> | undefined
    const written: string[] = []
    const writer = (async () => {
      for (let i = 0; writing; i++) {
        await restarting
        const [receiver, receiverType] = i % 2 === 0 ? ['bob', 'user'] : ['team', 'group']
        const answer = await post('/messages', { receiver, receiverType, data: { text: `t${i}` } }, 'alice').catch(
          () => undefined,
        )
        if (answer?.status === 200) written.push(answer.body.data.id)
      }
    })()

    for (let round = 0; round < 12; round++) {
      const client = await new Client(service.url).opened()
      hear(client)
      client.send(authFrame(at(), 'bob', token))
      await client.takeType('auth')
      await Promise.all([catchUp('user'), catchUp('group')])
      await client.takeType('message')
      if (round === 6) {
        restarting = service.parley.close().then(async () => {
          service = await startService()
        })
        await restarting
      } else client.ws.terminate()
    }
    const last = await connect(at(), 'bob', { token })
    hear(last)
    await Promise.all([catchUp('user'), catchUp('group')])
    const before = written.length
    while (written.length < before + 10) await new Promise((resolve) => setImmediate(resolve))
    writing = false
    await writer
    const lastOf = async (kind: 'user' | 'group') =>
      dataOf(await list(`${paths[kind]}?limit=1&affix=prepend`)).at(-1).id
    const ends = [await lastOf('user'), await lastOf('group')]
    await last.take(({ type, body }) => type === 'message' && body.id === ends[0])
    await last.take(({ type, body }) => type === 'message' && body.id === ends[1])

    for (const kind of ['user', 'group'] as const) {
      const stored = new Map<string, string>()
      let id = ''
      for (;;) {
        const page = dataOf(await list(`${paths[kind]}?limit=500&affix=append${id && `&id=${id}`}`))
        for (const message of page) stored.set(message.id, message.data.text ?? '')
        if (page.length === 0) break
        id = page.at(-1).id
      }
      expect(Object.fromEntries([...seen[kind]].sort())).toEqual(Object.fromEntries([...stored].sort()))
    }
    const everything = [...seen.user.keys(), ...seen.group.keys()]
    expect(written.every((id) => everything.includes(id))).toBe(true)
    last.close()
    await service.parley.close()
  })
})

describe('many who send at once', () => {
  it('are heard by each other, each message once', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 8 }, (_, i) => `w${i}`)
    await createUsers(world, 'alice', ...uids)
    await createGroup(world, 'team', 'alice', { participants: uids })
    const alice = await connect(world, 'alice')
    await Promise.all(
      uids.map(async (uid) => {
        for (let i = 0; i < 20; i++) await sayInGroup(world, uid, 'team', `${uid} ${i}`)
      }),
    )
    await say(world, 'w0', 'alice', 'end')
    await alice.pong()
    const heard: string[] = []
    while (heard.length < 160) heard.push((await alice.take(({ body }) => body?.receiver === 'team')).body.id)
    const stored = dataOf(await world.get('/groups/team/messages?limit=200', { as: 'alice' }))
    expect(heard.toSorted()).toEqual(stored.map(({ id }: { id: string }) => id).toSorted())
  })
})

describe('somebody who is kicked while all talk', () => {
  it('hears that as the last of the group, and nothing that was said after it, however close it came', async () => {
    const world = await createWorld()
    const writers = Array.from({ length: 6 }, (_, i) => `w${i}`)
    await createUsers(world, 'alice', 'bob', ...writers)
    await createGroup(world, 'team', 'alice', { participants: ['bob', ...writers] })
    const bob = await connect(world, 'bob')
    for (let round = 0; round < 5; round++) {
      let talking = true
      const talk = writers.map(async (uid) => {
        while (talking) await sayInGroup(world, uid, 'team', 'x')
      })
      await bob.take(({ body }) => body?.data?.text === 'x')
      dataOf(await world.delete('/groups/team/members/bob', undefined, { as: 'alice' }))
      talking = false
      await Promise.all(talk)
      await bob.pong()
      const page = dataOf(await world.get('/groups/team/messages?limit=200&affix=prepend', { as: 'alice' }))
      const kicked = page.findLast((message: Frame) => message.data.action === 'kicked')
      const heard = bob.frames.filter(({ type }) => type === 'message').map(({ body }) => Number(body.id))
      expect(heard.at(-1)).toBe(Number(kicked.id))
      expect(heard.filter((id) => id > Number(kicked.id))).toEqual([])
      dataOf(await world.post('/groups/team/members', { participants: ['bob'] }, { as: 'alice' }))
      await bob.take(({ body }) => body?.data?.action === 'added')
      bob.frames.length = 0
    }
  })
})
