import { describe, expect, it } from 'vitest'
import { statement } from '../../../server/src/store/statement.ts'
import { createGroup, dataOf, say, sayInGroup } from '../../../server/test/support/chat.ts'
import { until } from '../../../server/test/support/until.ts'
import type { World } from '../../../server/test/support/world.ts'
import type { Live, LiveEvent, MessageList } from '../../src/index.ts'
import { createFeed } from '../../src/live/feed.ts'
import type { Port } from '../../src/live/port.ts'
import { whenLive } from './support/people.ts'
import { textsOf, useRoom } from './support/room.ts'

const { join, network, world: chatWorld } = useRoom()

/** Alice is in a group and in talk with bob, both are on her screen, and what she asks the service for is noted. */
async function createGap(options: object = {}) {
  const world = await chatWorld('alice', 'bob', 'carol')
  await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
  const mine = await say(world, 'alice', 'bob', 'mine')
  const theirs = await say(world, 'bob', 'alice', 'theirs')
  const inTeam = await sayInGroup(world, 'bob', 'team', 'in the team')
  const line = await network(world.url)
  const asked: string[] = []
  const before: { asking?: (path: string) => Promise<unknown> | undefined } = {}
  const alice = await join(world, 'alice', {
    url: line.url,
    fetch: async (url: string, init: object) => {
      const path = new URL(url).pathname
      asked.push(path)
      await before.asking?.(path)
      return fetch(url, init)
    },
    ...options,
  } as object)
  const [chat, team] = [alice.openConversation({ uid: 'bob' }), alice.openConversation({ guid: 'team' })]
  await until(() => chat.getSnapshot().isLoaded && team.getSnapshot().isLoaded)
  const events: LiveEvent[] = []
  alice.on((event) => events.push(event))
  return {
    ...{ world, alice, chat, team, mine, theirs, inTeam, events, asked, before, line },
    /** Messages of which lists were read since the connection was cut. */
    lists: () => asked.filter((path) => path.endsWith('/messages') && path !== '/v3/messages'),
    async gap(meanwhile: () => Promise<unknown>): Promise<void> {
      line.cut()
      await until(() => alice.connection.getSnapshot().status === 'waiting')
      asked.length = 0
      await meanwhile()
      line.heal()
      await whenLive(alice)
    },
  }
}

const of = (list: MessageList, id: string) => list.getSnapshot().messages.find((message) => message.id === id)

/** Everything that a socket would have been sent so far is of no use any more. */
async function forgetEvents(world: World): Promise<void> {
  const { after } = (await world.get('/me/events', { as: 'alice' })).body.meta
  const forget = statement('update apps set events_gone_until = $2 where app_id = $1')
  await world.context.database.query(forget, [world.app.appId, Number(after)])
}

async function unreadOf(world: World): Promise<unknown> {
  const counts: Array<{ count: number }> = dataOf(await world.get('/messages?unread=1&count=1', { as: 'alice' }))
  return { messages: counts.reduce((sum, { count }) => sum + count, 0), conversations: counts.length }
}
const shownUnread = (live: Live) => live.unread.getSnapshot()

