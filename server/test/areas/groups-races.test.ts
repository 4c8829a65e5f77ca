import { limits } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const setCount = statement(`
  update groups
  set members_count = $3
  where app_id = $1
  and guid = $2`)

const joinMany = statement(`
  insert into group_members (app_id, guid, uid, scope, joined_at)
  select $1, 'elsewhere-' || i, $2, 'participant', 0
  from generate_series(1, $3::int) i`)

/** Lets a group look as if it had so many members. */
async function pretendMembers(world: World, guid: string, count: number) {
  await world.context.database.query(setCount, [world.app.appId, guid, count])
}

/** How often each outcome came: `200` or status and code. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const outcomes: Record<string, number> = {}
  for (const answer of answers) {
    const outcome = answer.status === 200 ? '200' : refusal(answer)
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  return outcomes
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`)

describe('At the same instant', () => {
  it('a guid is made once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const create = () => world.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'alice' })
    const answers = await Promise.all(Array.from({ length: 12 }, create))
    expect(tally(answers)).toEqual({ 200: 1, '409 ERR_GUID_ALREADY_EXISTS': 11 })
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(1)
    expect((await sayInGroup(world, 'alice', 'g', 'one conversation')).conversationId).toBe('group_g')
  })

  it('a user joins once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice')
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => world.post('/groups/g/members', {}, { as: 'bob' })),
    )
    expect(tally(answers)).toEqual({ 200: 1, '409 ERR_ALREADY_JOINED': 9 })
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(2)
    expect(dataOf(await world.get('/groups/g/messages'))).toHaveLength(1)
  })

  it('the last places of a group are taken once', async () => {
    const world = await createWorld()
    const uids = names(10)
    await createUsers(world, 'alice', ...uids)
    await createGroup(world, 'g', 'alice')
    await pretendMembers(world, 'g', limits.membersPerGroup - 3)
    const answers = await Promise.all(uids.map((uid) => world.post('/groups/g/members', {}, { as: uid })))
    expect(tally(answers)).toEqual({ 200: 3, '403 ERR_NO_VACANCY': 7 })
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(limits.membersPerGroup)
  })

  it('the count of members keeps up with everybody who comes and goes', async () => {
    const world = await createWorld()
    const uids = names(12)
    await createUsers(world, 'alice', ...uids)
    await createGroup(world, 'g', 'alice', { participants: uids.slice(0, 6) })
    const going = uids.slice(0, 6).map((uid, i) => {
      if (i % 3 === 0) return world.delete('/groups/g/members', undefined, { as: uid })
      if (i % 3 === 1) return world.delete(`/groups/g/members/${uid}`)
      return world.post(`/groups/g/bannedusers/${uid}`)
    })
    const coming = uids.slice(6).map((uid, i) => {
      if (i % 2 === 0) return world.post('/groups/g/members', {}, { as: uid })
      return world.post('/groups/g/members', { moderators: [uid] })
    })
    const talking = names(12).map((_, i) =>
      world.post('/messages', { receiver: 'g', receiverType: 'group', data: { text: `${i}` } }, { as: 'alice' }),
    )
    const answers = await Promise.all([...going, ...coming, ...talking])
    expect(tally(answers)).toEqual({ 200: 24 })
    const members = await world.get('/groups/g/members')
    expect(members.body.meta.pagination.total).toBe(7)
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(7)
    const history = dataOf(await world.get('/groups/g/messages?limit=100'))
    const counts = history
      .filter(({ category }: { category: string }) => category === 'action')
      .map(
        ({ data }: { data: { entities: { for: { entity: { membersCount: number } } } } }) =>
          data.entities.for.entity.membersCount,
      )
    expect(counts).toHaveLength(12)
    for (const [i, count] of counts.entries()) {
      const step = count - (i === 0 ? 7 : counts[i - 1])
      expect(Math.abs(step)).toBe(1)
    }
  })

  it('a user is not in more groups than he may be', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const guids = names(6)
    for (const guid of guids) await createGroup(world, guid, 'alice')
    await world.context.database.query(joinMany, [world.app.appId, 'bob', limits.groupsPerUser - 2])
    const answers = await Promise.all(guids.map((guid) => world.post(`/groups/${guid}/members`, {}, { as: 'bob' })))
    expect(tally(answers)).toEqual({ 200: 2, '403 ERR_PLAN_QUOTA_RESTRICTION': 4 })
  })

  it('ownership is passed on while the owner leaves: the group has one owner, an admin who is a member', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    for (let round = 0; round < 8; round++) {
      const guid = `g${round}`
      await createGroup(world, guid, 'alice', { participants: ['bob', 'carol'] })
      const pass = (owner: string) => world.call('PATCH', `/groups/${guid}/owner`, { owner }, { as: 'alice' })
      const answers = await Promise.all([
        pass('bob'),
        world.delete(`/groups/${guid}/members`, undefined, { as: 'alice' }),
        world.delete(`/groups/${guid}/members`, undefined, { as: 'bob' }),
        pass('carol'),
      ])
      const outcomes = Object.keys(tally(answers))
      const possible = [
        '200',
        '403 ERR_GROUP_NO_SELF_ACTION',
        '403 ERR_GROUP_NO_CLEARANCE',
        '403 ERR_GROUP_NOT_JOINED',
        '400 ERR_NOT_A_MEMBER',
      ]
      expect(outcomes.filter((outcome) => !possible.includes(outcome))).toEqual([])
      const group = dataOf(await world.get(`/groups/${guid}`))
      const members: Array<{ uid: string; scope: string }> = dataOf(await world.get(`/groups/${guid}/members`))
      expect(members.find(({ uid }) => uid === group.owner)?.scope).toBe('admin')
      expect(group.membersCount).toBe(members.length)
    }
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('deletion and joining do not meet: nobody is a member of a group that is gone', async () => {
    const world = await createWorld()
    const uids = names(8)
    await createUsers(world, 'alice', ...uids)
    await createGroup(world, 'g', 'alice')
    const joins = uids.map((uid) => world.post('/groups/g/members', {}, { as: uid }))
    const [deleted, ...joined] = await Promise.all([world.delete('/groups/g'), ...joins])
    expect(deleted?.status).toBe(200)
    for (const outcome of Object.keys(tally(joined))) expect(['200', '404 ERR_GUID_NOT_FOUND']).toContain(outcome)
    await createGroup(world, 'g', 'alice')
    expect(dataOf(await world.get('/groups/g/members'))).toHaveLength(1)
  })

  it('who is kicked or deactivated while he is added is not counted twice', async () => {
    const world = await createWorld()
    const uids = names(8)
    await createUsers(world, 'alice', ...uids)
    await createGroup(world, 'g', 'alice')
    await Promise.all([
      ...uids.map((uid) => world.post('/groups/g/members', { participants: [uid] })),
      world.delete('/users', { uidsToDeactivate: uids.slice(0, 4) }),
    ])
    const members = await world.get('/groups/g/members')
    expect(members.body.meta.pagination.total).toBe(5)
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(5)
  })
})

describe('The limits', () => {
  it('of a group and of a user are told for each user who is added', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'g', 'alice')
    await world.context.database.query(joinMany, [world.app.appId, 'bob', limits.groupsPerUser])
    await pretendMembers(world, 'g', limits.membersPerGroup - 1)
    const data = dataOf(await world.post('/groups/g/members', { admins: ['bob', 'carol'], participants: ['dave'] }))
    expect(data.admins.bob).toMatchObject({ success: false, error: { code: 'ERR_PLAN_QUOTA_RESTRICTION' } })
    expect(data.admins.carol.success).toBe(true)
    expect(data.participants.dave).toMatchObject({ success: false, error: { code: 'ERR_PLAN_QUOTA_RESTRICTION' } })
  })

  it('also hold for the owner of a new group and for a new owner', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await world.context.database.query(joinMany, [world.app.appId, 'bob', limits.groupsPerUser])
    const made = await world.post('/groups', { guid: 'g', name: 'G', type: 'public' }, { as: 'bob' })
    expect(refusal(made)).toBe('403 ERR_PLAN_QUOTA_RESTRICTION')
    expect(refusal(await world.get('/groups/g'))).toBe('404 ERR_GUID_NOT_FOUND')
    await createGroup(world, 'g', 'alice')
    expect(refusal(await world.put('/groups/g', { owner: 'bob' }))).toBe('403 ERR_PLAN_QUOTA_RESTRICTION')
    expect(dataOf(await world.get('/groups/g')).owner).toBe('alice')
  })
})
