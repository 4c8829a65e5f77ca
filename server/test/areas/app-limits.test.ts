import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const people = ['bob', 'carol', 'dave']

async function createLimited(settings: object): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', ...people)
  await set(world, settings)
  return world
}

const set = async (world: World, settings: object) =>
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, settings))

const as = { as: 'alice' }

describe('A limit of the app that is set', () => {
  it('bounds groups: their members, those of a user, and how many are added at once', async () => {
    const world = await createLimited({ maxGroupMembers: 2, maxGroupsPerUser: 2, maxMembersPerRequest: 3 })
    const added = dataOf(
      await world.post('/groups', {
        guid: 'a',
        name: 'A',
        type: 'public',
        owner: 'alice',
        members: { participants: people },
      }),
    ).members.data.participants
    expect(people.map((uid) => added[uid].success)).toEqual([true, false, false])
    expect(added.carol.error).toMatchObject({
      code: 'ERR_PLAN_QUOTA_RESTRICTION',
      devMessage: 'A group can have at most 2 members.',
    })
    expect(refusal(await world.post('/groups/a/members', {}, { as: 'carol' }))).toBe('403 ERR_NO_VACANCY')
    const four = await world.post('/groups/a/members', { participants: [...people, 'erin'] })
    expect(refusal(four)).toBe('400 ERR_BAD_REQUEST')
    expect(four.body.error.devMessage).toBe('The request names 4 users; at most 3 are allowed.')
    await createGroup(world, 'b', 'alice')
    const third = { guid: 'c', name: 'C', type: 'public', owner: 'alice' }
    expect(refusal(await world.post('/groups', third))).toBe('403 ERR_PLAN_QUOTA_RESTRICTION')
    const imported = dataOf(
      await world.post('/data_import/members', {
        members: ['carol', 'dave'].map((uid) => ({ memberId: `b_member_${uid}`, guid: 'b', uid })),
      }),
    )
    expect(imported.b_member_carol.success).toBe(true)
    expect(imported.b_member_dave.error.code).toBe('ERR_PLAN_QUOTA_RESTRICTION')
    expect(dataOf(await world.post('/data_import/groups', { groups: { c: third } })).c.error.code).toBe(
      'ERR_PLAN_QUOTA_RESTRICTION',
    )

    await set(world, { maxGroupMembers: 0, maxGroupsPerUser: 0, maxMembersPerRequest: 0 })
    await createUsers(world, ...Array.from({ length: 30 }, (_, i) => `u${i}`))
    const many = Array.from({ length: 30 }, (_, i) => `u${i}`)
    await createGroup(world, 'c', 'alice', { participants: [...people, ...many] })
    expect(dataOf(await world.get('/groups/c')).membersCount).toBe(34)
    dataOf(await world.post('/groups/a/members', {}, { as: 'carol' }))
  })

  it('bounds friends, and how many are named at once', async () => {
    const world = await createLimited({ maxFriends: 1, maxFriendsPerRequest: 2 })
    const add = (...accepted: string[]) => world.post('/users/alice/friends', { accepted })
    expect(refusal(await add(...people))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.delete('/users/alice/friends', { friends: people }))).toBe('400 ERR_BAD_REQUEST')
    const { accepted } = dataOf(await add('bob', 'carol'))
    expect(accepted.bob.success).toBe(true)
    expect(accepted.carol.error).toMatchObject({
      code: 'ERR_PLAN_QUOTA_RESTRICTION',
      devMessage: 'alice has 1 friends, the maximum.',
    })
    await set(world, { maxFriends: 0, maxFriendsPerRequest: 0 })
    const many = Array.from({ length: 30 }, (_, i) => `u${i}`)
    await createUsers(world, ...many)
    const outcomes = Object.values(
      dataOf(await add('carol', 'dave', ...many)).accepted as Record<string, { success: boolean }>,
    )
    expect(outcomes.filter(({ success }) => success)).toHaveLength(32)
  })

  it('bounds pins and saved messages, and is what front ends are told', async () => {
    const limits = {
      maxPinnedMessages: 1,
      maxSavedMessages: 2,
      maxPinnedConversations: 1,
      maxAppPinnedConversations: 3,
    }
    const world = await createLimited(limits)
    const ids: string[] = []
    for (const text of ['one', 'two', 'three', 'four']) ids.push((await say(world, 'bob', 'alice', text)).id)
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await sayInGroup(world, 'bob', 'team', 'hi')
    const pin = async (i: number) => refusal(await world.post(`/messages/${ids[i]}/pin`, undefined, as))
    const save = async (i: number) => refusal(await world.post(`/messages/${ids[i]}/save`, undefined, as))
    const keep = async (path: string) => refusal(await world.post(`${path}/conversation/pin`, undefined, as))
    const pinForAll = async (uids: string[]) =>
      refusal(await world.put('/conversations/pinned', { pinnedConversations: uids.map((uid) => ({ uid })) }))
    expect([await pin(0), await pin(0), await pin(1)]).toEqual([
      '200 undefined',
      '200 undefined',
      '400 ERR_PINNED_MESSAGES_LIMIT_EXCEEDED',
    ])
    expect([await save(0), await save(1), await save(1), await save(2)]).toEqual([
      ...Array(3).fill('200 undefined'),
      '400 ERR_SAVED_MESSAGES_LIMIT_EXCEEDED',
    ])
    expect([await keep('/users/bob'), await keep('/groups/team')]).toEqual([
      '200 undefined',
      '400 ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED',
    ])
    expect(await pinForAll(['alice', ...people])).toBe('400 ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')

    const token = await tokenOf(world, 'alice')
    const told = async (): Promise<Record<string, unknown>> =>
      dataOf(await world.get('/settings', { token })).parameters
    expect(await told()).toMatchObject({
      'features.ux.messages.pinned.limit': 1,
      'features.ux.messages.pinned.system.limit': 1,
      'features.ux.messages.saved.limit': 2,
      'features.ux.conversations.pinned.limit': 1,
      'features.ux.conversations.pinned.system.limit': 3,
    })
    const atLogin = dataOf(await world.put('/me', { platform: 'WEB' }, { token })).settings
    expect(atLogin.parameters).toEqual(await told())
    // A lower limit takes nothing away, and lets nothing in until enough is gone.
    await set(world, { maxSavedMessages: 1 })
    expect(await save(2)).toBe('400 ERR_SAVED_MESSAGES_LIMIT_EXCEEDED')
    expect(dataOf(await world.get('/messages?saved=1', as))).toHaveLength(2)

    await set(world, Object.fromEntries(Object.keys(limits).map((name) => [name, 0])))
    expect([await pin(1), await save(2), await save(3), await keep('/groups/team')]).toEqual(
      Array(4).fill('200 undefined'),
    )
    expect(await pinForAll(['alice', ...people])).toBe('200 undefined')
    expect(
      Object.entries(await told())
        .filter(([name]) => name.endsWith('limit'))
        .map(([, value]) => value),
    ).toEqual(Array(5).fill(1_000_000_000))
    expect(dataOf(await world.put('/me', {}, { token })).settings.settingsHash).not.toBe(atLogin.settingsHash)
  })
})
