import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const uids = (answer: Answer) => dataOf(answer).map(({ uid }: { uid: string }) => uid)

async function createStaffedGroup(world: World) {
  await createUsers(world, 'alice', 'bob', 'ann', 'mike', 'mona', 'pete', 'paula', 'zoe')
  const members = { admins: ['bob', 'ann'], moderators: ['mike', 'mona'], participants: ['pete', 'paula'] }
  await createGroup(world, 'g', 'alice', members)
}

const ban = (world: World, uid: string, as?: string) =>
  world.post(`/groups/g/bannedusers/${uid}`, undefined, as === undefined ? {} : { as })
const unban = (world: World, uid: string, as?: string) =>
  world.delete(`/groups/g/bannedusers/${uid}`, undefined, as === undefined ? {} : { as })

describe('Banning', () => {
  it('ends a membership, tells the group and shuts the door until the ban is lifted', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const banned = await world.post('/groups/G/bannedusers/PETE', undefined, { as: 'mike' })
    expect(banned.body).toEqual({ data: { success: true, message: 'pete was banned from g' } })
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(6)
    expect(uids(await world.get('/groups/g/members'))).not.toContain('pete')
    expect(refusal(await world.get('/groups/g/members', { as: 'pete' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await world.get('/groups/g/messages', { as: 'pete' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await world.post('/groups/g/members', {}, { as: 'pete' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    const said = world.post('/messages', { receiver: 'g', receiverType: 'group', data: { text: 'x' } }, { as: 'pete' })
    expect(refusal(await said)).toBe('403 ERR_BANNED_GROUPMEMBER')

    const lifted = await world.delete('/groups/G/bannedusers/PETE', undefined, { as: 'bob' })
    expect(lifted.body).toEqual({ data: { success: true, message: 'pete was unbanned from g' } })
    expect(dataOf(await world.get('/groups/g', { as: 'pete' }))).toMatchObject({ hasJoined: false, membersCount: 6 })
    const history = dataOf(await world.get('/groups/g/messages'))
    expect(history).toMatchObject([
      { sender: 'mike', data: { action: 'banned', entities: { on: { entity: { uid: 'pete' } } } } },
      { sender: 'bob', data: { action: 'unbanned', entities: { on: { entity: { uid: 'pete' } } } } },
    ])
    expect(history[0].data.entities.for.entity.membersCount).toBe(6)
    expect(dataOf(await world.post('/groups/g/members', {}, { as: 'pete' })).data.action).toBe('joined')
  })

  it('also works on who is no member', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    expect((await ban(world, 'zoe', 'mike')).status).toBe(200)
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(7)
    expect(dataOf(await world.get('/groups/g', { as: 'zoe' }))).toMatchObject({ hasJoined: false, isBanned: true })
  })

  it('follows the rank of scopes', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const cases: Array<[string | undefined, string, string | undefined]> = [
      ['pete', 'paula', '403 ERR_PERMISSION_DENIED'],
      ['pete', 'mike', '403 ERR_GROUP_NO_CLEARANCE'],
      ['mike', 'bob', '403 ERR_GROUP_NO_CLEARANCE'],
      ['bob', 'alice', '403 ERR_GROUP_NO_CLEARANCE'],
      [undefined, 'alice', '403 ERR_GROUP_NO_CLEARANCE'],
      ['bob', 'bob', '403 ERR_GROUP_NO_SELF_ACTION'],
      ['zoe', 'pete', '403 ERR_GROUP_NOT_JOINED'],
      ['bob', 'ghost', '404 ERR_UID_NOT_FOUND'],
      ['bob', 'app_system', '403 ERR_PERMISSION_DENIED'],
      [undefined, 'app_system', '403 ERR_PERMISSION_DENIED'],
      ['mike', 'paula', undefined],
      ['mike', 'paula', '409 ERR_ALREADY_BANNED'],
      ['mike', 'mona', undefined],
      ['bob', 'ann', undefined],
      [undefined, 'bob', undefined],
    ]
    for (const [actor, uid, expected] of cases) {
      const answer = await ban(world, uid, actor)
      expect(answer.status === 200 ? undefined : refusal(answer), `${actor} bans ${uid}`).toBe(expected)
    }
    expect(refusal(await world.post('/groups/x/bannedusers/pete'))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('is lifted only where there is a ban, by those who may', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    expect(refusal(await unban(world, 'pete'))).toBe('400 ERR_NOT_A_BANNED_USER')
    expect(refusal(await unban(world, 'ghost'))).toBe('404 ERR_UID_NOT_FOUND')
    dataOf(await ban(world, 'zoe'))
    expect(refusal(await unban(world, 'zoe', 'pete'))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await unban(world, 'zoe', 'zoe'))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect((await unban(world, 'zoe', 'mike')).status).toBe(200)
    expect(refusal(await unban(world, 'zoe', 'mike'))).toBe('400 ERR_NOT_A_BANNED_USER')
    expect(refusal(await world.delete('/groups/x/bannedusers/zoe'))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})

describe('The list of banned users', () => {
  it('shows the newest ban first, in pages', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    for (const uid of ['pete', 'zoe', 'bob']) dataOf(await ban(world, uid))
    const answer = await world.get('/groups/G/bannedusers')
    expect(uids(answer)).toEqual(['bob', 'zoe', 'pete'])
    expect(answer.body.meta.pagination).toMatchObject({ total: 3, count: 3, per_page: 100 })
    expect(answer.body.data[0]).toMatchObject({ uid: 'bob', name: 'Bob', status: 'offline', role: 'default' })
    for (const field of ['scope', 'joinedAt', 'conversationId']) expect(answer.body.data[0]).not.toHaveProperty(field)

    const page = await world.get('/groups/g/bannedusers?perPage=2&page=2')
    expect(uids(page)).toEqual(['pete'])
    expect(page.body.meta.pagination).toEqual({
      total: 3,
      count: 1,
      per_page: 2,
      current_page: 2,
      total_pages: 2,
    })
  })

  it('is for moderators and admins, as they see these users', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    dataOf(await world.put('/users/zoe', { metadata: { '@private': 1, open: 2 } }))
    dataOf(await ban(world, 'zoe'))
    const [zoe] = dataOf(await world.get('/groups/g/bannedusers', { as: 'mike' }))
    expect(zoe).toMatchObject({ uid: 'zoe', conversationId: 'mike_user_zoe', metadata: { open: 2 } })
    expect(zoe.metadata).not.toHaveProperty('@private')
    expect(refusal(await world.get('/groups/g/bannedusers', { as: 'pete' }))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await world.get('/groups/g/bannedusers', { as: 'zoe' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await world.get('/groups/x/bannedusers'))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})