describe('after a gap', () => {
  let isGap = false
  let isDone = false

  it('messages, edits, reactions, receipts, pins and saves are shown, and no list of messages was read', async () => {
    const { world, alice, chat, team, mine, theirs, inTeam, lists, gap, events } = await createGap()
    const bob = { as: 'bob' }
    await gap(async () => {
      dataOf(await world.post('/users/alice/conversation/read', { messageId: Number(mine.id) }, bob))
      dataOf(await world.put(`/messages/${theirs.id}`, { data: { text: 'theirs, edited' } }, bob))
      for (const name of ['bob', 'carol']) {
        dataOf(await world.post(`/messages/${inTeam.id}/reactions/x`, {}, { as: name }))
      }
      dataOf(await world.post(`/messages/${inTeam.id}/pin`, {}, bob))
      dataOf(await world.post(`/messages/${theirs.id}/save`, {}, { as: 'alice' }))
      await say(world, 'bob', 'alice', 'new')
    })
    expect(lists()).toEqual([])
    expect(textsOf(chat)).toEqual(['mine', 'theirs, edited', 'new'])
    expect(of(chat, mine.id)).toMatchObject({ readAt: expect.any(Number) })
    expect(of(chat, theirs.id)).toMatchObject({ editedBy: 'bob', savedAt: expect.any(Number) })
    expect(of(team, inTeam.id)).toMatchObject({ pinnedBy: 'bob', reactions: [{ reaction: 'x', count: 2 }] })
    expect(shownUnread(alice)).toEqual(await unreadOf(world))
    expect(events).toMatchObject([{ type: 'message', isMissed: true, message: { data: { text: 'new' } } }])
  })

  it('what was removed for good, and those who went, are gone', async () => {
    const { world, alice, chat, team, theirs, inTeam, lists, gap } = await createGap()
    const members = alice.openMembers('team')
    await until(() => members.getSnapshot().members.length === 3)
    await gap(async () => {
      dataOf(await world.delete(`/messages/${theirs.id}`, { permanent: true }, { as: 'bob' }))
      dataOf(await world.delete(`/messages/${inTeam.id}`, {}, { as: 'bob' }))
      dataOf(await world.delete('/groups/team/members/carol', {}, { as: 'bob' }))
    })
    expect(lists()).toEqual([])
    expect(of(chat, theirs.id)).toBeUndefined()
    expect(of(team, inTeam.id)).toMatchObject({ deletedBy: 'bob' })
    expect(members.getSnapshot().members.map(({ uid }) => uid)).not.toContain('carol')
    expect(shownUnread(alice)).toEqual(await unreadOf(world))
    const there = dataOf(await world.get('/users/bob/conversation', { as: 'alice' }))
    const shown = alice.conversations.getSnapshot().conversations.find(({ key }) => key === 'user:bob')
    expect(shown?.lastMessage?.id).toEqual(there.lastMessage?.id)
  })

  it('a group that the user was removed from is not shown, and one that they were added to is', async () => {
    const { world, alice, team, gap, events } = await createGap()
    await gap(async () => {
      dataOf(await world.delete('/groups/team/members/alice', {}, { as: 'bob' }))
      await createGroup(world, 'other', 'bob', { participants: ['alice'] })
      await sayInGroup(world, 'bob', 'other', 'welcome')
    })
    expect(team.getSnapshot()).toMatchObject({ messages: [], error: { code: 'ERR_GROUP_NOT_JOINED' } })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'removed', action: 'kicked', peer: { guid: 'team' } }),
    )
    const keys = () => alice.conversations.getSnapshot().conversations.map(({ key }) => key)
    expect(keys()).toEqual(['group:other', 'user:bob'])
  })

  it('a mark as unread and a pinned conversation, which no feed has, are shown', async () => {
    const { world, alice, chat, theirs, gap } = await createGap()
    chat.markRead()
    await until(async () => ((await unreadOf(world)) as { messages: number }).messages === 1)
    await gap(async () => {
      const as = { as: 'alice' }
      dataOf(await world.delete('/users/bob/conversation/read', { messageId: Number(theirs.id) }, as))
      dataOf(await world.post('/users/bob/conversation/pin', {}, as))
    })
    expect(shownUnread(alice)).toEqual(await unreadOf(world))
    expect(alice.conversations.getSnapshot().conversations[0]).toMatchObject({
      key: 'user:bob',
      unread: 1,
      isPinned: true,
    })
  })

  it('of which too much is in the feed, lists are read', async () => {
    const { world, chat, lists, gap } = await createGap({ pageSize: 5 })
    const many = Array.from({ length: 310 }, (_, n) => `m${n}`)
    await gap(async () => {
      for (let at = 0; at < many.length; at += 31) {
        await Promise.all(many.slice(at, at + 31).map((text) => say(world, 'bob', 'alice', text)))
      }
    })
    expect(lists()).toContain('/v3/users/bob/messages')
    const listed: Array<{ id: string }> = dataOf(
      await world.get('/users/bob/messages?affix=prepend&limit=5', { as: 'alice' }),
    )
    expect(
      chat
        .getSnapshot()
        .messages.slice(-5)
        .map(({ id }) => id),
    ).toEqual(listed.map(({ id }) => id))
  })

  it('in which many of the messages on screen changed, their list is read instead of each', async () => {
    const { world, chat, gap, asked } = await createGap()
    const ids: string[] = []
    for (let n = 0; n < 12; n++) ids.push((await say(world, 'alice', 'bob', `m${n}`)).id)
    await until(() => chat.getSnapshot().messages.length === 14)
    await gap(async () => {
      for (const id of ids) dataOf(await world.post(`/messages/${id}/reactions/x`, {}, { as: 'bob' }))
    })
    expect(ids.map((id) => of(chat, id)?.reactions?.[0]?.count)).toEqual(ids.map(() => 1))
    expect(asked.filter((path) => /messages\/\d+$/.test(path))).toEqual([])
  })

  for (const how of ['reads', 'answers'] as const) {
    it(`whoever ${how} while the conversations are read has nothing unread`, async () => {
      const { world, alice, chat, gap } = await createGap({
        fetch: async (url: string, init: { method?: string }) => {
          const answer = await fetch(url, init)
          if (init.method === 'POST') isDone = true
          if (isGap && url.includes('/v3/conversations?')) {
            isGap = false
            if (how === 'reads') chat.markRead()
            else chat.send({ text: 'answer' })
            await until(() => isDone && (how === 'reads' || textsOf(chat).includes('answer')))
            await new Promise((resolve) => setTimeout(resolve, 50))
          }
          return answer
        },
      })
      isDone = false
      await gap(async () => {
        await say(world, 'bob', 'alice', 'unread')
        isGap = true
      })
      const unread = () => alice.conversations.getSnapshot().conversations.find(({ key }) => key === 'user:bob')?.unread
      await until(() => unread() === 0)
      expect(shownUnread(alice)).toEqual(await unreadOf(world))
    })
  }

  it('what was being read when the connection broke again is read by the next one', async () => {
    const { world, alice, gap, before, line } = await createGap()
    await say(world, 'carol', 'alice', 'of carol')
    const members = alice.openMembers('team')
    await until(() => members.getSnapshot().isLoaded)
    const shown: number[] = []
    members.subscribe(() => shown.push(members.getSnapshot().members.length))
    const broken = new Set<string>()
    before.asking = async (path) => {
      if (broken.has(path) || !/carol\/messages|members/.test(path)) return
      broken.add(path)
      const { connection } = alice
      // The next connection may be there before one looks.
      const broke = new Promise<void>((resolve) => {
        const end = connection.subscribe(() => {
          end()
          resolve()
        })
      })
      line.drop()
      await broke
    }
    const opened: MessageList[] = []
    await gap(async () => opened.push(alice.openConversation({ uid: 'carol' })))
    expect([...broken]).toEqual(['/v3/users/carol/messages', '/v3/groups/team/members'])
    expect(opened.map(textsOf)).toEqual([['of carol']])
    expect(opened[0]?.getSnapshot().error).toBeUndefined()
    expect(shown).not.toContain(0)
  })
})

