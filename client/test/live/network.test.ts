import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { pauseApp, resumeApp } from '../../../server/src/areas/apps/index.ts'
import { createGroup, dataOf, say, sayInGroup } from '../../../server/test/support/chat.ts'
import { startService } from '../../../server/test/support/service.ts'
import { tokenOf } from '../../../server/test/support/socket.ts'
import { soon, until } from '../../../server/test/support/until.ts'
import { createUsers, createWorld } from '../../../server/test/support/world.ts'
import { type Live, ParleyError, type StoredSend } from '../../src/index.ts'
import { liveOf, whenLive } from './support/people.ts'
import { textsOf, useRoom } from './support/room.ts'

const { join, keep, network, world: chatWorld, onEnd } = useRoom()

describe('a paused app', () => {
  it('is waited for: the client is told so, and goes on where it was', async () => {
    const world = await chatWorld('alice', 'bob')
    const bobsToken = await tokenOf(world, 'bob')
    const alice = await join(world, 'alice', { backoff: { first: 100, most: 400 } })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    await pauseApp(world.context, world.app)
    const knows = (live: Live) => {
      const state = live.connection.getSnapshot()
      return state.status === 'waiting' && state.closeCode === 4503
    }
    await until(() => knows(alice))
    // Whoever comes meanwhile is told the same.
    const bob = keep(await liveOf(world, 'bob', { authToken: bobsToken, backoff: { first: 100, most: 400 } }))
    bob.connect()
    await until(() => knows(bob))
    await resumeApp(world.context, world.app)
    await say(world, 'bob', 'alice', 'welcome back')
    await until(() => list.getSnapshot().messages.some(({ data }) => data?.text === 'welcome back'))
    await until(() => alice.connection.getSnapshot().status === 'live')
    const muid = list.send({ text: 'thank you' })
    await until(() => list.getSnapshot().pending.length === 0)
    expect(list.getSnapshot().messages.at(-1)).toMatchObject({ muid })
  })
})

