import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../../../server/test/support/chat.ts'
import { soon, until } from '../../../server/test/support/until.ts'
import type { Live } from '../../src/index.ts'
import { whenLive } from './support/people.ts'
import { useRoom } from './support/room.ts'

const { join, world: chatWorld } = useRoom()

const none = { messages: 0, conversations: 0 }

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
