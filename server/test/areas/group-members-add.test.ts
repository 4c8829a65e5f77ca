import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const add = (world: World, body: unknown, as?: string) =>
  world.post('/groups/g/members', body, as === undefined ? {} : { as })

const now = () => Math.floor(Date.now() / 1000)

/** uid and scope of each member, as listed. */
async function scopes(world: World): Promise<Record<string, string>> {
  const members = dataOf(await world.get('/groups/g/members'))
  return Object.fromEntries(members.map(({ uid, scope }: { uid: string; scope: string }) => [uid, scope]))
}

describe('Adding members', () => {
  it('answers the action message of each, with the count growing from admins to participants', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'eve', 'frank')
    await createGroup(world, 'g', 'alice')
    const answer = await add(world, {
      usersToBan: ['frank'],
      participants: ['dave', 'eve'],
      moderators: ['carol'],
      admins: ['Bob'],
    })
    const { admins, moderators, participants, usersToBan } = dataOf(answer)
    expect(admins.bob).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^[0-9]+$/),
        conversationId: 'group_g',
        sender: 'app_system',
        receiverType: 'group',
        receiver: 'g',
        category: 'action',
        type: 'groupMember',
        data: {
          action: 'added',
          entities: {
            by: { entity: expect.objectContaining({ uid: 'app_system', name: 'System' }), entityType: 'user' },
            on: { entity: expect.objectContaining({ uid: 'bob', name: 'Bob' }), entityType: 'user' },
            for: {
              entity: expect.objectContaining({ guid: 'g', membersCount: 2, conversationId: 'group_g' }),
              entityType: 'group',
            },
          },
        },
        sentAt: expect.any(Number),
        updatedAt: expect.any(Number),
      },
    })
    const counts = [admins.bob, moderators.carol, participants.dave, participants.eve].map(
      ({ data }) => data.data.entities.for.entity.membersCount,
    )
    expect(counts).toEqual([2, 3, 4, 5])
    expect(usersToBan).toEqual({ frank: { success: true } })

    const history = dataOf(await world.get('/groups/g/messages'))
    expect(history.map(({ data }: { data: { action: string } }) => data.action)).toEqual(Array(4).fill('added'))
    expect(history[3]).toEqual(participants.eve.data)
    expect(await scopes(world)).toEqual({
      alice: 'admin',
      bob: 'admin',
      carol: 'moderator',
      dave: 'participant',
      eve: 'participant',
    })
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(5)
    expect(dataOf(await world.get('/groups/g/bannedusers'))).toMatchObject([{ uid: 'frank' }])
  })

  it('names the acting user as the one who added', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice')
    const { data } = dataOf(await add(world, { participants: ['bob'] }, 'alice')).participants.bob
    expect(data.sender).toBe('alice')
    expect(data.data.entities.by.entity.uid).toBe('alice')
  })

  it('answers under the keys of the request only', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice')
    expect(Object.keys(dataOf(await add(world, { moderators: ['bob'] })))).toEqual(['moderators'])
  })

  it('gives who is in several lists the highest scope, and does not ban him', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'g', 'alice')
    const lists = { participants: ['bob', 'carol'], moderators: ['BOB'], admins: ['bob'], usersToBan: ['carol', 'bob'] }
    const data = dataOf(await add(world, lists))
    expect(Object.keys(data.admins)).toEqual(['bob'])
    expect(data.moderators).toEqual({})
    expect(Object.keys(data.participants)).toEqual(['carol'])
    expect(data.usersToBan).toEqual({})
    expect(await scopes(world)).toEqual({ alice: 'admin', bob: 'admin', carol: 'participant' })
    expect(dataOf(await world.get('/groups/g/bannedusers'))).toEqual([])
  })

  it('refuses each user by himself and goes on with the others', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'gone', 'eve')
    await createGroup(world, 'g', 'alice', { participants: ['bob'] })
    dataOf(await add(world, { usersToBan: ['eve'] }))
    dataOf(await world.delete('/users', { uidsToDeactivate: ['gone'] }))
    const data = dataOf(
      await add(world, {
        admins: ['bob'],
        participants: ['ghost', 'gone', 'not an id', 'eve', 'carol'],
        usersToBan: ['ghost2', 'alice', 'dave'],
      }),
    )
    const codes = (outcomes: Record<string, { success: boolean; error?: { code: string } }>) =>
      Object.fromEntries(
        Object.entries(outcomes).map(([uid, outcome]) => [uid, outcome.error?.code ?? outcome.success]),
      )
    expect(codes(data.admins)).toEqual({ bob: 'ERR_ALREADY_JOINED' })
    expect(codes(data.participants)).toEqual({
      ghost: 'ERR_UID_NOT_FOUND',
      gone: 'ERR_UID_NOT_FOUND',
      'not an id': 'ERR_UID_NOT_FOUND',
      eve: 'ERR_BANNED_GROUPMEMBER',
      carol: true,
    })
    expect(codes(data.usersToBan)).toEqual({
      ghost2: 'ERR_UID_NOT_FOUND',
      alice: 'ERR_GROUP_NO_CLEARANCE',
      dave: true,
    })
    expect(data.participants.ghost.error).toEqual({
      code: 'ERR_UID_NOT_FOUND',
      message: expect.any(String),
      devMessage: expect.stringContaining('ghost'),
    })
    expect(dataOf(await add(world, { usersToBan: ['eve'] })).usersToBan.eve.error.code).toBe('ERR_ALREADY_BANNED')
    expect(Object.keys(await scopes(world))).toEqual(['alice', 'bob', 'carol'])
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(3)
  })

  it('answers for a uid that means something in JavaScript', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', '__proto__', 'constructor')
    await createGroup(world, 'g', 'alice')
    const data = dataOf(await add(world, { participants: ['__proto__', 'constructor', 'toString'] }))
    expect(Object.keys(data.participants).sort()).toEqual(['__proto__', 'constructor', 'tostring'])
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(3)
  })

  it('throws a member out who is among usersToBan', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice', { moderators: ['bob'] })
    expect(dataOf(await add(world, { usersToBan: ['bob'] }, 'alice'))).toEqual({
      usersToBan: { bob: { success: true } },
    })
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(1)
    expect(refusal(await world.get('/groups/g/messages', { as: 'bob' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(dataOf(await world.get('/groups/g/messages'))).toEqual([])
  })

  it('takes at most 25 users in all lists together, and no empty list', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    await createGroup(world, 'g', 'alice')
    const uids = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`)
    const tooMany = await add(world, { admins: uids(20), usersToBan: uids(6) })
    expect(refusal(tooMany)).toBe('400 ERR_BAD_REQUEST')
    expect(tooMany.body.error.devMessage).toContain('25')
    expect(Object.keys(dataOf(await add(world, { admins: uids(25) })).admins)).toHaveLength(25)
    for (const [body, path] of [
      [{ admins: [] }, 'body/admins'],
      [{ participants: ['alice'], usersToBan: [] }, 'body/usersToBan'],
      [{ participants: 'alice' }, 'body/participants'],
      [{ participants: [7] }, 'body/participants/0'],
      [{}, 'body'],
      [undefined, 'body'],
    ] as const) {
      const answer = await add(world, body)
      expect(refusal(answer), JSON.stringify(body)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
  })

  it('is refused to who is no member, to an unknown actor and in an unknown group', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'eve')
    await createGroup(world, 'g', 'alice')
    await createGroup(world, 'p', 'alice', {}, { type: 'private' })
    dataOf(await add(world, { usersToBan: ['eve'] }))
    const body = { participants: ['bob'] }
    expect(refusal(await add(world, body, 'bob'))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await add(world, body, 'eve'))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await add(world, body, 'ghost'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.post('/groups/p/members', body, { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.post('/groups/x/members', body))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('starts newcomers with everything read, and counts what comes after', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice')
    await sayInGroup(world, 'alice', 'g', 'before')
    dataOf(await add(world, { participants: ['bob'] }))
    const unread = async () =>
      dataOf(await world.get('/groups/g/conversation', { as: 'bob' })).unreadMessageCount as string
    expect(await unread()).toBe('0')
    await sayInGroup(world, 'alice', 'g', 'after')
    expect(await unread()).toBe('1')
  })
})

describe('PUT of members, as front ends add them', () => {
  it('answers all four maps and takes empty lists', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice')
    const { authToken: token } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    const answer = await world.put('/groups/g/members', { participants: ['bob'], admins: [] }, { token })
    expect(dataOf(answer)).toMatchObject({
      admins: {},
      moderators: {},
      participants: { bob: { success: true, data: { sender: 'alice', data: { action: 'added' } } } },
      usersToBan: {},
    })
    expect(dataOf(await world.put('/groups/g/members', {}, { token }))).toEqual({
      admins: {},
      moderators: {},
      participants: {},
      usersToBan: {},
    })
  })
})

describe('Joining', () => {
  it('answers the action message, also to a body that repeats the group', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'g', 'alice')
    const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    const body = { guid: 'g', type: 'public', name: 'g', password: '' }
    const before = now()
    const joined = dataOf(await world.post('/groups/G/members', body, { token }))
    expect(joined).toMatchObject({
      conversationId: 'group_g',
      sender: 'bob',
      category: 'action',
      type: 'groupMember',
      data: {
        action: 'joined',
        entities: {
          by: { entity: { uid: 'bob' }, entityType: 'user' },
          on: { entity: { uid: 'bob' }, entityType: 'user' },
          for: { entity: { guid: 'g', membersCount: 2 }, entityType: 'group' },
        },
      },
    })
    const seen = dataOf(await world.get('/groups/g', { token }))
    expect(seen).toMatchObject({ scope: 'participant', hasJoined: true, membersCount: 2 })
    expect(seen.joinedAt).toBeGreaterThanOrEqual(before)
    expect(dataOf(await world.get('/groups/g/messages', { token }))).toEqual([joined])

    expect(dataOf(await add(world, { password: null }, 'carol')).data.action).toBe('joined')
  })

  it('needs the password of a password group', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice', {}, { type: 'password', password: 'Open Sesame' })
    expect(refusal(await add(world, {}, 'bob'))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect(refusal(await add(world, { password: '' }, 'bob'))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect(refusal(await add(world, { password: 'open sesame' }, 'bob'))).toBe('403 ERR_WRONG_GROUP_PASS')
    expect(refusal(await add(world, { password: { $ne: '' } }, 'bob'))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await add(world, { password: 'Open Sesame' }, 'bob')).data.action).toBe('joined')
    expect(refusal(await add(world, { password: 'Open Sesame' }, 'bob'))).toBe('409 ERR_ALREADY_JOINED')
  })

  it('is refused to the banned, in private groups, to members, and in unknown groups', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'eve')
    await createGroup(world, 'g', 'alice')
    await createGroup(world, 'p', 'alice', {}, { type: 'private' })
    dataOf(await add(world, { usersToBan: ['eve'] }))
    expect(refusal(await add(world, {}, 'eve'))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await add(world, {}, 'alice'))).toBe('409 ERR_ALREADY_JOINED')
    expect(refusal(await world.post('/groups/p/members', {}, { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.post('/groups/x/members', {}, { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await add(world, {}, 'ghost'))).toBe('404 ERR_UID_NOT_FOUND')
    dataOf(await world.delete('/groups/g/bannedusers/eve'))
    expect(dataOf(await add(world, {}, 'eve')).data.action).toBe('joined')
  })
})

describe('Leaving', () => {
  it('takes the member out, tells the group and lets him come back', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice', { moderators: ['bob'] })
    const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    const left = await world.delete('/groups/G/members', undefined, { token })
    expect(left.body).toEqual({ data: { success: true, message: 'bob left g' } })
    const [message] = dataOf(await world.get('/groups/g/messages'))
    expect(message).toMatchObject({
      sender: 'bob',
      data: { action: 'left', entities: { on: { entity: { uid: 'bob' } }, for: { entity: { membersCount: 1 } } } },
    })
    expect(refusal(await world.delete('/groups/g/members', undefined, { token }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await world.get('/groups/g/messages', { token }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(dataOf(await world.post('/groups/g/members', {}, { token })).data.action).toBe('joined')
    expect(await scopes(world)).toEqual({ alice: 'admin', bob: 'participant' })
  })

  it('needs somebody who leaves, who is a member and does not own the group', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'g', 'alice')
    await createGroup(world, 'p', 'alice', {}, { type: 'private' })
    const leave = (guid: string, as?: string) =>
      world.delete(`/groups/${guid}/members`, undefined, as === undefined ? {} : { as })
    expect(refusal(await leave('g'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await leave('g', 'bob'))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await leave('p', 'bob'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await leave('x', 'bob'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await leave('g', 'alice'))).toBe('403 ERR_GROUP_NO_SELF_ACTION')
  })
})
