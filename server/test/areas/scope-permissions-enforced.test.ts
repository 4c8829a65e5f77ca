import { defaultScopePermission, type GroupScope, type ScopePermissionKey } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { type Answer, createUsers, createWorld, type RequestOptions, type World } from '../support/world.ts'

const scopes: readonly GroupScope[] = ['admin', 'moderator', 'participant']
const denied = '403 ERR_PERMISSION_DENIED'

/** The member of each scope who acts; alice owns the group. */
const actors: Record<GroupScope, string> = { admin: 'bob', moderator: 'mike', participant: 'pete' }

const set = async (world: World, scope: GroupScope, permissions: object) => {
  const data = dataOf(await world.put(`/groups/g/scopes/${scope}/permissions`, { permissions }))
  for (const key of Object.keys(permissions)) expect(data[key].success, key).toBe(true)
}
const unset = async (world: World, scope: GroupScope, key: string) =>
  dataOf(await world.delete(`/groups/g/scopes/${scope}/permissions/${key}`))

/** One way to use a permission; `prepare` makes it possible again before each use, as the app. */
interface Use {
  readonly prepare?: (world: World) => Promise<unknown>
  readonly act: (world: World, actor: RequestOptions) => Promise<Answer>
}

const seat = (world: World, uid: string, scope: string) => world.post('/groups/g/members', { [scope]: [uid] })

/** Every permission whose operation is one of groups, members and bans. */
const uses: Partial<Record<ScopePermissionKey, Use>> = {
  editGroup: { act: (world, actor) => world.put('/groups/g', { name: 'New' }, actor) },
  deleteGroup: { act: (world, actor) => world.delete('/groups/g', undefined, actor) },
  leaveGroup: {
    prepare: async (world) => {
      for (const scope of scopes) await seat(world, actors[scope], `${scope}s`)
    },
    act: (world, actor) => world.delete('/groups/g/members', undefined, actor),
  },
  listMembers: { act: (world, actor) => world.get('/groups/g/members', actor) },
  addMembers: {
    prepare: (world) => world.delete('/groups/g/members/zoe'),
    act: (world, actor) => world.post('/groups/g/members', { participants: ['zoe'] }, actor),
  },
  kickMembers: {
    prepare: (world) => seat(world, 'zoe', 'participants'),
    act: (world, actor) => world.delete('/groups/g/members/zoe', undefined, actor),
  },
  listBannedUsers: { act: (world, actor) => world.get('/groups/g/bannedusers', actor) },
  ban: {
    prepare: (world) => world.delete('/groups/g/bannedusers/zoe'),
    act: (world, actor) => world.post('/groups/g/bannedusers/zoe', undefined, actor),
  },
  unban: {
    prepare: (world) => world.post('/groups/g/bannedusers/zoe'),
    act: (world, actor) => world.delete('/groups/g/bannedusers/zoe', undefined, actor),
  },
}

const createTeam = (world: World) =>
  createGroup(world, 'g', 'alice', { admins: ['bob'], moderators: ['mike'], participants: ['pete'] })

async function createWorldWithTeam(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'mike', 'pete', 'paula', 'zoe')
  await createTeam(world)
  return world
}

describe.each(Object.entries(uses) as Array<[ScopePermissionKey, Use]>)('%s', (key, { prepare, act }) => {
  it.each(scopes)('holds for the scope %s as by default, when denied, allowed and taken back', async (scope) => {
    const world = await createWorldWithTeam()
    const attempt = async () => {
      await prepare?.(world)
      const answer = await act(world, { as: actors[scope] })
      if (answer.status === 200 && key === 'deleteGroup') await createTeam(world)
      return answer.status === 200 ? 'allowed' : refusal(answer)
    }
    const byDefault = defaultScopePermission(key, scope) === 'allow' ? 'allowed' : denied
    expect(await attempt()).toBe(byDefault)
    await set(world, scope, { [key]: 'deny' })
    expect(await attempt()).toBe(denied)
    await set(world, scope, { [key]: 'allow' })
    expect(await attempt()).toBe('allowed')
    // A group made anew has no permissions set; take it back from one that has.
    await set(world, scope, { [key]: byDefault === 'allowed' ? 'deny' : 'allow' })
    await unset(world, scope, key)
    expect(await attempt()).toBe(byDefault)
  })

  it('does not bind other scopes, nor the app', async () => {
    const world = await createWorldWithTeam()
    await set(world, 'participant', { [key]: 'deny' })
    await set(world, 'admin', { [key]: 'allow' })
    await prepare?.(world)
    expect((await act(world, { as: 'bob' })).status).toBe(200)
    // Nobody but a member can leave.
    if (key === 'leaveGroup') return
    if (key === 'deleteGroup') await createTeam(world)
    await set(world, 'admin', { [key]: 'deny' })
    await prepare?.(world)
    expect((await act(world, {})).status).toBe(200)
  })
})

describe('The owner', () => {
  it('is exempt from what is denied by default, not from what is set', async () => {
    const world = await createWorldWithTeam()
    await set(world, 'admin', { deleteGroup: 'deny', editGroup: 'deny' })
    const rename = () => world.put('/groups/g', { name: 'X' }, { as: 'alice' })
    const remove = () => world.delete('/groups/g', undefined, { as: 'alice' })
    expect(refusal(await rename())).toBe(denied)
    expect(refusal(await remove())).toBe(denied)
    await unset(world, 'admin', 'editGroup')
    await unset(world, 'admin', 'deleteGroup')
    expect((await rename()).status).toBe(200)
    expect((await remove()).status).toBe(200)
  })
})

