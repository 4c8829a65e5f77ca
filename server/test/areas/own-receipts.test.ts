import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

interface Shown {
  readonly id: string
  readonly readAt?: number
  readonly readByMeAt?: number
  readonly deliveredToMeAt?: number
}

const own = ({ readByMeAt, deliveredToMeAt }: Shown) =>
  [deliveredToMeAt && 'delivered', readByMeAt && 'read'].filter((what) => what !== undefined).join(' ')
const listed = async (world: World, path: string, as: string, ids: readonly string[]) => {
  const rows: Shown[] = dataOf(await world.get(path, { as }))
  return ids.map((id) => own(rows.find((row) => row.id === id) as Shown))
}

describe('deliveredToMeAt and readByMeAt', () => {
  it('tell members of a group what they have received and read themselves, in lists and by id', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const ids: string[] = []
    for (const text of ['one', 'two', 'three']) ids.push((await sayInGroup(world, 'alice', 'team', text)).id)
    await world.post('/groups/team/conversation/delivered', { messageId: ids[1] }, { as: 'bob' })
    await world.post('/groups/team/conversation/read', { messageId: ids[0] }, { as: 'bob' })
    const seen = ['delivered read', 'delivered', '']
    for (const path of ['/groups/team/messages', '/groups/team/messages?category=message', '/messages']) {
      expect(await listed(world, path, 'bob', ids), path).toEqual(seen)
      expect(await listed(world, path, 'carol', ids), path).toEqual(['', '', ''])
      expect(await listed(world, path, 'alice', ids), path).toEqual(['', '', ''])
    }
    for (const [n, id] of ids.entries()) {
      expect(own(dataOf(await world.get(`/messages/${id}`, { as: 'bob' })))).toBe(seen[n])
      const toApp = dataOf(await world.get(`/messages/${id}`))
      expect(toApp).not.toHaveProperty('readByMeAt')
      expect(toApp).not.toHaveProperty('readAt')
    }
  })

  it('are not there for who joined, or came back, after everybody else had read', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await world.delete('/users', { uidsToDeactivate: ['carol'] }))
    const { id } = await sayInGroup(world, 'alice', 'team', 'one')
    await world.post('/groups/team/conversation/read', undefined, { as: 'bob' })
    dataOf(await world.put('/users', { uidsToActivate: ['carol'] }))
    dataOf(await world.post('/groups/team/members', { participants: ['dave'] }))
    expect(await listed(world, '/groups/team/messages', 'bob', [id])).toEqual(['delivered read'])
    expect(await listed(world, '/groups/team/messages?unread=1', 'carol', [id])).toEqual([''])
    expect(await listed(world, '/groups/team/messages', 'dave', [id])).toEqual([''])
    expect(own(dataOf(await world.get(`/messages/${id}`, { as: 'carol' })))).toBe('')
  })

  it('are the receipts of one-to-one messages, for their receiver', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hello')
    expect(await listed(world, '/users/alice/messages', 'bob', [id])).toEqual([''])
    await world.post('/users/alice/conversation/read', undefined, { as: 'bob' })
    const message: Shown = dataOf(await world.get(`/messages/${id}`, { as: 'bob' }))
    expect(message.readByMeAt).toBe(message.readAt)
    expect(await listed(world, '/users/alice/messages', 'bob', [id])).toEqual(['delivered read'])
    expect(await listed(world, '/users/bob/messages', 'alice', [id])).toEqual([''])
  })
})