describe('a send', () => {
  it('whose answer is lost is sent again, and stored once', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    line.loseAnswers(2)
    const muid = list.send({ text: 'once' })
    await until(() => list.getSnapshot().pending.length === 0)
    expect(list.getSnapshot().messages).toMatchObject([{ muid, data: { text: 'once' } }])
    const stored = dataOf(await world.get('/users/bob/messages?limit=100', { as: 'alice' }))
    expect(stored.map((message: { muid: string }) => message.muid)).toEqual([muid])
  })

  it('whose answer is lost shows a receipt that came before it was found in a list', async () => {
    const world = await chatWorld('alice', 'bob')
    let isHeard = false
    class Listening extends WebSocket {
      constructor(url: string) {
        super(url)
        this.on('message', (data) => {
          const { type, body } = JSON.parse(String(data))
          if (type === 'receipts' && body.action === 'read') isHeard = true
        })
      }
    }
    let stored: { id: string } | undefined
    let isListed = false
    const losing = async (url: string, init: { method?: string }) => {
      const answer = await fetch(url, init)
      if (init.method === 'POST' && url.endsWith('/messages')) {
        stored = ((await answer.json()) as { data: { id: string } }).data
        throw new TypeError('lost')
      }
      if (url.endsWith('/users/bob/conversation') && stored !== undefined) {
        isListed = true
        await until(() => isHeard)
      }
      return answer
    }
    const rare = { retries: 0, timeout: 0, backoff: { first: 1e6, most: 1e6 } }
    const options = { ...rare, fetch: losing as never, WebSocket: Listening as never }
    const alice = await join(world, 'alice', options)
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    list.send({ text: 'once' })
    await until(() => stored)
    dataOf(await world.post('/users/bob/conversation/pin', {}, { as: 'alice' }))
    await until(() => isListed)
    const messageId = Number(stored?.id)
    dataOf(await world.post('/users/alice/conversation/read', { messageId }, { as: 'bob' }))
    await until(() => list.getSnapshot().messages[0]?.readAt)
  })

  it('waits while there is no network, and goes out in order', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    line.cut()
    for (const text of ['one', 'two', 'three']) list.send({ text })
    await until(() => (list.getSnapshot().pending[0]?.attempts ?? 0) > 1)
    expect(list.getSnapshot().pending.map(({ content }) => content.text)).toEqual(['one', 'two', 'three'])
    line.heal()
    await until(() => list.getSnapshot().pending.length === 0)
    expect(textsOf(list)).toEqual(['one', 'two', 'three'])
  })

  function createStorage(...sends: StoredSend[]) {
    const stored = new Map(sends.map((send) => [send.muid, send]))
    const storage = {
      load: () => [...stored.values()],
      save: (send: StoredSend) => void stored.set(send.muid, JSON.parse(JSON.stringify(send))),
      remove: (muid: string) => void stored.delete(muid),
    }
    return { stored, storage }
  }

  it('outlives its client where there is a storage', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const { stored, storage } = createStorage()
    const before = await join(world, 'alice', { url: line.url, storage })
    line.cut()
    for (const text of ['one', 'two']) before.send({ uid: 'bob' }, { text })
    before.close()
    expect([...stored.values()].map(({ content }) => content.text)).toEqual(['one', 'two'])
    line.heal()
    const after = await join(world, 'alice', { url: line.url, storage })
    const list = after.openConversation({ uid: 'bob' })
    await until(() => textsOf(list).join() === 'one,two')
    await until(() => stored.size === 0)
    expect(after.outbox.getSnapshot()).toEqual([])
  })

  it('that was left in a storage waits for whoever wrote it, and for nobody else', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    const line = await network(world.url)
    const { stored, storage } = createStorage()
    const alice = await join(world, 'alice', { url: line.url, storage })
    line.cut()
    alice.send({ uid: 'bob' }, { text: 'of Alice' })
    alice.close()
    line.heal()
    const carol = await join(world, 'carol', { storage })
    const chat = carol.openConversation({ uid: 'bob' })
    carol.send({ uid: 'bob' }, { text: 'of Carol' })
    await until(() => textsOf(chat).join() === 'of Carol' && carol.outbox.getSnapshot().length === 0)
    expect([...stored.values()].map(({ content }) => content.text)).toEqual(['of Alice'])
    carol.close()
    const again = await join(world, 'alice', { storage })
    const list = again.openConversation({ uid: 'bob' })
    await until(() => textsOf(list).join() === 'of Alice')
    await until(() => stored.size === 0)
  })

  it('that was written before its user was known is kept for them as soon as they are, and comes after older ones', async () => {
    const world = await chatWorld('alice', 'bob')
    const older = { muid: 'older', uid: 'alice', peer: { uid: 'bob' }, content: { text: 'one' }, order: 7 }
    const { stored, storage } = createStorage(older)
    const posted: unknown[] = []
    const refusing = async (url: string, init: { method?: string; body?: string }) => {
      if (init.method !== 'POST' || !url.endsWith('/messages')) return fetch(url, init)
      posted.push(JSON.parse(init.body ?? '').data.text)
      return new Response('', { status: 503 })
    }
    const options = { storage, fetch: refusing as never, retries: 0, backoff: { first: 1e6, most: 1e6 } }
    const alice = keep(await liveOf(world, 'alice', options))
    alice.connect()
    // What was left has been read by then, and nobody has answered who this is.
    await Promise.resolve()
    const muid = alice.send({ uid: 'bob' }, { text: 'two' })
    expect(stored.get(muid)).not.toHaveProperty('uid')
    await until(() => stored.get(muid)?.uid === 'alice')
    await until(() => posted.length === 1)
    expect(posted).toEqual(['one'])
    expect(alice.outbox.getSnapshot().map(({ content }) => content.text)).toEqual(['one', 'two'])
  })

  it('that was discarded while a second client waited for its user is not sent', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const { stored, storage } = createStorage()
    const first = await join(world, 'alice', { url: line.url, storage })
    line.cut()
    const muid = first.send({ uid: 'bob' }, { text: 'taken back' })
    const second = keep(await liveOf(world, 'alice', { url: line.url, storage }))
    second.connect()
    await until(() => second.connection.getSnapshot().status === 'waiting')
    first.discard(muid)
    expect(stored.size).toBe(0)
    line.heal()
    await whenLive(second)
    const list = second.openConversation({ uid: 'bob' })
    list.send({ text: 'said' })
    await until(() => list.getSnapshot().messages.length > 0 && second.outbox.getSnapshot().length === 0)
    expect(textsOf(list)).toEqual(['said'])
  })

  it('of which nobody knows who wrote it is sent once a user says so', async () => {
    const world = await chatWorld('alice', 'bob')
    const nobodys = { muid: 'nobodys', peer: { uid: 'bob' }, content: { text: 'of somebody' }, order: 1 }
    const { stored, storage } = createStorage(nobodys)
    const alice = await join(world, 'alice', { storage })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    expect(list.getSnapshot()).toMatchObject({ messages: [], pending: [{ muid: 'nobodys', status: 'failed' }] })
    alice.retry('nobodys')
    await until(() => textsOf(list).join() === 'of somebody')
    await until(() => stored.size === 0)
  })

  it('that is on its way again is waited for by the next one, even if the connection comes back meanwhile', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const ways: Array<(way: 'lost' | 'through') => void> = []
    const posting = async (url: string, init: { method?: string; body?: string }) => {
      if (init.method === 'POST' && url.endsWith('/messages')) {
        const way = await new Promise<'lost' | 'through'>((resolve) => ways.push(resolve))
        if (way === 'lost') throw new TypeError('lost')
      }
      return fetch(url, init)
    }
    const alice = await join(world, 'alice', { url: line.url, fetch: posting as never, retries: 0, timeout: 0 })
    const list = alice.openConversation({ uid: 'bob' })
    const states = () => list.getSnapshot().pending.map(({ status, attempts }) => `${status} ${attempts}`)
    for (const text of ['one', 'two']) list.send({ text })
    await until(() => ways.length === 1)
    ways[0]?.('lost')
    await until(() => ways.length === 2)
    // The connection may be back sooner than anybody looks.
    const statuses: string[] = []
    alice.connection.subscribe(() => statuses.push(alice.connection.getSnapshot().status))
    line.drop()
    await until(() => statuses.some((status) => status !== 'live') && statuses.at(-1) === 'live')
    expect(states()).toEqual(['sending 2', 'queued 0'])
    ways[1]?.('lost')
    for (const at of [2, 3]) {
      await until(() => ways.length > at)
      ways[at]?.('through')
    }
    await until(() => textsOf(list).join() === 'one,two')
  })

  it('that was on its way when the client was closed goes out when it connects again', async () => {
    const world = await chatWorld('alice', 'bob')
    let tries = 0
    const posting = async (url: string, init: { method?: string; signal: AbortSignal }) => {
      if (init.method === 'POST' && url.endsWith('/messages') && tries++ === 0) {
        await new Promise((resolve) => init.signal.addEventListener('abort', resolve))
      }
      return fetch(url, init)
    }
    const alice = await join(world, 'alice', { fetch: posting as never, timeout: 0 })
    const list = alice.openConversation({ uid: 'bob' })
    list.send({ text: 'one' })
    await until(() => tries === 1)
    alice.close()
    alice.connect()
    await until(() => textsOf(list).join() === 'one')
  })

  it('that was on its way goes before the next one where the client is closed and connects again in one turn', async () => {
    const world = await chatWorld('alice', 'bob')
    let posts = 0
    const posting = async (url: string, init: { method?: string; signal: AbortSignal }) => {
      const isFirst = init.method === 'POST' && url.endsWith('/messages') && posts++ === 0
      const answer = await fetch(url, isFirst ? { ...init, signal: undefined } : (init as object))
      if (isFirst) await new Promise((resolve) => init.signal.addEventListener('abort', resolve))
      return answer
    }
    const unanswered = async (url: string, init: { method?: string; signal: AbortSignal }) => {
      if (init.method === 'POST' && url.endsWith('/messages') && posts++ === 0) {
        await new Promise((resolve) => init.signal.addEventListener('abort', resolve))
      }
      return fetch(url, init)
    }
    for (const how of [unanswered, posting]) {
      posts = 0
      const alice = await join(world, 'alice', { fetch: how as never, timeout: 0 })
      const list = alice.openConversation({ uid: 'bob' })
      for (const text of ['one', 'two']) list.send({ text: `${how.name} ${text}` })
      await until(() => posts === 1)
      alice.close()
      alice.connect()
      await until(() => list.getSnapshot().pending.length === 0)
    }
    const stored = dataOf(await world.get('/users/bob/messages?limit=100', { as: 'alice' }))
    expect(stored.map(({ data }: { data: { text: string } }) => data.text)).toEqual([
      'unanswered one',
      'unanswered two',
      'posting one',
      'posting two',
    ])
  })

  it('that is discarded on its way is shown where it has arrived', async () => {
    const world = await chatWorld('alice', 'bob')
    let isStored = false
    const storing = async (url: string, init: { method?: string; signal: AbortSignal }) => {
      if (init.method !== 'POST' || !url.endsWith('/messages')) return fetch(url, init)
      await fetch(url, { ...init, signal: null })
      isStored = true
      return await new Promise((_, reject) => init.signal.addEventListener('abort', () => reject(new Error('ended'))))
    }
    const alice = await join(world, 'alice', { fetch: storing as never, timeout: 0 })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    const muid = list.send({ text: 'too late' })
    await until(() => isStored)
    alice.discard(muid)
    expect(list.getSnapshot().pending).toEqual([])
    await until(() => textsOf(list).join() === 'too late')
    await until(() => alice.conversations.getSnapshot().conversations[0]?.lastMessage?.muid === muid)
  })

  it('that is refused has failed, and can be sent again or discarded', async () => {
    const world = await chatWorld('alice', 'bob')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const alice = await join(world, 'alice')
    const list = alice.openConversation({ uid: 'bob' })
    const muid = list.send({ text: 'hello?' })
    const other = list.send({ text: 'anybody?' })
    await until(() => list.getSnapshot().pending.every(({ status }) => status === 'failed'))
    expect(list.getSnapshot().pending[0]).toMatchObject({ muid, error: { code: 'ERR_BLOCKED_SENDER' } })
    alice.discard(other)
    dataOf(await world.delete('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    alice.retry(muid)
    await until(() => textsOf(list).join() === 'hello?')
    expect(list.getSnapshot().pending).toEqual([])
  })
})

