import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say } from '../support/chat.ts'
import { connect, eventually } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const block = async (world: World, blocker: string, blocked: string) =>
  dataOf(await world.post(`/users/${blocker}/blockedusers`, { blockedUids: [blocked] }))
const createTeam = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice')
  return world
}
const outcome = ({ success, error }: { success: boolean; error?: { code: string } }) =>
  success ? 'added' : error?.code
const add = async (world: World, uid: string, as?: string) =>
  outcome(
    dataOf(await world.post('/groups/team/members', { participants: [uid] }, as === undefined ? {} : { as }))
      .participants[uid],
  )
const createWith = async (world: World, uid: string, as: string) => {
  const group = { guid: 'new', name: 'New', type: 'private', members: { participants: [uid] } }
  return outcome(dataOf(await world.post('/groups', group, { as })).members.data.participants[uid])
}

describe('who has blocked somebody', () => {
  it('is not put into a group by them: not a new one, not another', async () => {
    const world = await createTeam()
    await block(world, 'bob', 'alice')
    expect(await add(world, 'bob', 'alice')).toBe('ERR_BLOCKED_SENDER')
    expect(await createWith(world, 'bob', 'alice')).toBe('ERR_BLOCKED_SENDER')
    expect(dataOf(await world.get('/groups/new')).membersCount).toBe(1)
    const put = await world.put('/groups/team/members', { admins: ['bob', 'carol'] }, { as: 'alice' })
    expect(outcome(dataOf(put).admins.bob)).toBe('ERR_BLOCKED_SENDER')
    expect(outcome(dataOf(put).admins.carol)).toBe('added')
  })

  it('is not made the owner by them', async () => {
    const world = await createTeam()
    await world.post('/groups/team/members', { participants: ['bob'] })
    await block(world, 'bob', 'alice')
    const answer = await world.call('PATCH', '/groups/team/owner', { owner: 'bob' }, { as: 'alice' })
    expect(refusal(answer)).toBe('403 ERR_BLOCKED_SENDER')
    expect(dataOf(await world.get('/groups/team')).owner).toBe('alice')
  })

  it('is added by the app, and by whom they have not blocked', async () => {
    const world = await createTeam()
    await block(world, 'alice', 'bob')
    expect(await add(world, 'bob', 'alice')).toBe('added')
    await block(world, 'carol', 'alice')
    expect(await add(world, 'carol')).toBe('added')
  })

  it('looks away to them over REST, online or not', async () => {
    const world = await createTeam()
    await say(world, 'alice', 'bob', 'hello')
    await world.post('/groups/team/members', { participants: ['bob'] })
    const bob = await connect(world, 'bob')
    const status = async () => dataOf(await world.get('/users/bob', { as: 'alice' })).status
    await eventually(status, (shown) => shown === 'available')
    await block(world, 'bob', 'alice')
    const [conversation] = dataOf(await world.get('/conversations?conversationType=user', { as: 'alice' }))
    const seen = [
      dataOf(await world.get('/users/bob', { as: 'alice' })),
      dataOf(await world.get('/users', { as: 'alice' })).find(({ uid }: { uid: string }) => uid === 'bob'),
      dataOf(await world.get('/groups/team/members', { as: 'alice' })).find(
        ({ uid }: { uid: string }) => uid === 'bob',
      ),
      conversation.conversationWith,
    ]
    for (const user of seen) {
      expect(user).toMatchObject({ uid: 'bob', status: 'offline' })
      for (const hidden of ['lastActiveAt', 'hasBlockedMe', 'blockedAt']) expect(user).not.toHaveProperty(hidden)
    }
    expect(dataOf(await world.get('/users/bob', { as: 'carol' })).status).toBe('available')
    bob.close()
  })
})

describe('the setting addMembers', () => {
  it.each([
    ['everybody', 'added', 'added'],
    ['friends', 'added', 'ERR_PERMISSION_DENIED'],
    ['nobody', 'ERR_PERMISSION_DENIED', 'ERR_PERMISSION_DENIED'],
  ])('%s: a friend is %s, a stranger %s; the app always may', async (addMembers, friend, stranger) => {
    const world = await createTeam()
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { addMembers }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    expect(await createWith(world, 'bob', 'alice')).toBe(friend)
    expect(await add(world, 'bob', 'alice')).toBe(friend)
    expect(await add(world, 'carol', 'alice')).toBe(stranger)
    if (stranger !== 'added') expect(await add(world, 'carol')).toBe('added')
  })
})

describe('the system user', () => {
  it('is a member of no group, and keeps its name', async () => {
    const world = await createTeam()
    expect(await add(world, 'app_system')).toBe('ERR_PERMISSION_DENIED')
    expect(await add(world, 'app_system', 'alice')).toBe('ERR_PERMISSION_DENIED')
    const record = { memberId: 'team_member_app_system', guid: 'team', uid: 'app_system', scope: 'participant' }
    const imported = dataOf(await world.post('/data_import/members', { members: [record] }))
    expect(imported.team_member_app_system.error.code).toBe('ERR_PERMISSION_DENIED')
    expect(dataOf(await world.get('/groups/team')).membersCount).toBe(1)
    expect(refusal(await world.put('/users/app_system', { name: 'Boss' }))).toBe('403 ERR_PERMISSION_DENIED')
    expect(dataOf(await world.put('/users/app_system', { tags: ['x'] })).name).toBe('System')
  })
})