describe('allowedScopes', () => {
  it('narrows whom listMembers shows, and what it counts', async () => {
    const world = await createWorldWithTeam()
    const shown = async (query = '') => {
      const answer = await world.get(`/groups/g/members${query}`, { as: 'pete' })
      expect(answer.body.meta.pagination.total).toBe(answer.body.data.length)
      return dataOf(answer).map(({ uid }: { uid: string }) => uid)
    }
    expect(await shown()).toEqual(['alice', 'bob', 'mike', 'pete'])
    await set(world, 'participant', { 'listMembers.allowedScopes': 'moderator,participant' })
    expect(await shown()).toEqual(['mike', 'pete'])
    expect(await shown('?scopes=moderator,admin')).toEqual(['mike'])
    await set(world, 'participant', { 'listMembers.allowedScopes': ['admin'] })
    expect(await shown()).toEqual(['alice', 'bob'])
    await set(world, 'participant', { 'listMembers.allowedScopes': [] })
    expect(await shown()).toHaveLength(4)
    await set(world, 'participant', { 'listMembers.allowedScopes': 'admin' })
    await unset(world, 'participant', 'listMembers.allowedScopes')
    expect(await shown()).toHaveLength(4)
  })

  it('narrows which scopes addMembers gives, user by user', async () => {
    const world = await createWorldWithTeam()
    await set(world, 'moderator', { addMembers: 'allow', 'addMembers.allowedScopes': ['participant'] })
    const lists = { admins: ['zoe'], moderators: ['paula'] }
    const refused = dataOf(await world.post('/groups/g/members', lists, { as: 'mike' }))
    expect(refused.admins.zoe.error.code).toBe('ERR_GROUP_NO_SCOPE_CLEARANCE')
    expect(refused.moderators.paula.error.code).toBe('ERR_PERMISSION_DENIED')
    const added = dataOf(await world.post('/groups/g/members', { participants: ['zoe'] }, { as: 'mike' }))
    expect(added.participants.zoe.success).toBe(true)
    await unset(world, 'moderator', 'addMembers.allowedScopes')
    const free = dataOf(await world.post('/groups/g/members', { moderators: ['paula'] }, { as: 'mike' }))
    expect(free.moderators.paula.success).toBe(true)
  })

  it('narrows whom kickMembers touches', async () => {
    const world = await createWorldWithTeam()
    await set(world, 'admin', { 'kickMembers.allowedScopes': 'participant' })
    const kick = (uid: string) => world.delete(`/groups/g/members/${uid}`, undefined, { as: 'bob' })
    expect(refusal(await kick('mike'))).toBe(denied)
    expect((await kick('pete')).status).toBe(200)
    await unset(world, 'admin', 'kickMembers.allowedScopes')
    expect((await kick('mike')).status).toBe(200)
  })

  it('narrows which members ban touches, in both ways to ban; who is no member can be banned', async () => {
    const world = await createWorldWithTeam()
    await set(world, 'admin', { 'ban.allowedScopes': ['participant'] })
    const ban = (uid: string) => world.post(`/groups/g/bannedusers/${uid}`, undefined, { as: 'bob' })
    expect(refusal(await ban('mike'))).toBe(denied)
    const listed = dataOf(await world.post('/groups/g/members', { usersToBan: ['mike', 'pete'] }, { as: 'bob' }))
    expect(listed.usersToBan.mike.error.code).toBe('ERR_PERMISSION_DENIED')
    expect(listed.usersToBan.pete).toEqual({ success: true })
    expect((await ban('zoe')).status).toBe(200)
    await unset(world, 'admin', 'ban.allowedScopes')
    expect((await ban('mike')).status).toBe(200)
  })
})

describe('Adding and banning in one request', () => {
  it('is refused as a whole when one of the two is denied altogether', async () => {
    const world = await createWorldWithTeam()
    const lists = { participants: ['zoe'], usersToBan: ['paula'] }
    expect(refusal(await world.post('/groups/g/members', lists, { as: 'mike' }))).toBe(denied)
    const bans = await world.post('/groups/g/members', { usersToBan: ['paula'] }, { as: 'mike' })
    expect(dataOf(bans).usersToBan.paula.success).toBe(true)
    await set(world, 'admin', { ban: 'deny' })
    expect(refusal(await world.post('/groups/g/members', lists, { as: 'bob' }))).toBe(denied)
    expect(refusal(await world.get('/groups/g/members', { as: 'zoe' }))).toBe('403 ERR_GROUP_NOT_JOINED')
  })
})

describe('Sending', () => {
  it('is denied at once, and allowed at once when it is taken back, also in a group made anew', async () => {
    const world = await createWorldWithTeam()
    const send = async () => {
      const message = { receiver: 'g', receiverType: 'group', data: { text: 'x' } }
      const answer = await world.post('/messages', message, { as: 'pete' })
      return answer.status === 200 ? 'allowed' : refusal(answer)
    }
    expect(await send()).toBe('allowed')
    await set(world, 'participant', { sendMessage: 'deny' })
    expect(await send()).toBe(denied)
    await unset(world, 'participant', 'sendMessage')
    expect(await send()).toBe('allowed')

    // What was remembered of the old group must not be taken for the new one's.
    await set(world, 'participant', { sendMessage: 'deny' })
    expect(await send()).toBe(denied)
    dataOf(await world.delete('/groups/g'))
    await createTeam(world)
    await set(world, 'moderator', { sendMessage: 'deny' })
    expect(await send()).toBe('allowed')
  })
})
