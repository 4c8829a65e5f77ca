import { describe, expect, it, onTestFinished } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import { importWell, text } from '../support/imports.ts'
import { connect, eventually } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

const uids = (users: Array<{ uid: string }>) => users.map(({ uid }) => uid)

describe('friends', () => {
  it('are friends both ways, listed by name, and filter the user list', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'carol', 'bob', 'dave')
    const answer = dataOf(await world.post('/users/alice/friends', { accepted: ['carol', 'Bob'] }))
    expect(answer).toEqual({
      accepted: {
        carol: { success: true, message: expect.stringContaining('accepted') },
        bob: { success: true, message: expect.stringContaining('accepted') },
      },
    })
    const list = await world.get('/users/alice/friends')
    expect(uids(list.body.data)).toEqual(['bob', 'carol'])
    expect(list.body.data[0].conversationId).toBe('alice_user_bob')
    expect(list.body.meta.pagination.total).toBe(2)
    expect(list.body.meta.cursor).toEqual({ updatedAt: expect.any(Number), affix: 'prepend' })
    const mine = await world.get('/friends', { as: 'alice' })
    expect(mine.body.meta).toEqual(list.body.meta)
    expect((await world.get('/users/dave/friends')).body.meta).not.toHaveProperty('cursor')
    expect(uids(dataOf(await world.get('/users/bob/friends')))).toEqual(['alice'])
    expect(uids(dataOf(await world.get('/users/alice/friends?searchKey=AR')))).toEqual(['carol'])
    expect(uids(dataOf(await world.get('/users?friendsOnly=1', { as: 'bob' })))).toEqual(['alice'])
    expect((await world.delete('/users/bob/friends', { friends: ['alice'] })).body.data.success).toBe(true)
    expect(uids(dataOf(await world.get('/users/alice/friends')))).toEqual(['carol'])
    const again = await world.delete('/users/bob/friends', { friends: ['alice', 'nobody'] })
    expect(refusal(again)).toBe('400 ERR_NOT_A_FRIEND')
    dataOf(await world.delete('/users/alice/friends', { friends: ['bob', 'carol'] }))
    expect(dataOf(await world.get('/users/alice/friends'))).toEqual([])
    dataOf(await world.delete('/users/alice/friends', {}))
  })

  it('are counted beyond their last page, too', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob', 'carol', 'dave'] }))
    for (const [page, count] of [
      [2, 1],
      [3, 0],
    ]) {
      const { meta } = (await world.get(`/users/alice/friends?perPage=2&page=${page}`)).body
      expect(meta.pagination).toMatchObject({ total: 3, count })
    }
  })

  it('are refused one by one', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    const { accepted } = dataOf(
      await world.post('/users/alice/friends', { accepted: ['alice', 'bob', 'nobody', 'carol'] }),
    )
    expect(accepted.alice.error.code).toBe('ERR_CANNOT_FORM_SELF_RELATION')
    expect(accepted.bob.error.code).toBe('ERR_ALREADY_FRIEND')
    expect(accepted.nobody.error.code).toBe('ERR_UID_NOT_FOUND')
    expect(accepted.carol.success).toBe(true)
    expect(refusal(await world.post('/users/nobody/friends', { accepted: ['bob'] }))).toBe('404 ERR_UID_NOT_FOUND')
    // Nobody is a friend of the system user, from either side.
    const ofSystem = await world.post('/users/app_system/friends', { accepted: ['alice'] })
    expect(refusal(ofSystem)).toBe('404 ERR_UID_NOT_FOUND')
    const many = { accepted: Array.from({ length: 26 }, (_, i) => `u${i}`) }
    expect(refusal(await world.post('/users/alice/friends', many))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.post('/users/alice/friends', { accepted: 'bob' }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('can have a conversation from the start', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'], addToConversations: true }))
    const [conversation] = dataOf(await world.get('/conversations', { as: 'bob' }))
    expect(conversation).toMatchObject({ conversationId: 'alice_user_bob', unreadMessageCount: '0' })
    expect(conversation.lastMessage).toBeUndefined()
    expect((await world.post('/users/alice/conversation/read', {}, { as: 'bob' })).status).toBe(200)
    await say(world, 'alice', 'bob', 'hi')
    expect(dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))).toMatchObject({
      unreadMessageCount: '1',
      lastMessage: { data: { text: 'hi' } },
    })
  })

  it('whose conversation was there from the start find in it what is imported, by its own times', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob', 'carol'], addToConversations: true }))
    const listed = async () => dataOf(await world.get('/conversations', { as: 'alice' }))
    const since = (await listed())[0].updatedAt
    const told = { category: 'action', type: 'message', data: { action: 'edited' }, subjectMuid: 'b' }
    await importWell(world, 'messages', [
      text('a', 'alice', 'bob', 1_600_000_000),
      text('b', 'bob', 'alice', 1_600_000_100),
      text('c', 'bob', 'alice', 1_600_000_200, told),
    ])
    // Nothing is said with carol, so that conversation is where it was.
    expect(await listed()).toMatchObject([
      { conversationId: 'alice_user_carol', updatedAt: since },
      { conversationId: 'alice_user_bob', updatedAt: 1_600_000_100, lastMessage: { data: { text: 'b' } } },
    ])
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('made from both sides at the same time, many times, are friends once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 === 0
          ? world.post('/users/alice/friends', { accepted: ['bob'] })
          : world.post('/users/bob/friends', { accepted: ['alice'] }),
      ),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200))
    expect((await world.get('/users/alice/friends')).body.meta.pagination.total).toBe(1)
  })

  it('are seen by the app as it sees all users: with what is private, and whether they are online', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.put('/users/bob', { metadata: { plan: 'gold', '@private': { email: 'b@example.com' } } }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const client = await connect(world, 'bob')
    onTestFinished(() => client.close())
    await eventually(
      async () => dataOf(await world.get('/users/bob')).status,
      (status) => status === 'available',
    )
    const [seenByApp] = dataOf(await world.get('/users/alice/friends', { as: 'alice' }))
    expect(seenByApp).toMatchObject({
      ...dataOf(await world.get('/users/bob')),
      metadata: { plan: 'gold', '@private': { email: 'b@example.com' } },
      conversationId: 'alice_user_bob',
    })
    const [seenByAlice] = dataOf(await world.get('/friends', { as: 'alice' }))
    expect(seenByAlice).toMatchObject({ uid: 'bob', metadata: { plan: 'gold' }, status: 'offline' })
    expect(JSON.stringify(seenByAlice)).not.toMatch(/@private|lastActiveAt/)
  })

  it('are seen by a user with his token', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    const { authToken: token } = dataOf(await world.post('/users/alice/auth_tokens'))
    expect(uids(dataOf(await world.get('/friends', { token })))).toEqual(['bob'])
    expect(refusal(await world.get('/users/bob/friends', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })
})