describe('a conversation', () => {
  it('that was opened without a connection, and asked for older messages, shows all once there is one', async () => {
    const world = await chatWorld('alice', 'bob')
    for (const text of ['one', 'two']) await say(world, 'bob', 'alice', text)
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url })
    line.cut()
    await until(() => alice.connection.getSnapshot().status === 'waiting')
    const list = alice.openConversation({ uid: 'bob' })
    await Promise.all([list.loadOlder(), list.loadNewer()])
    expect(list.getSnapshot().isLoaded).toBe(false)
    line.heal()
    await whenLive(alice)
    expect(textsOf(list)).toEqual(['one', 'two'])
  })

  it('that could not be read again is shown as it was, and goes on', async () => {
    const world = await chatWorld('alice', 'bob')
    await say(world, 'bob', 'alice', 'one')
    const alice = await join(world, 'alice')
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    await expect(list.loadNewest(AbortSignal.abort())).rejects.toThrow()
    expect(list.getSnapshot()).toMatchObject({ isLoaded: true, error: expect.anything() })
    await say(world, 'bob', 'alice', 'two')
    await until(() => textsOf(list).join() === 'one,two')
  })

  it('of which older messages could not be read says so until they are, and reads them when it is told to', async () => {
    const world = await chatWorld('alice', 'bob')
    for (const text of ['one', 'two', 'three', 'four']) await say(world, 'bob', 'alice', text)
    let isAway = true
    const away = async (url: string, init: object) =>
      isAway && url.includes('&id=') ? new Response('', { status: 503 }) : fetch(url, init)
    const alice = await join(world, 'alice', { fetch: away as never, retries: 0, pageSize: 2 })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    for (const load of [list.loadOlder, list.loadAgain]) await expect(load()).rejects.toMatchObject({ status: 503 })
    // What is read besides does not make up for it.
    await list.loadNewer()
    expect(list.getSnapshot()).toMatchObject({ failed: 'older', error: { status: 503 } })
    isAway = false
    await Promise.all([list.loadAgain(), list.loadAgain()])
    expect(list.getSnapshot()).not.toHaveProperty('failed')
    expect(list.getSnapshot()).not.toHaveProperty('error')
    expect(textsOf(list)).toEqual(['one', 'two', 'three', 'four'])
    await list.loadAgain()
  })

  it('of which older messages could not be read reads them with the next connection', async () => {
    const world = await chatWorld('alice', 'bob')
    for (const text of ['one', 'two', 'three', 'four']) await say(world, 'bob', 'alice', text)
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url, retries: 0, pageSize: 2 })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    line.cut()
    await expect(list.loadOlder()).rejects.toThrow()
    expect(list.getSnapshot().error).toBeDefined()
    line.heal()
    await until(() => textsOf(list).join() === 'one,two,three,four')
    expect(list.getSnapshot().error).toBeUndefined()
  })

  it('that could not be read again is read with the next connection', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    await expect(list.loadNewest(AbortSignal.abort())).rejects.toThrow()
    expect(list.getSnapshot().error).toBeDefined()
    line.drop()
    await until(() => list.getSnapshot().error === undefined)
  })
})

