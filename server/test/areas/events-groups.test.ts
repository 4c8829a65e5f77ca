import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const epoch = expect.any(Number)
const user = (uid: string) => ({
  uid,
  name: uid.charAt(0).toUpperCase() + uid.slice(1),
  status: 'offline',
  role: 'default',
  createdAt: epoch,
})
const inConversationWith = (by: string, uid: string) => ({
  ...user(uid),
  conversationId: [by, uid].sort().join('_user_'),
})
const system = { uid: 'app_system', name: 'System', status: 'offline', role: 'default', createdAt: epoch }
/** A group after a change; one that was never changed has no `updatedAt`. */
const group = (membersCount: number, extra: object = {}) => ({
  guid: 'team',
  name: 'team',
  type: 'public',
  owner: 'alice',
  membersCount,
  onlineMembersCount: 0,
  conversationId: 'group_team',
  createdAt: epoch,
  updatedAt: epoch,
  ...extra,
})

/** Alice owns the group `team`, with bob and carol in it; dave is outside. */
async function createTeam(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol', 'dave')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  return world
}

describe('a group', () => {
  it('is told when it is made, with its members and who was banned from it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const puller = await pullEvents(world)
    await createGroup(world, 'team', 'alice', { participants: ['bob'], usersToBan: ['carol'] } as object)
    const { updatedAt: _, ...made } = group(2)
    expect(await puller.told()).toEqual([
      {
        trigger: 'group_created',
        data: {
          group: { ...made, scope: 'admin', joinedAt: epoch, hasJoined: true },
          members: { alice: user('alice'), bob: user('bob') },
        },
      },
      {
        trigger: 'group_member_banned',
        data: { group: made, members: { carol: inConversationWith('app_system', 'carol') }, by: system },
      },
    ])
  })

  it('that the app makes for itself has no member who made it', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob')
    const puller = await pullEvents(world)
    dataOf(
      await world.post('/groups', { guid: 'team', name: 'team', type: 'public', members: { participants: ['bob'] } }),
    )
    const { updatedAt: _, ...made } = group(1, { owner: 'app_system' })
    expect(await puller.told()).toEqual([
      { trigger: 'group_created', data: { group: made, members: { bob: user('bob') } } },
    ])
  })

  it('is told when it is changed, not when nothing changes', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.put('/groups/team', { name: 'Crew', description: 'about' }, { as: 'alice' }))
    const changed = group(3, { name: 'Crew', description: 'about', updatedBy: 'alice' })
    expect(await puller.told()).toEqual([{ trigger: 'group_updated', data: { group: changed } }])

    dataOf(await world.put('/groups/team', { name: 'Crew' }, { as: 'alice' }))
    expect(refusal(await world.put('/groups/team', { name: 'Mine' }, { as: 'bob' }))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await world.put('/groups/nowhere', { name: 'Mine' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await puller.told()).toEqual([])
  })

  it('is told when it is deleted, as it was', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.delete('/groups/team'))
    expect(refusal(await world.delete('/groups/team'))).toBe('404 ERR_GUID_NOT_FOUND')
    const { updatedAt: _, ...gone } = group(3)
    expect(await puller.told()).toEqual([{ trigger: 'group_deleted', data: { group: gone } }])
  })

  it('is told when it passes to another owner', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.call('PATCH', '/groups/team/owner', { owner: 'bob' }, { as: 'alice' }))
    expect(await puller.told()).toEqual([
      {
        trigger: 'group_owner_transferred',
        data: { group: { ...group(3, { owner: 'bob', updatedBy: 'alice' }), oldOwner: 'alice' } },
      },
    ])
  })

  it('that passes to somebody outside gets him as a member', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.put('/groups/team', { owner: 'dave' }))
    const after = group(4, { owner: 'dave', updatedBy: 'app_system' })
    expect(await puller.told()).toEqual([
      {
        trigger: 'group_member_added',
        data: { group: after, members: { dave: inConversationWith('app_system', 'dave') }, by: system },
      },
      { trigger: 'group_owner_transferred', data: { group: { ...after, oldOwner: 'alice' } } },
    ])
  })

  it('passes on, told, when its owner is deleted for good', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.delete('/users/alice', { permanent: true }))
    expect(await puller.told()).toEqual([
      {
        trigger: 'group_owner_transferred',
        data: { group: { ...group(2, { owner: 'app_system', updatedBy: 'app_system' }), oldOwner: 'alice' } },
      },
    ])
  })
})

