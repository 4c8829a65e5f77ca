import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const deactivate = async (world: World, ...uids: string[]): Promise<string[]> =>
  dataOf(await world.delete('/users', { uidsToDeactivate: uids })).deactivatedUids

const reactivate = async (world: World, ...uids: string[]) =>
  dataOf(await world.put('/users', { uidsToActivate: uids }))

const membersCount = async (world: World, guid: string): Promise<number> =>
  dataOf(await world.get(`/groups/${guid}`)).membersCount

const messageIn = async (world: World, guid: string, id: string) =>
  dataOf(await world.get(`/groups/${guid}/messages?limit=100`, { as: 'alice' })).find(
    (message: { id: string }) => message.id === id,
  )

const readGroup = async (world: World, guid: string, ...uids: string[]) => {
  for (const as of uids) dataOf(await world.post(`/groups/${guid}/conversation/read`, undefined, { as }))
}

const unreadIn = async (world: World, guid: string, as: string): Promise<string> =>
  dataOf(await world.get(`/groups/${guid}/conversation`, { as })).unreadMessageCount

describe('deactivating users', () => {
  it('answers those who are deactivated, each once, and leaves out unknown ones and the system user', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    expect(await deactivate(world, 'CAROL', 'nobody', 'alice', 'app_system', 'carol')).toEqual(['carol', 'alice'])
    expect(dataOf(await world.get('/users/app_system'))).not.toHaveProperty('deactivatedAt')
    expect(dataOf(await world.get('/users/bob'))).not.toHaveProperty('deactivatedAt')
    expect(dataOf(await world.get('/users/alice'))).toMatchObject({
      deactivatedAt: expect.any(Number),
      updatedAt: expect.any(Number),
    })
  })

  it('can be repeated and keeps the time of the first', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    await deactivate(world, 'alice')
    await world.context.database.query(
      { name: 'test age', text: 'update users set deactivated_at = 1700000000 where app_id = $1 and uid = $2' },
      [world.app.appId, 'alice'],
    )
    expect(await deactivate(world, 'alice')).toEqual(['alice'])
    expect(dataOf(await world.get('/users/alice')).deactivatedAt).toBe(1700000000)
  })

  it('takes an absent list for an empty one, at most 100 uids, and refuses what is wrong', async () => {
    const world = await createWorld()
    expect(dataOf(await world.delete('/users'))).toEqual({ deactivatedUids: [] })
    expect(dataOf(await world.put('/users', {}))).toEqual({ reactivatedUids: [], nonDeactivatedUids: [] })
    const uids = Array.from({ length: 101 }, (_, i) => `u${i}`)
    expect(await deactivate(world, ...uids.slice(1))).toEqual([])
    for (const wrong of [uids, 'alice', [5], [null], ['a b'], [''], { 0: 'alice' }, [['alice']]]) {
      expect(refusal(await world.delete('/users', { uidsToDeactivate: wrong }))).toBe('400 ERR_BAD_REQUEST')
      expect(refusal(await world.put('/users', { uidsToActivate: wrong }))).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('shuts him out: his tokens, acting on his behalf, and whatever is new to him', async () => {
    const world = await createWorld()
    await createUsers(world, 'bob')
    const { authToken } = dataOf(await world.post('/users', { uid: 'alice', name: 'Alice', withAuthToken: true }))
    await createGroup(world, 'team', 'bob')
    expect((await world.get('/users', { token: authToken })).status).toBe(200)
    await deactivate(world, 'alice')

    expect(refusal(await world.get('/users', { token: authToken }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(refusal(await world.get('/users', { as: 'alice' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.post('/users/alice/auth_tokens'))).toBe('404 ERR_UID_NOT_FOUND')
    const message = { receiver: 'alice', receiverType: 'user', data: { text: 'hi' } }
    expect(refusal(await world.post('/messages', message, { as: 'bob' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.post('/messages', { ...message, receiver: 'bob' }, { as: 'alice' }))).toBe(
      '404 ERR_UID_NOT_FOUND',
    )
    const added = dataOf(await world.post('/groups/team/members', { participants: ['alice'] }))
    expect(added.participants.alice).toMatchObject({ success: false, error: { code: 'ERR_UID_NOT_FOUND' } })
    expect(refusal(await world.post('/users', { uid: 'alice', name: 'New' }))).toBe('409 ERR_UID_ALREADY_EXISTS')
  })

  it('leaves his profile and the talks with him readable to the other side', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'hello')
    await deactivate(world, 'alice')
    expect(dataOf(await world.get('/users/alice', { as: 'bob' }))).toMatchObject({
      name: 'Alice',
      deactivatedAt: expect.any(Number),
      conversationId: 'alice_user_bob',
    })
    const [message] = dataOf(await world.get('/users/alice/messages', { as: 'bob' }))
    expect(message).toMatchObject({ sender: 'alice', data: { text: 'hello' } })
    expect((await world.post('/users/alice/conversation/read', undefined, { as: 'bob' })).status).toBe(200)
    expect(dataOf(await world.put('/users/alice', { name: 'Gone' }))).toMatchObject({
      name: 'Gone',
      deactivatedAt: expect.any(Number),
    })
  })

  it('takes his memberships out of counts and lists, and reactivating puts them back', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'one', 'alice', { participants: ['bob', 'carol'] })
    await createGroup(world, 'two', 'bob')
    const members = async () => dataOf(await world.get('/groups/one/members')).map(({ uid }: { uid: string }) => uid)
    await deactivate(world, 'bob', 'carol')
    expect(await membersCount(world, 'one')).toBe(1)
    expect(await membersCount(world, 'two')).toBe(0)
    expect(await members()).toEqual(['alice'])
    await deactivate(world, 'bob')
    expect(await membersCount(world, 'one')).toBe(1)

    await reactivate(world, 'bob')
    expect(await membersCount(world, 'one')).toBe(2)
    expect(await membersCount(world, 'two')).toBe(1)
    expect(await members()).toEqual(['alice', 'bob'])
    await reactivate(world, 'bob', 'carol')
    expect(await membersCount(world, 'one')).toBe(3)
    await sayInGroup(world, 'carol', 'one', 'back again')
  })

  it('makes read by all what only he had not read', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await readGroup(world, 'team', 'bob')
    expect(await messageIn(world, 'team', id)).not.toHaveProperty('readAt')
    await deactivate(world, 'carol')
    expect(await messageIn(world, 'team', id)).toMatchObject({
      readAt: expect.any(Number),
      deliveredAt: expect.any(Number),
    })
  })

  it('keeps counts right when members are removed, join and speak meanwhile', async () => {
    const world = await createWorld()
    const crowd = Array.from({ length: 12 }, (_, i) => `u${String(i).padStart(2, '0')}`)
    await createUsers(world, 'alice', 'bob', ...crowd)
    await createGroup(world, 'team', 'alice', { participants: ['bob', ...crowd] })
    await createGroup(world, 'other', 'alice', { participants: crowd })
    const [kicked, ...staying] = crowd
    await Promise.all([
      ...crowd.map((uid) => deactivate(world, uid, ...crowd.slice(0, 3))),
      ...Array.from({ length: 10 }, (_, i) => sayInGroup(world, 'alice', 'team', `m${i}`)),
      world.delete(`/groups/team/members/${kicked}`),
      world.delete('/groups/team/members', undefined, { as: 'bob' }),
      ...staying.map((uid) => reactivate(world, uid, ...staying.slice(0, 3))),
    ])
    await deactivate(world, ...crowd)
    expect(await membersCount(world, 'team')).toBe(1)
    expect(await membersCount(world, 'other')).toBe(1)
    const { reactivatedUids } = await reactivate(world, ...crowd)
    expect(reactivatedUids).toEqual(crowd)
    expect(await membersCount(world, 'team')).toBe(12)
    expect(await membersCount(world, 'other')).toBe(13)
    expect(dataOf(await world.get('/groups/team/members'))).toHaveLength(12)
  })
})

describe('reactivating users', () => {
  it('answers who came back and who was not deactivated to begin with', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await deactivate(world, 'alice', 'bob')
    expect(await reactivate(world, 'carol', 'Bob', 'nobody', 'alice', 'bob', 'app_system')).toEqual({
      reactivatedUids: ['bob', 'alice'],
      nonDeactivatedUids: ['carol', 'app_system'],
    })
    expect(await reactivate(world, 'alice')).toEqual({ reactivatedUids: [], nonDeactivatedUids: ['alice'] })
    expect(dataOf(await world.get('/users/alice'))).not.toHaveProperty('deactivatedAt')
  })

  it('lets exactly one of many calls at the same time bring him back', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await Promise.all(Array.from({ length: 10 }, () => deactivate(world, 'alice')))
    expect(await membersCount(world, 'team')).toBe(1)
    const answers = await Promise.all(Array.from({ length: 10 }, () => reactivate(world, 'alice')))
    expect(answers.filter(({ reactivatedUids }) => reactivatedUids.length === 1)).toHaveLength(1)
    expect(answers.filter(({ nonDeactivatedUids }) => nonDeactivatedUids.length === 1)).toHaveLength(9)
    expect(await membersCount(world, 'team')).toBe(2)
  })

  it('does not bring the tokens back', async () => {
    const world = await createWorld()
    const { authToken } = dataOf(await world.post('/users', { uid: 'alice', name: 'Alice', withAuthToken: true }))
    await deactivate(world, 'alice')
    await reactivate(world, 'alice')
    expect(refusal(await world.get('/users/alice', { token: authToken }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(dataOf(await world.get('/users/alice/auth_tokens'))).toEqual([])
  })

  it('keeps his marks: what he missed is unread, and new messages wait for him again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await sayInGroup(world, 'alice', 'team', 'read by carol')
    await readGroup(world, 'team', 'bob', 'carol')
    await deactivate(world, 'carol')
    const missed = await sayInGroup(world, 'alice', 'team', 'missed by carol')
    await readGroup(world, 'team', 'bob')
    expect(await messageIn(world, 'team', missed.id)).toHaveProperty('readAt')

    await reactivate(world, 'carol')
    expect(await unreadIn(world, 'team', 'carol')).toBe('1')
    const next = await sayInGroup(world, 'alice', 'team', 'not read by carol')
    await readGroup(world, 'team', 'bob')
    expect(await messageIn(world, 'team', next.id)).not.toHaveProperty('readAt')
    expect(await messageIn(world, 'team', missed.id)).toHaveProperty('readAt')
    expect(await unreadIn(world, 'team', 'carol')).toBe('2')
    await readGroup(world, 'team', 'carol')
    expect(await messageIn(world, 'team', next.id)).toHaveProperty('readAt')
  })

  it('does not bring back memberships that ended meanwhile', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await deactivate(world, 'carol')
    expect((await world.delete('/groups/team/members/carol')).status).toBe(200)
    expect(await membersCount(world, 'team')).toBe(2)
    await reactivate(world, 'carol')
    expect(await membersCount(world, 'team')).toBe(2)
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await readGroup(world, 'team', 'bob')
    expect(await messageIn(world, 'team', id)).toHaveProperty('readAt')
  })
})

describe('deleting a user softly', () => {
  it('deactivates him, again and again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    for (const body of [undefined, {}, { permanent: false }]) {
      const answer = await world.delete('/users/ALICE', body)
      expect(dataOf(answer)).toEqual({ success: true, message: expect.stringContaining('alice') })
    }
    expect(dataOf(await world.get('/users/alice'))).toHaveProperty('deactivatedAt')
    expect(await membersCount(world, 'team')).toBe(1)
    expect((await reactivate(world, 'alice')).reactivatedUids).toEqual(['alice'])
  })

  it('refuses unknown users, the system user, and a flag that is no boolean', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    expect(refusal(await world.delete('/users/nobody'))).toBe('404 ERR_UID_NOT_FOUND')
    for (const permanent of [true, false]) {
      expect(refusal(await world.delete('/users/app_system', { permanent }))).toBe('403 ERR_PERMISSION_DENIED')
    }
    for (const permanent of ['true', 1, null]) {
      expect(refusal(await world.delete('/users/alice', { permanent }))).toBe('400 ERR_BAD_REQUEST')
    }
    expect(dataOf(await world.get('/users/alice'))).not.toHaveProperty('deactivatedAt')
  })
})
