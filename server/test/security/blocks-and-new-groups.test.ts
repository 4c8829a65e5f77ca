import { describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Whoever is blocked makes a group with the one who blocked them in it, and writes there. */
describe('Whoever has blocked somebody', () => {
  it('is put into no group by them, by whatever way', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob', 'mallory')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['mallory'] }))
    await createGroup(world, 'mine', 'mallory')
    const mallory = await attackerAs(world, 'mallory')
    const members = { participants: ['bob'] }
    await mallory.post('/groups', { guid: 'trap', name: 'Trap', type: 'private', members })
    await mallory.post('/groups', { guid: 'trap2', name: 'Trap', type: 'private', members, owner: 'bob' })
    await mallory.post('/groups/mine/members', members)
    await mallory.post('/groups/mine/members', { admins: ['bob'] })
    await mallory.put('/groups/mine/members', { moderators: ['bob'] })
    await mallory.put('/groups/mine/members/bob', { scope: 'admin' })
    await world.call('PATCH', '/groups/mine/owner', { owner: 'bob' }, { as: 'mallory' })
    const bob = await attackerAs(world, 'bob')
    expect(dataOf(await bob.get('/groups?hasJoined=true'))).toEqual([])
    for (const receiver of ['trap', 'trap2', 'mine']) {
      await mallory.post('/messages', { receiver, receiverType: 'group', data: { text: 'got you' } })
    }
    expect(dataOf(await bob.get('/conversations'))).toEqual([])
    expect(dataOf(await bob.get('/messages'))).toEqual([])
    const direct = await mallory.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'x' } })
    expect(refusal(direct)).toBe('403 ERR_BLOCKED_SENDER')
  })
})
