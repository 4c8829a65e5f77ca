import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../../../server/test/support/chat.ts'
import { moderatedWorld, takeRulesAway } from '../../../server/test/support/review.ts'
import { tokenOf } from '../../../server/test/support/socket.ts'
import { soon, until } from '../../../server/test/support/until.ts'
import type { World } from '../../../server/test/support/world.ts'
import type { PersonOptions } from './support/people.ts'
import { useRoom } from './support/room.ts'

const { join, network, world: chatWorld } = useRoom()

describe('what was marked as read just before the client was closed', () => {
  /** A client that shows a message, and what the service has unread there. */
  async function reader(optionsIn: (world: World) => PersonOptions = () => ({})) {
    const world = await chatWorld('alice', 'bob')
    await say(world, 'bob', 'alice', 'hello')
    const line = await network(world.url)
    const alice = await join(world, 'alice', { url: line.url, ...optionsIn(world) })
    const chat = alice.openConversation({ uid: 'bob' })
    await until(() => chat.getSnapshot().isLoaded)
    const unread = async () => dataOf(await world.get('/users/bob/conversation', { as: 'alice' })).unreadMessageCount
    expect(await unread()).toBe('1')
    return { alice, chat, line, unread }
  }
  interface Init {
    readonly method?: string
    readonly signal: AbortSignal
    readonly headers: Record<string, string>
  }
  const isMark = (url: string, { method }: Init) => method === 'POST' && url.endsWith('/conversation/read')

  it('is sent', async () => {
    const { alice, chat, unread } = await reader()
    chat.markRead()
    alice.close()
    await soon(async () => expect(await unread()).toBe('0'))
  })

  it('is sent once more where it was on its way', async () => {
    let marks = 0
    const holding = async (url: string, init: Init) => {
      if (isMark(url, init) && marks++ === 0) {
        await new Promise((resolve) => init.signal.addEventListener('abort', resolve))
      }
      return fetch(url, init)
    }
    const { alice, chat, unread } = await reader(() => ({ fetch: holding as never, timeout: 0 }))
    chat.markRead()
    await until(() => marks === 1)
    // What is before it takes nothing back.
    chat.markRead('1')
    alice.close()
    await soon(async () => expect(await unread()).toBe('0'))
    expect(marks).toBe(2)
  })

  it('is sent with the next connection where there was no network', async () => {
    let failures = 0
    const failing = async (url: string, init: Init) => {
      if (!isMark(url, init) || failures++ > 0) return fetch(url, init)
      throw new TypeError('no network')
    }
    const { alice, chat, unread } = await reader(() => ({ fetch: failing as never }))
    chat.markRead()
    alice.close()
    await until(() => failures === 1)
    chat.markRead()
    alice.connect()
    await soon(async () => expect(await unread()).toBe('0'))
  })

  it('is not sent with the token of whoever has logged in since', async () => {
    const used: unknown[] = []
    let asked = 0
    const { alice, chat } = await reader((world) => ({
      authToken: () => tokenOf(world, asked++ === 0 ? 'alice' : 'bob'),
      fetch: (async (url: string, init: Init) => {
        if (!isMark(url, init)) return fetch(url, init)
        used.push(init.headers.authToken)
        return Response.json({ error: { code: 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND' } }, { status: 401 })
      }) as never,
    }))
    chat.markRead()
    alice.close()
    await until(() => used.length > 0)
    // As long as another token takes.
    await reader()
    expect(asked).toBe(1)
    expect(used).toHaveLength(1)
  })
})

it('marking as unread comes after what was marked as read before it, and before what is marked after it', async () => {
  const world = await chatWorld('alice', 'bob')
  await say(world, 'bob', 'alice', 'one')
  const { id } = await say(world, 'bob', 'alice', 'two')
  const sent: string[] = []
  const noting = async (url: string, init: { method: string }) => {
    const answer = await fetch(url, init)
    if (url.endsWith('/conversation/read')) sent.push(init.method)
    return answer
  }
  const alice = await join(world, 'alice', { fetch: noting as never })
  const chat = alice.openConversation({ uid: 'bob' })
  await until(() => chat.getSnapshot().isLoaded)
  const unread = async () => dataOf(await world.get('/users/bob/conversation', { as: 'alice' })).unreadMessageCount
  chat.markRead()
  await chat.markUnread(id)
  expect([sent, await unread()]).toEqual([['POST', 'DELETE'], '1'])
  await soon(() => expect(alice.unread.getSnapshot().messages).toBe(1))
  const marking = chat.markUnread(id)
  chat.markRead()
  await marking
  await soon(() => expect(sent).toEqual(['POST', 'DELETE', 'DELETE', 'POST']))
  expect(await unread()).toBe('0')
})

describe('what stands before an own message that is held', () => {
  takeRulesAway()

  it('can be marked as read, and is unread until then', async () => {
    const world = await moderatedWorld('alice', 'bob')
    await say(world, 'bob', 'alice', 'one')
    const alice = await join(world, 'alice')
    const chat = alice.openConversation({ uid: 'bob' })
    const unread = async () => dataOf(await world.get('/users/bob/conversation', { as: 'alice' })).unreadMessageCount
    await until(() => chat.getSnapshot().isLoaded)
    chat.send({ text: 'bad' })
    await until(() => chat.getSnapshot().messages.length === 2)
    expect([alice.unread.getSnapshot().messages, await unread()]).toEqual([1, '1'])
    chat.markRead()
    await soon(async () => expect(await unread()).toBe('0'))
    await say(world, 'bob', 'alice', 'two')
    chat.send({ text: 'bad again' })
    await until(() => chat.getSnapshot().messages.length === 4)
    // As a list does that shows it.
    chat.markRead(chat.getSnapshot().messages.at(-1)?.id)
    await soon(async () => expect([alice.unread.getSnapshot().messages, await unread()]).toEqual([0, '0']))
  })
})