describe('a connection', () => {
  it('that drops is made again, and what was missed is shown', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const first = await say(world, 'bob', 'alice', 'first')
    const alice = await join(world, 'alice', { url: line.url })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    line.cut()
    await until(() => alice.connection.getSnapshot().status === 'waiting')
    await say(world, 'bob', 'alice', 'second')
    dataOf(await world.put(`/messages/${first.id}`, { data: { text: 'FIRST' } }, { as: 'bob' }))
    dataOf(await world.post(`/messages/${first.id}/reactions/x`, {}, { as: 'bob' }))
    line.heal()
    await whenLive(alice)
    expect(textsOf(list)).toEqual(['FIRST', 'second'])
    expect(list.getSnapshot().messages[0]?.reactions).toEqual([{ reaction: 'x', count: 1 }])
    expect(alice.unread.getSnapshot()).toEqual({ messages: 2, conversations: 1 })
  })

  it('that is dead without a word is found by its heartbeat', async () => {
    const world = await chatWorld('alice', 'bob')
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url, pingInterval: 100, pingTimeout: 200 })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    line.halfOpen()
    await say(world, 'bob', 'alice', 'are you there?')
    await until(() => textsOf(list).join() === 'are you there?')
  })

  it('says that there is no WebSocket', async () => {
    const world = await chatWorld('alice')
    const alice = keep(await liveOf(world, 'alice', { WebSocket: undefined as never }))
    alice.connect()
    await until(() => alice.connection.getSnapshot().status === 'stopped')
    expect(alice.connection.getSnapshot()).toMatchObject({
      reason: 'refused',
      error: { message: expect.stringContaining('option WebSocket') },
    })
  })

  it('says why where a WebSocket cannot be made', async () => {
    const world = await chatWorld('alice')
    const insecure = new Error('An insecure WebSocket may not be made from a secure page.')
    class Refusing {
      constructor() {
        throw insecure
      }
    }
    const alice = keep(await liveOf(world, 'alice', { WebSocket: Refusing as never }))
    alice.connect()
    await until(() => alice.connection.getSnapshot().status === 'stopped')
    expect(alice.connection.getSnapshot()).toEqual({ status: 'stopped', reason: 'refused', error: insecure })
  })

  it('whose token was deleted asks for another one once', async () => {
    const world = await chatWorld('alice')
    const tokens = [await tokenOf(world, 'alice'), await tokenOf(world, 'alice')]
    let asked = 0
    const alice = await join(world, 'alice', { authToken: async () => tokens[Math.min(asked++, 1)] ?? '' })
    dataOf(await world.delete(`/users/alice/auth_tokens/${tokens[0]}`))
    await until(() => asked === 2)
    await whenLive(alice)
    dataOf(await world.delete(`/users/alice/auth_tokens/${tokens[1]}`))
    await until(() => alice.connection.getSnapshot().status === 'stopped')
    expect(alice.connection.getSnapshot()).toMatchObject({ reason: 'loggedOut' })
    expect(asked).toBe(3)
  })

  it('whose function for tokens fails for a while asks it again', async () => {
    const world = await chatWorld('alice')
    const tokens = [await tokenOf(world, 'alice'), await tokenOf(world, 'alice')]
    let failures = 2
    const failing = async () => {
      if (failures-- > 0) throw new TypeError('Failed to fetch')
      return tokens[0] ?? ''
    }
    const alice = await join(world, 'alice', { authToken: failing })
    failures = 2
    dataOf(await world.delete(`/users/alice/auth_tokens/${tokens.shift()}`))
    await until(() => failures < 0)
    await whenLive(alice)
  })

  it('whose function for tokens says that nobody is logged in stops', async () => {
    const world = await chatWorld('alice')
    const loggedOut = new ParleyError(401, undefined)
    const alice = keep(await liveOf(world, 'alice', { authToken: () => Promise.reject(loggedOut) }))
    alice.connect()
    await until(() => alice.connection.getSnapshot().status === 'stopped')
    expect(alice.connection.getSnapshot()).toEqual({ status: 'stopped', reason: 'loggedOut', error: loggedOut })
  })

  it('that gives way to newer ones does not come back', async () => {
    const service = await startService({ SOCKETS_PER_USER: '1' })
    onEnd(() => service.parley.http.close())
    const world = await createWorld(service)
    await createUsers(world, 'alice')
    const first = await join(world, 'alice')
    const second = await join(world, 'alice')
    await until(() => first.connection.getSnapshot().status === 'stopped')
    expect(first.connection.getSnapshot()).toEqual({ status: 'stopped', reason: 'replaced' })
    first.connect()
    await whenLive(first)
    await until(() => second.connection.getSnapshot().status === 'stopped')
  })
})

