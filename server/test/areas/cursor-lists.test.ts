import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Something in every list that has a cursor: what was said, answered, reacted to, pinned and saved. */
async function createTalk(): Promise<{ world: World; id: string; bare: string }> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  const { id } = await say(world, 'bob', 'alice', 'a parent')
  await say(world, 'bob', 'alice', 'a reply', { parentId: id })
  dataOf(await world.post(`/messages/${id}/reactions/x`, {}, { as: 'bob' }))
  for (const mark of ['pin', 'save']) dataOf(await world.post(`/messages/${id}/${mark}`, {}, { as: 'alice' }))
  const inGroup = await sayInGroup(world, 'bob', 'team', 'a parent too')
  await sayInGroup(world, 'bob', 'team', 'a reply too', { parentId: inGroup.id })
  const bare = await say(world, 'alice', 'bob', 'bare')
  return { world, id, bare: bare.id }
}

/** A time before and after everything. */
const [past, future] = [1, 9_999_999_999]

const messageLists = [
  '/messages?a=1',
  '/messages?unread=1',
  '/messages?pinned=1',
  '/messages?saved=1',
  '/messages?searchKey=parent',
  '/users/bob/messages?a=1',
  '/users/bob/messages?withThreadSubscribed=true',
  '/groups/team/messages?a=1',
]
const threadLists = ['/threads?a=1', '/users/bob/threads?a=1', '/groups/team/threads?a=1']

describe('every list with a cursor', () => {
  it.each([...messageLists, ...threadLists])('%s says where to go on and how much there is, always', async (path) => {
    const { world } = await createTalk()
    const time = path.includes('threads') ? 'updatedAt' : 'sentAt'
    for (const affix of ['append', 'prepend']) {
      const page = await world.get(`${path}&affix=${affix}&limit=1`, { as: 'alice' })
      expect(page.body.data).toHaveLength(1)
      expect(page.body.meta).toMatchObject({
        cursor: { affix, id: expect.any(String), [time]: expect.any(Number) },
        pagination: { count: 1, per_page: 1 },
      })
      const over = affix === 'append' ? future : past
      const empty = await world.get(`${path}&affix=${affix}&limit=1&${time}=${over}`, { as: 'alice' })
      expect(empty.body).toEqual({
        data: [],
        meta: { current: { limit: 1, count: 0 }, cursor: { affix }, pagination: { count: 0, per_page: 1 } },
      })
    }
  })

  it.each(['thread', 'reactions'])('of one message, its %s, does so too', async (list) => {
    const { world, id, bare } = await createTalk()
    const page = await world.get(`/messages/${id}/${list}?limit=5`, { as: 'alice' })
    expect(page.body.meta).toMatchObject({
      cursor: { affix: 'append', id: expect.any(String) },
      pagination: { count: 1, per_page: 5 },
    })
    const empty = await world.get(`/messages/${bare}/${list}?limit=5`, { as: 'alice' })
    expect(empty.body).toEqual({
      data: [],
      meta: { current: { limit: 5, count: 0 }, cursor: { affix: 'append' }, pagination: { count: 0, per_page: 5 } },
    })
  })
})