describe('members of a group', () => {
  it('are told when they join and leave, by nobody', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.post('/groups/team/members', {}, { as: 'dave' }))
    expect(await puller.told()).toEqual([
      { trigger: 'group_member_joined', data: { group: group(4), members: { dave: user('dave') } } },
    ])
    dataOf(await world.delete('/groups/team/members', {}, { as: 'dave' }))
    expect(refusal(await world.delete('/groups/team/members', {}, { as: 'dave' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(await puller.told()).toEqual([
      { trigger: 'group_member_left', data: { group: group(3), members: { dave: user('dave') } } },
    ])
  })

  it('are told one by one when they are added together, and those who are refused not at all', async () => {
    const world = await createTeam()
    await createUsers(world, 'erin')
    const puller = await pullEvents(world)
    dataOf(
      await world.post(
        '/groups/team/members',
        { participants: ['dave', 'bob', 'nobody'], moderators: ['erin'], usersToBan: ['carol'] },
        { as: 'alice' },
      ),
    )
    const told = (trigger: string, uid: string) => ({
      trigger,
      data: { group: group(4), members: { [uid]: inConversationWith('alice', uid) }, by: user('alice') },
    })
    const events = await puller.told()
    expect(events).toHaveLength(3)
    expect(events).toEqual(
      expect.arrayContaining([
        told('group_member_added', 'dave'),
        told('group_member_added', 'erin'),
        told('group_member_banned', 'carol'),
      ]),
    )
  })

  it('are told when they are kicked, banned and unbanned', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.delete('/groups/team/members/bob', {}, { as: 'alice' }))
    dataOf(await world.post('/groups/team/bannedusers/carol'))
    dataOf(await world.delete('/groups/team/bannedusers/carol', {}, { as: 'alice' }))
    expect(refusal(await world.delete('/groups/team/bannedusers/carol'))).toBe('400 ERR_NOT_A_BANNED_USER')
    expect(refusal(await world.delete('/groups/team/members/bob'))).toBe('400 ERR_NOT_A_MEMBER')
    expect(await puller.told()).toEqual([
      {
        trigger: 'group_member_kicked',
        data: { group: group(1), members: { bob: inConversationWith('alice', 'bob') }, by: user('alice') },
      },
      {
        trigger: 'group_member_banned',
        data: { group: group(1), members: { carol: inConversationWith('app_system', 'carol') }, by: system },
      },
      {
        trigger: 'group_member_unbanned',
        data: { group: group(1), members: { carol: inConversationWith('alice', 'carol') }, by: user('alice') },
      },
    ])
  })

  it('are told with both scopes when theirs changes, not when it is the same', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    dataOf(await world.put('/groups/team/members/bob', { scope: 'moderator' }, { as: 'alice' }))
    expect(refusal(await world.put('/groups/team/members/bob', { scope: 'moderator' }))).toBe('400 ERR_SAME_SCOPE')
    const { updatedAt: _, ...unchanged } = group(3)
    expect(await puller.told()).toEqual([
      {
        trigger: 'group_member_scope_changed',
        data: {
          group: unchanged,
          members: { bob: { ...inConversationWith('alice', 'bob'), scope: 'moderator', oldScope: 'participant' } },
          by: user('alice'),
        },
      },
    ])
  })

  it('who are deleted for good meanwhile are told as deleted users', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    const denied = await world.delete('/groups/team/members/bob', {}, { as: 'carol' })
    expect(refusal(denied)).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await world.delete('/groups/team/members/bob', {}, { as: 'alice' }))
    dataOf(await world.delete('/users/bob', { permanent: true }))
    const [kicked] = await puller.told()
    expect(kicked?.data.members).toEqual({
      bob: { uid: 'bob', name: 'Deleted user', conversationId: 'alice_user_bob' },
    })
  })

  it('that come by an import are not told', async () => {
    const world = await createTeam()
    const puller = await pullEvents(world)
    const members = [{ memberId: 'team_member_dave', guid: 'team', uid: 'dave', scope: 'participant' }]
    dataOf(await world.post('/data_import/members', { members }))
    const groups = { crew: { guid: 'crew', name: 'Crew', type: 'public', owner: 'bob' } }
    dataOf(await world.post('/data_import/groups', { groups }))
    expect(await puller.told()).toEqual([])
  })
})