describe('a user', () => {
  it('with two tabs sees the same in both', async () => {
    const world = await chatWorld('alice', 'bob')
    const [one, two] = [await join(world, 'alice'), await join(world, 'alice')]
    const [a, b] = [one.openConversation({ uid: 'bob' }), two.openConversation({ uid: 'bob' })]
    await until(() => a.getSnapshot().isLoaded && b.getSnapshot().isLoaded)
    a.send({ text: 'from one' })
    b.send({ text: 'from two' })
    await until(() => a.getSnapshot().messages.length === 2 && b.getSnapshot().messages.length === 2)
    expect(a.getSnapshot().messages.map(({ id }) => id)).toEqual(b.getSnapshot().messages.map(({ id }) => id))
    await say(world, 'bob', 'alice', 'hi')
    await until(() => one.unread.getSnapshot().messages === 1 && two.unread.getSnapshot().messages === 1)
    a.markRead()
    await until(() => two.unread.getSnapshot().messages === 0)
    await a.markUnread(a.getSnapshot().messages.at(-1)?.id ?? '')
    await until(() => one.unread.getSnapshot().messages === 1)
  })

  it('sees who types and who is there', async () => {
    const world = await chatWorld('alice', 'bob')
    await say(world, 'bob', 'alice', 'hi')
    const alice = await join(world, 'alice')
    const presence = alice.presence('bob')
    onEnd(presence.subscribe(() => {}))
    await until(() => presence.getSnapshot()?.status === 'offline')
    const bob = await join(world, 'bob')
    await until(() => presence.getSnapshot()?.status === 'available')
    const [mine, theirs] = [alice.openConversation({ uid: 'bob' }), bob.openConversation({ uid: 'alice' })]
    theirs.setTyping()
    await soon(() => expect(mine.typing.getSnapshot()).toMatchObject([{ uid: 'bob', name: 'Bob' }]))
    theirs.setTyping(false)
    await soon(() => expect(mine.typing.getSnapshot()).toEqual([]))
    bob.close()
    await until(() => presence.getSnapshot()?.status === 'offline')
  })

  for (const how of ['kicked', 'banned'] as const) {
    it(`who is ${how} sees the group no more`, async () => {
      const world = await chatWorld('alice', 'bob')
      await createGroup(world, 'team', 'alice', { participants: ['bob'] })
      await sayInGroup(world, 'alice', 'team', 'secret')
      const bob = await join(world, 'bob')
      const removed: unknown[] = []
      bob.on((event) => event.type === 'removed' && removed.push([event.action, event.peer]))
      const [list, members] = [bob.openConversation({ guid: 'team' }), bob.openMembers('team')]
      await until(() => list.getSnapshot().isLoaded && members.getSnapshot().members.length === 2)
      const path = how === 'kicked' ? '/groups/team/members/bob' : '/groups/team/bannedusers/bob'
      dataOf(await world.call(how === 'kicked' ? 'DELETE' : 'POST', path, {}, { as: 'alice' }))
      await until(() => bob.conversations.getSnapshot().conversations.length === 0)
      expect(removed).toEqual([[how, { guid: 'team' }]])
      expect(list.getSnapshot()).toMatchObject({ messages: [], error: { code: 'ERR_GROUP_NOT_JOINED' } })
      expect(bob.unread.getSnapshot()).toEqual({ messages: 0, conversations: 0 })
      await until(() => members.getSnapshot().members.length === 0)
    })
  }
})

