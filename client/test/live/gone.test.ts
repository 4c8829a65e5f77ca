import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../../../server/test/support/chat.ts'
import { soon, until } from '../../../server/test/support/until.ts'
import type { Live } from '../../src/index.ts'
import { whenLive } from './support/people.ts'
import { textsOf, useRoom } from './support/room.ts'

const { join, network, world: chatWorld } = useRoom()

const none = { messages: 0, conversations: 0 }

async function twoChats() {
  const world = await chatWorld('alice', 'bob')
  await createGroup(world, 'team', 'bob', { participants: ['alice'] })
  await sayInGroup(world, 'bob', 'team', 'in the team')
  await say(world, 'bob', 'alice', 'one')
  const line = await network(world.url)
  const alice = await join(world, 'alice', { url: line.url })
  const [chat, team] = [alice.openConversation({ uid: 'bob' }), alice.openConversation({ guid: 'team' })]
  await until(() => chat.getSnapshot().isLoaded && team.getSnapshot().isLoaded)
  return {
    ...{ world, alice, chat, team },
    async gap(meanwhile: () => Promise<unknown>): Promise<void> {
      line.cut()
      await until(() => alice.connection.getSnapshot().status === 'waiting')
      await meanwhile()
      line.heal()
      await whenLive(alice)
    },
  }
}

describe('what was gone while the client was away is not shown', () => {
  it('of a conversation that was cleared on another device', async () => {
    const { world, chat, team, gap } = await twoChats()
    await gap(async () => dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' })))
    expect([textsOf(chat), textsOf(team).at(-1)]).toEqual([[], 'in the team'])
    expect(chat.getSnapshot().error).toBeUndefined()
    await say(world, 'bob', 'alice', 'two')
    await until(() => textsOf(chat).join() === 'two')
  })

  it('of a group that was deleted', async () => {
    const { world, alice, team, gap } = await twoChats()
    await gap(async () => dataOf(await world.delete('/groups/team')))
    expect(team.getSnapshot()).toMatchObject({ messages: [], error: { code: 'ERR_GUID_NOT_FOUND' } })
    expect(alice.unread.getSnapshot()).toEqual({ messages: 1, conversations: 1 })
  })

  it('of a user who was deleted for good', async () => {
    const { world, chat, gap } = await twoChats()
    await gap(async () => dataOf(await world.delete('/users/bob', { permanent: true })))
    expect(chat.getSnapshot()).toMatchObject({ messages: [], error: { code: 'ERR_UID_NOT_FOUND' } })
  })
})

describe('the unread total', () => {
  /** Alice is in a group where one message is unread. */
  async function oneUnread() {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await sayInGroup(world, 'bob', 'team', 'hello')
    const alice = await join(world, 'alice')
    expect(alice.unread.getSnapshot().messages).toBeGreaterThan(0)
    return { world, alice }
  }
  const again = async (live: Live) => {
    live.close()
    live.connect()
    await whenLive(live)
  }

  it('counts nothing of a group that the user was kicked from', async () => {
    const { world, alice } = await oneUnread()
    dataOf(await world.delete('/groups/team/members/alice', {}, { as: 'bob' }))
    await soon(() => expect(alice.unread.getSnapshot()).toEqual(none))
  })

  it('counts nothing of a group that was deleted, once it is connected again', async () => {
    const { world, alice } = await oneUnread()
    dataOf(await world.delete('/groups/team'))
    await again(alice)
    expect(alice.unread.getSnapshot()).toEqual(none)
  })

  it('is exact where another device has read a part of a conversation that is not loaded', async () => {
    const world = await chatWorld('alice', 'bob', 'carol', 'dave')
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await say(world, 'bob', 'alice', `m${n}`)).id)
    for (const uid of ['carol', 'dave']) await say(world, uid, 'alice', 'x')
    const alice = await join(world, 'alice', { pageSize: 2 })
    const shown = () => alice.conversations.getSnapshot().conversations.map(({ key }) => key)
    expect(shown()).toEqual(['user:dave', 'user:carol'])
    const read = { messageId: Number(ids[0]) }
    dataOf(await world.post('/users/bob/conversation/read', read, { as: 'alice' }))
    await soon(() => expect(alice.unread.getSnapshot()).toEqual({ messages: 6, conversations: 3 }))
    const chat = alice.openConversation({ uid: 'bob' })
    await until(() => chat.getSnapshot().isLoaded)
    chat.markRead(ids[1])
    await soon(() => expect(alice.unread.getSnapshot()).toEqual({ messages: 5, conversations: 3 }))
    expect(shown()).toEqual(['user:dave', 'user:carol'])
  })
})

it('the summary of an open conversation is there though it is not on the first page', async () => {
  const world = await chatWorld('alice', 'bob', 'carol')
  await say(world, 'bob', 'alice', 'old')
  await say(world, 'carol', 'alice', 'new')
  const line = await network(world.url)
  const alice = await join(world, 'alice', { pageSize: 1, url: line.url })
  const chat = alice.openConversation({ uid: 'bob' })
  await soon(() => expect(chat.summary.getSnapshot()).toMatchObject({ key: 'user:bob', unread: 1 }))
  line.drop()
  await until(() => alice.connection.getSnapshot().status !== 'live')
  await whenLive(alice)
  expect(chat.summary.getSnapshot()?.lastMessage?.data.text).toBe('old')
})
