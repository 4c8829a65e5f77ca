import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** The other side of each of a user's conversations, by its name on the wire. */
async function peersOf(world: World, as: string): Promise<Record<string, Record<string, unknown>>> {
  const list = dataOf(await world.get('/conversations', { as }))
  return Object.fromEntries(
    list.map((item: { conversationId: string; conversationWith: object }) => [
      item.conversationId,
      item.conversationWith,
    ]),
  )
}

describe('the other sides in a list of conversations', () => {
  it('are written as those of single conversations are rendered, member by member', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'erin')
    await world.put('/users/bob', {
      name: 'Bob "the\\builder"',
      avatar: 'https://example.com/b.png',
      metadata: { a: 1, '@private': { secret: true } },
    })
    await world.put('/users/carol', { tags: ['vip'] })
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await world.put('/groups/team', { icon: 'https://example.com/t.png', tags: ['work'], metadata: { b: 2 } })
    for (const peer of ['alice', 'bob', 'carol', 'dave', 'erin']) await say(world, peer, 'alice', `from ${peer}`)
    await sayInGroup(world, 'bob', 'team', 'hello')
    await world.post('/users/dave/blockedusers', { blockedUids: ['alice'] })
    await world.delete('/users/erin', { permanent: true })
    await world.put('/users/bob/conversation', { tags: ['mine'] }, { as: 'alice' })

    for (const query of ['', '?withTags=true', '?withUserAndGroupTags=true']) {
      // The first asks for what is not known yet.
      for (let i = 0; i < 2; i++) {
        const list = dataOf(await world.get(`/conversations${query}`, { as: 'alice' }))
        expect(list.length).toBeGreaterThan(4)
        for (const item of list) {
          const path = `/conversations/${item.conversationId}`
          const single = dataOf(await world.get(path, { as: 'alice' }))
          const { tags, ...rest } = item
          const { tags: own, ...other } = single
          const { tags: ofPeer, ...peer } = rest.conversationWith
          const { tags: ofOther, ...expected } = other.conversationWith
          expect(JSON.stringify({ ...rest, conversationWith: peer })).toBe(
            JSON.stringify({ ...other, conversationWith: expected }),
          )
          if (query === '?withTags=true') expect(tags).toEqual(own)
        }
      }
    }
  })

  it('are as they are now, however often they were listed before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await say(world, 'bob', 'alice', 'hello')
    await say(world, 'carol', 'alice', 'hello')
    await sayInGroup(world, 'bob', 'team', 'hello')
    await peersOf(world, 'alice')

    await world.put('/users/bob', { name: 'Robert' })
    await world.put('/groups/team', { name: 'The team' })
    await world.put('/groups/team/members/alice', { scope: 'moderator' })
    await world.delete('/users/carol', { permanent: true })
    const changed = await peersOf(world, 'alice')
    expect(changed.alice_user_bob).toMatchObject({ name: 'Robert' })
    expect(changed.group_team).toMatchObject({ name: 'The team', scope: 'moderator' })
    expect(changed.alice_user_carol).toBeUndefined()
    const [last] = dataOf(await world.get('/conversations?conversationType=user', { as: 'alice' })).filter(
      ({ conversationId }: { conversationId: string }) => conversationId === 'alice_user_bob',
    )
    expect(last.lastMessage.data.entities.sender.entity.name).toBe('Robert')
  })
})
