import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { importWell, text } from '../support/imports.ts'
import { untilWaitedFor, untilWaitsBehind } from '../support/waiters.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const list = async (world: World, as: string, query = '') =>
  dataOf(await world.get(`/conversations?${query}`, { as })).map((c: { conversationId: string }) => c.conversationId)

describe('tags of a conversation', () => {
  it("are the user's own, replace each other, and filter his list", async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await say(world, 'alice', 'bob', 'x')
    await sayInGroup(world, 'alice', 'team', 'x')
    const tagged = dataOf(await world.put('/users/bob/conversation', { tags: ['archived', 'work'] }, { as: 'alice' }))
    expect(tagged).toMatchObject({ conversationId: 'alice_user_bob', tags: ['archived', 'work'] })
    dataOf(await world.put('/groups/team/conversation', { tags: ['work'] }, { as: 'alice' }))
    expect(await list(world, 'alice', 'tags=archived')).toEqual(['alice_user_bob'])
    expect(await list(world, 'bob', 'tags=archived')).toEqual([])
    expect(dataOf(await world.get('/conversations?tags=archived&withTags=1', { as: 'alice' }))[0].tags).toEqual([
      'archived',
      'work',
    ])
    dataOf(await world.put('/users/bob/conversation', { tags: [] }, { as: 'alice' }))
    expect(await list(world, 'alice', 'tags=archived')).toEqual([])
    const many = await world.put('/users/bob/conversation', { tags: Array(26).fill('t') }, { as: 'alice' })
    expect(refusal(many)).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('a reset', () => {
  it('hides the history from one user, and the conversation until the next message', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'bob', 'alice', 'old')
    const answer = await world.delete('/users/bob/conversation', undefined, { as: 'alice' })
    expect(answer.body.data).toEqual({ success: true, message: expect.stringContaining('alice_user_bob') })
    expect(await list(world, 'alice')).toEqual([])
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual([])
    expect(dataOf(await world.get('/messages?unread=1&count=1', { as: 'alice' }))).toEqual([])
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['old'])
    expect(await list(world, 'bob')).toEqual(['alice_user_bob'])
    await say(world, 'bob', 'alice', 'new')
    expect(await list(world, 'alice')).toEqual(['alice_user_bob'])
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['new'])
    expect(dataOf(await world.get('/users/bob/conversation', { as: 'alice' })).unreadMessageCount).toBe('1')
  })

  it('of a conversation in which nothing was said hides what is imported into it later', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'], addToConversations: true }))
    // As if it had been started an hour ago.
    await world.context.database.run(sql`
      update conversations
      set created_at = created_at - 3600, listed_sent_at = listed_sent_at - 3600
      where app_id = ${world.app.appId}`)
    expect(await list(world, 'alice')).toEqual(['alice_user_bob'])
    dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' }))
    await importWell(world, 'messages', [text('old', 'bob', 'alice', Math.floor(Date.now() / 1000) - 1800)])
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual([])
    expect(await list(world, 'alice')).toEqual([])
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['old'])
    await say(world, 'bob', 'alice', 'new')
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['new'])
  })

  it('can preserve the place in the list', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'bob', 'team', 'x')
    await say(world, 'bob', 'alice', 'x')
    dataOf(await world.delete('/groups/team/conversation', { preserveOrder: true }, { as: 'alice' }))
    expect(await list(world, 'alice')).toEqual(['alice_user_bob', 'group_team'])
    expect(dataOf(await world.get('/groups/team/conversation', { as: 'alice' })).lastMessage).toBeUndefined()
  })

  it('that preserves the place brings nothing back that another reset has hidden', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'bob', 'alice', 'x')
    dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' }))
    dataOf(await world.delete('/users/bob/conversation', { preserveOrder: true }, { as: 'alice' }))
    expect(await list(world, 'alice')).toEqual([])
    await say(world, 'bob', 'alice', 'y')
    dataOf(await world.delete('/users/bob/conversation', { preserveOrder: true }, { as: 'alice' }))
    expect(await list(world, 'alice')).toEqual(['alice_user_bob'])
  })

  it('with deleteMessagesPermanently purges for both sides', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'bob', 'alice', 'gone')
    dataOf(await world.delete('/users/bob/conversation', { deleteMessagesPermanently: true }, { as: 'alice' }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    expect(refusal(await world.get(`/messages/${message.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('only hides when a token asks for a purge', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'bob', 'alice', 'kept')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens'))
    dataOf(await world.delete('/users/bob/conversation', { deleteMessagesPermanently: true }, { token: authToken }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['kept'])
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual([])
  })
})

describe('deleting a conversation by its id', () => {
  it('removes it for everybody until the next message', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await say(world, 'alice', 'bob', 'x')
    const remove = (as: string) => world.delete('/conversations/alice_user_bob', undefined, { as })
    expect(refusal(await remove('carol'))).toBe('404 ERR_CONVERSATION_NOT_FOUND')
    expect((await remove('alice')).body.data.success).toBe(true)
    for (const [as, other] of [
      ['alice', 'bob'],
      ['bob', 'alice'],
    ] as const) {
      expect(await list(world, as)).toEqual([])
      expect(refusal(await world.get(`/users/${other}/conversation`, { as }))).toBe(
        '403 ERR_CONVERSATION_NOT_ACCESSIBLE',
      )
    }
    expect(refusal(await remove('alice'))).toBe('404 ERR_CONVERSATION_NOT_FOUND')
    await say(world, 'bob', 'alice', 'again')
    expect(await list(world, 'alice')).toEqual(['alice_user_bob'])
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['again'])
  })

  it('in groups is for admins', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'x')
    const remove = async (as: string) => refusal(await world.delete('/conversations/group_team', undefined, { as }))
    expect(await remove('bob')).toBe('403 ERR_GROUP_NO_ADMIN_SCOPE')
    expect(await remove('alice')).toBe('200 undefined')
    expect(await list(world, 'bob')).toEqual([])
  })

  it('in groups is not for somebody who was kicked while they waited', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'mallory')
    await createGroup(world, 'team', 'alice', { admins: ['mallory'] })
    await sayInGroup(world, 'alice', 'team', 'stays')
    const { app, context } = world
    let removed: Promise<Answer> | undefined
    await context.database.transaction(async (tx) => {
      await tx.run(sql`select from conversations where app_id = ${app.appId} and first = 'team' for no key update`)
      removed = world.delete('/conversations/group_team', undefined, { as: 'mallory' })
      await untilWaitedFor(tx)
      await tx.run(sql`delete from group_members where app_id = ${app.appId} and guid = 'team' and uid = 'mallory'`)
    })
    expect(refusal((await removed) as Answer)).toBe('403 ERR_GROUP_NO_ADMIN_SCOPE')
    expect(texts(await world.get('/groups/team/messages', { as: 'alice' }))).toContain('stays')
  })
})

describe('pinned conversations of a user', () => {
  it('come first, newest pin first, and are five at most, also at the same time', async () => {
    const world = await createWorld()
    const peers = Array.from({ length: 7 }, (_, i) => `peer${i}`)
    await createUsers(world, 'alice', ...peers)
    for (const peer of peers) await say(world, peer, 'alice', 'x')
    const pin = (peer: string) => world.post(`/users/${peer}/conversation/pin`, undefined, { as: 'alice' })
    const first = dataOf(await pin('peer0'))
    expect(first).toEqual({
      conversationId: 'alice_user_peer0',
      conversationType: 'user',
      pinnedBy: 'alice',
      pinnedAt: expect.any(Number),
    })
    expect((await list(world, 'alice'))[0]).toBe('alice_user_peer0')
    expect(dataOf(await pin('peer0'))).toEqual(first)
    const answers = await Promise.all(peers.slice(1).map(pin))
    expect(answers.map(refusal).sort()).toEqual([
      ...Array(4).fill('200 undefined'),
      ...Array(2).fill('400 ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED'),
    ])
    const unpinned = await world.delete('/users/peer0/conversation/pin', undefined, { as: 'alice' })
    expect(unpinned.body.data).toEqual({ conversationId: 'alice_user_peer0', conversationType: 'user' })
    expect(dataOf(await world.get('/users/peer0/conversation', { as: 'alice' })).pinnedAt).toBeUndefined()
    dataOf(await world.delete('/users/peer0/conversation/pin', undefined, { as: 'alice' }))
  })

  it('need a conversation', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const pin = (path: string) => world.post(path, undefined, { as: 'alice' })
    expect(refusal(await pin('/users/bob/conversation/pin'))).toBe('403 ERR_CONVERSATION_NOT_ACCESSIBLE')
    expect(refusal(await pin('/groups/none/conversation/pin'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.post('/users/bob/conversation/pin'))).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('pinned conversations of the app', () => {
  it('stand on top of every list in the order given, and no user can touch them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'news', 'bob', { participants: ['alice'] })
    await sayInGroup(world, 'bob', 'news', 'x')
    await say(world, 'bob', 'alice', 'x')
    await say(world, 'carol', 'alice', 'x')
    const replace = (pinnedConversations: unknown) => world.put('/conversations/pinned', { pinnedConversations })
    const pinned = dataOf(await replace([{ guid: 'news' }, { uid: 'bob' }, { guid: 'NEWS' }]))
    expect(pinned).toEqual([
      { conversationId: 'group_news', conversationType: 'group', pinnedBy: 'app_system', pinnedAt: expect.any(Number) },
      {
        conversationId: 'app_system_user_bob',
        conversationType: 'user',
        pinnedBy: 'app_system',
        pinnedAt: expect.any(Number),
      },
    ])
    expect(dataOf(await world.get('/conversations/pinned'))).toEqual(pinned)
    expect(await list(world, 'alice')).toEqual(['group_news', 'alice_user_bob', 'alice_user_carol'])
    expect(dataOf(await world.get('/groups/news/conversation', { as: 'alice' })).pinnedBy).toBe('app_system')
    for (const method of ['POST', 'DELETE']) {
      const answer = await world.call(method, '/groups/news/conversation/pin', undefined, { as: 'alice' })
      expect(refusal(answer)).toBe('403 ERR_SYSTEM_PINNED_CONVERSATION')
    }
    expect(dataOf(await replace([]))).toEqual([])
    expect((await list(world, 'alice'))[0]).toBe('alice_user_carol')
  })

  it('are five at most, and name users and groups that exist', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 6 }, (_, i) => `u${i}`)
    await createUsers(world, ...uids)
    const replace = async (pinnedConversations: unknown) =>
      refusal(await world.put('/conversations/pinned', { pinnedConversations }))
    expect(await replace(uids.map((uid) => ({ uid })))).toBe('400 ERR_SYSTEM_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
    expect(await replace([{ uid: 'nobody' }])).toBe('404 ERR_UID_NOT_FOUND')
    expect(await replace([{ guid: 'nothing' }])).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await replace([{}])).toBe('400 ERR_BAD_REQUEST')
    expect(await replace('all')).toBe('400 ERR_BAD_REQUEST')
    expect(await replace(undefined)).toBe('400 ERR_BAD_REQUEST')
  })

  it.each([
    ['a user who is erased', '/users/bob', { uid: 'bob' }, '404 ERR_UID_NOT_FOUND'],
    ['a group that is deleted', '/groups/news', { guid: 'news' }, '404 ERR_GUID_NOT_FOUND'],
  ])('do not name %s at this moment', async (_, path, pin, told) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'news', 'alice')
    dataOf(await world.post('/users/bob/friends', { accepted: ['alice'] }))
    let removal: Promise<Answer> | undefined
    let answer: Promise<Answer> | undefined
    await world.context.database.transaction(async (tx) => {
      // Removals come to these after the pins of the app.
      await tx.run(sql`select from friends where app_id = ${world.app.appId} for update`)
      await tx.run(sql`select from groups where app_id = ${world.app.appId} for update`)
      removal = world.delete(path, { permanent: true })
      await untilWaitedFor(tx)
      answer = world.put('/conversations/pinned', { pinnedConversations: [pin] })
      await Promise.race([answer, untilWaitsBehind(tx)])
    })
    expect((await removal)?.status).toBe(200)
    expect(refusal((await answer) as Answer)).toBe(told)
    expect(dataOf(await world.get('/conversations/pinned'))).toEqual([])
  })
})