it('who leaves a group sees it no more, on any device', async () => {
  const world = await chatWorld('alice', 'bob')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  await sayInGroup(world, 'alice', 'team', 'secret')
  const token = await tokenOf(world, 'bob')
  const [one, two] = [await join(world, 'bob', { authToken: token }), await join(world, 'bob')]
  const lists = [one, two].map((live) => live.openConversation({ guid: 'team' }))
  await until(() => lists.every((list) => list.getSnapshot().isLoaded))
  const removed: unknown[] = []
  for (const live of [one, two]) live.on((event) => event.type === 'removed' && removed.push(event.action))
  dataOf(await world.delete('/groups/team/members', undefined, { token }))
  await until(() => [one, two].every((live) => live.conversations.getSnapshot().conversations.length === 0))
  for (const list of lists) expect(list.getSnapshot()).toMatchObject({ messages: [], error: { status: 403 } })
  expect(removed).toEqual(['left', 'left'])
})

describe('many views', () => {
  it('are all loaded, also one of members that is opened while those of another group are read', async () => {
    const world = await chatWorld('alice')
    for (const guid of ['first', 'second']) await createGroup(world, guid, 'alice')
    let isAsked = false
    let isOpened = false
    const late = async (url: string, init: object) => {
      if (url.includes('/groups/first/members')) {
        isAsked = true
        await until(() => isOpened)
      }
      return fetch(url, init)
    }
    const alice = keep(await liveOf(world, 'alice', { fetch: late as never, timeout: 0 }))
    const first = alice.openMembers('first')
    alice.connect()
    await until(() => isAsked)
    const second = alice.openMembers('second')
    isOpened = true
    await until(() => first.getSnapshot().isLoaded && second.getSnapshot().isLoaded)
  })

  it('can be opened at once without a warning of Node.js', async () => {
    const world = await chatWorld('alice')
    const alice = await join(world, 'alice')
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onEnd(() => process.off('warning', onWarning))
    const guids = Array.from({ length: 30 }, (_, index) => `crowd-${index}`)
    await Promise.all(guids.map((guid) => createGroup(world, guid, 'alice')))
    const views = guids.map((guid) => alice.openMembers(guid))
    for (const view of views) onEnd(view.subscribe(() => {}))
    await until(() => views.every((view) => view.getSnapshot().members.length === 1))
    expect(warnings).toEqual([])
  })
})