describe('a place in the feed', () => {
  it('that is too old makes the store read everything again', async () => {
    const { world, alice, chat, team, mine, inTeam, lists, gap } = await createGap()
    await gap(async () => {
      dataOf(await world.post('/users/alice/conversation/read', { messageId: Number(mine.id) }, { as: 'bob' }))
      dataOf(await world.post(`/messages/${inTeam.id}/reactions/x`, {}, { as: 'bob' }))
      dataOf(await world.delete(`/messages/${mine.id}`, { permanent: true }, { as: 'alice' }))
      await say(world, 'bob', 'alice', 'forgotten')
      await forgetEvents(world)
    })
    expect(new Set(lists())).toEqual(new Set(['/v3/users/bob/messages', '/v3/groups/team/messages']))
    expect(textsOf(chat)).toEqual(['theirs', 'forgotten'])
    expect(of(team, inTeam.id)).toMatchObject({ reactions: [{ reaction: 'x', count: 1 }] })
    expect(shownUnread(alice)).toEqual(await unreadOf(world))
  })

  /** A feed at its first place, asked five minutes later by a pong for a newer one. */
  async function moving() {
    let at = 0
    let newest = 'first'
    const asked: Array<{ readonly after?: string }> = []
    const call = async (_method: string, _path: string, { query = {} }: { query?: object } = {}) => {
      asked.push(query)
      return { data: [], meta: { after: newest, more: false } }
    }
    const feed = createFeed({ call: call as Port['call'] }, () => at)
    const { signal } = new AbortController()
    await feed.read(signal)
    feed.keep()
    at = 299_000
    feed.onPong(at, signal)
    expect(asked).toHaveLength(1)
    newest = 'second'
    at = 301_000
    feed.onPong(at, signal)
    await until(() => asked.length === 2)
    return {
      ...{ feed, signal, at },
      async nextAfter(): Promise<string | undefined> {
        await feed.read(new AbortController().signal)
        return asked.at(-1)?.after
      },
    }
  }

  it('moves on while the connection lives, once what came before has surely come', async () => {
    const { feed, signal, at, nextAfter } = await moving()
    feed.onPong(at + 11_000, signal)
    expect(await nextAfter()).toBe('second')
  })

  it('stays while a frame may still be on its way', async () => {
    const { feed, signal, at, nextAfter } = await moving()
    feed.onPong(at + 9_000, signal)
    expect(await nextAfter()).toBe('first')
  })

  it('stays where another socket answers than the one that it was moved for', async () => {
    const { feed, at, nextAfter } = await moving()
    feed.onPong(at + 11_000, new AbortController().signal)
    expect(await nextAfter()).toBe('first')
  })
})
