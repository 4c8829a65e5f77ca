import { describe, expect, it, onTestFinished } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { connect, eventually } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

const uids = (users: Array<{ uid: string }>) => users.map(({ uid }) => uid)

describe('blocking', () => {
  it('stops messages both ways, and unblocking lets them through again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const answer = dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['Bob'] }))
    expect(answer).toEqual({ bob: { success: true, message: expect.stringMatching(/alice.*bob/) } })
    const send = (receiver: string, as?: string) =>
      world.post('/messages', { receiver, receiverType: 'user', data: { text: 'x' } }, as === undefined ? {} : { as })
    expect(refusal(await send('bob', 'alice'))).toBe('403 ERR_BLOCKED_RECEIVER')
    expect(refusal(await send('alice', 'bob'))).toBe('403 ERR_BLOCKED_SENDER')
    expect((await send('alice')).status).toBe(200)
    const unblocked = dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(unblocked).toEqual({ bob: { success: true, message: expect.stringMatching(/alice.*bob/) } })
    expect((await send('bob', 'alice')).status).toBe(200)
    expect((await send('alice', 'bob')).status).toBe(200)
  })

  it('leaves groups alone, where messages of the blocked can be left out', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    await sayInGroup(world, 'bob', 'team', 'from bob')
    await sayInGroup(world, 'alice', 'team', 'from alice')
    expect(texts(await world.get('/groups/team/messages', { as: 'alice' }))).toEqual(['from bob', 'from alice'])
    const hidden = await world.get('/groups/team/messages?hideMessagesFromBlockedUsers=1', { as: 'alice' })
    expect(texts(hidden)).toEqual(['from alice'])
  })

  it('leaves what others quote and change of the blocked in groups, unless their messages are left out', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'carol', { participants: ['alice', 'bob'] })
    const { id } = await sayInGroup(world, 'bob', 'team', 'from bob')
    await sayInGroup(world, 'carol', 'team', 'so bob says', { quotedMessageId: id })
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'from bob, by the app' } }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const list = async (query: string, as: string) =>
      JSON.stringify((await world.get(`/groups/team/messages?${query}`, { as })).body)
    for (const query of ['', 'category=message', 'category=action']) {
      expect(await list(query, 'alice')).toContain('from bob')
    }
    for (const filter of ['', '&category=message', '&category=action', '&searchKey=says', '&withTags=1']) {
      const query = `hideMessagesFromBlockedUsers=1${filter}`
      expect(await list(query, 'alice'), filter).not.toContain('from bob')
      expect(await list(query, 'bob'), filter).toContain('from bob')
    }
    const [said] = dataOf(
      await world.get('/groups/team/messages?hideMessagesFromBlockedUsers=1&type=text', { as: 'alice' }),
    )
    expect([said.data.text, said.quotedMessage]).toEqual(['so bob says', undefined])
  })

  it('takes the conversation out of the list of the one who blocks', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'bob', 'alice', 'hi')
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(dataOf(await world.get('/conversations', { as: 'alice' }))).toEqual([])
    expect(dataOf(await world.get('/conversations', { as: 'bob' }))).toHaveLength(1)
  })

  it('answers for each uid what went wrong', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const answer = dataOf(
      await world.post('/users/alice/blockedusers', { blockedUids: ['alice', 'nobody', 'bob', 'app_system'] }),
    )
    expect(answer.alice).toMatchObject({ success: false, error: { code: 'ERR_CANNOT_BLOCK_SELF' } })
    expect(answer.nobody).toMatchObject({ success: false, error: { code: 'ERR_UID_NOT_FOUND' } })
    expect(answer.app_system).toMatchObject({ success: false, error: { code: 'ERR_PERMISSION_DENIED' } })
    expect(answer.bob.success).toBe(true)
    expect(refusal(await world.post('/users/nobody/blockedusers', { blockedUids: ['bob'] }))).toBe(
      '404 ERR_UID_NOT_FOUND',
    )
    const bySystem = dataOf(await world.post('/users/app_system/blockedusers', { blockedUids: ['alice'] }))
    expect(bySystem.alice).toMatchObject({ success: false, error: { code: 'ERR_PERMISSION_DENIED' } })
    expect(dataOf(await world.get('/users/app_system/blockedusers'))).toEqual([])
    const tooMany = { blockedUids: Array.from({ length: 101 }, (_, i) => `u${i}`) }
    for (const body of [{}, { blockedUids: 'bob' }, { blockedUids: [] }, { blockedUids: [5] }, tooMany, undefined]) {
      expect(refusal(await world.post('/users/alice/blockedusers', body))).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('is listed newest first, with direction and search', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['carol'] }))
    dataOf(await world.post('/users/dave/blockedusers', { blockedUids: ['alice'] }))
    const list = await world.get('/users/alice/blockedusers')
    expect(uids(list.body.data)).toEqual(['carol', 'bob'])
    expect(list.body.data[0]).toMatchObject({
      uid: 'carol',
      name: 'Carol',
      blockedByMe: true,
      blockedByMeAt: expect.any(Number),
      blockedAt: expect.any(Number),
      conversationId: 'alice_user_carol',
    })
    expect(list.body.meta).toMatchObject({
      pagination: { total: 2, count: 2 },
      cursor: { updatedAt: expect.any(Number), affix: 'prepend' },
    })
    expect((await world.get('/blockedusers', { as: 'alice' })).body.meta).toEqual(list.body.meta)
    expect((await world.get('/users/bob/blockedusers')).body.meta).not.toHaveProperty('cursor')
    const query = async (q: string) => uids(dataOf(await world.get(`/users/alice/blockedusers?${q}`)))
    expect(await query('direction=hasBlockedMe')).toEqual(['dave'])
    expect(await query('direction=both')).toEqual(['dave', 'carol', 'bob'])
    expect(await query('searchKey=CAR')).toEqual(['carol'])
    expect(await query('perPage=1&page=2')).toEqual(['bob'])
    const beyond = await world.get('/users/alice/blockedusers?perPage=1&page=3')
    expect(beyond.body.meta.pagination).toMatchObject({ total: 2, count: 0 })
    expect(refusal(await world.get('/users/alice/blockedusers?direction=up'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('neither lists nor counts deactivated users, whose blocks are there again with them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob', 'carol'] }))
    dataOf(await world.post('/users/dave/blockedusers', { blockedUids: ['alice'] }))
    dataOf(await world.delete('/users', { uidsToDeactivate: ['bob', 'dave'] }))
    const list = async (path: string, options = {}) => {
      const { data, meta } = (await world.get(path, options)).body
      return [uids(data), meta.pagination.total]
    }
    expect(await list('/users/alice/blockedusers')).toEqual([['carol'], 1])
    expect(await list('/users/alice/blockedusers?direction=both')).toEqual([['carol'], 1])
    expect(await list('/users/alice/blockedusers?perPage=1&page=2')).toEqual([[], 1])
    expect(await list('/blockedusers', { as: 'alice' })).toEqual([['carol'], 1])
    dataOf(await world.put('/users', { uidsToActivate: ['bob', 'dave'] }))
    expect(await list('/users/alice/blockedusers?direction=both')).toEqual([['dave', 'carol', 'bob'], 3])
    dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    dataOf(await world.put('/users', { uidsToActivate: ['bob'] }))
    expect(await list('/users/alice/blockedusers')).toEqual([['carol'], 1])
  })

  it('lists users to the app as it sees them: with what is private, and whether they are online', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.put('/users/bob', { metadata: { plan: 'gold', '@private': { email: 'b@example.com' } } }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const client = await connect(world, 'bob')
    onTestFinished(() => client.close())
    await eventually(
      async () => dataOf(await world.get('/users/bob')).status,
      (status) => status === 'available',
    )
    const [seenByApp] = dataOf(await world.get('/users/alice/blockedusers?direction=both'))
    expect(seenByApp).toMatchObject({
      ...dataOf(await world.get('/users/bob')),
      metadata: { plan: 'gold', '@private': { email: 'b@example.com' } },
      blockedByMe: true,
      hasBlockedMe: true,
    })
    const [seenByAlice] = dataOf(await world.get('/blockedusers', { as: 'alice' }))
    expect(seenByAlice).toMatchObject({ uid: 'bob', metadata: { plan: 'gold' }, status: 'offline' })
    expect(JSON.stringify(seenByAlice)).not.toMatch(/@private|lastActiveAt/)
  })

  it('is open to a user for his own list, with his token', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { authToken: token } = dataOf(await world.post('/users/alice/auth_tokens'))
    dataOf(await world.post('/blockedusers', { blockedUids: ['bob'] }, { token }))
    expect(uids(dataOf(await world.get('/blockedusers', { token })))).toEqual(['bob'])
    dataOf(await world.delete('/blockedusers', { blockedUids: ['bob'] }, { token }))
    expect(dataOf(await world.get('/blockedusers', { token }))).toEqual([])
    expect(refusal(await world.get('/users/bob/blockedusers', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.get('/blockedusers'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('twice, and by many at the same time, is fine', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.post('/users/alice/blockedusers', { blockedUids: ['bob', 'carol'] })),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200))
    expect((await world.get('/users/alice/blockedusers')).body.meta.pagination.total).toBe(2)
  })
})
