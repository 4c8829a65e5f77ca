import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { untilWaitedFor } from '../support/waiters.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const ids = (conversations: Array<{ conversationId: string }>) =>
  conversations.map(({ conversationId }) => conversationId)

async function unread(world: World, path: string, as: string): Promise<string> {
  return dataOf(await world.get(path, { as })).unreadMessageCount
}

describe('delivered marks', () => {
  it('mark everything from uid as delivered for onBehalfOf, and the messages say so afterwards', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'one')
    const second = await say(world, 'alice', 'bob', 'two')
    const answer = await world.post(
      '/users/alice/conversation/delivered',
      { messageId: Number(first.id) },
      { as: 'bob' },
    )
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body.data).sort()).toEqual(['Message', 'success'])
    expect(answer.body.data.success).toBe(true)
    expect(answer.body.data.Message).toMatch(/alice.*delivered.*bob/)
    const after = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
    expect(after[0].deliveredAt).toEqual(expect.any(Number))
    expect(after[1].deliveredAt).toBeUndefined()
    expect(after[0].readAt).toBeUndefined()

    expect((await world.post('/users/alice/conversation/delivered', undefined, { as: 'bob' })).status).toBe(200)
    const all = dataOf(await world.get(`/messages/${second.id}`))
    expect(all.deliveredAt).toEqual(expect.any(Number))
  })

  it('take no body, an empty body, and twice is fine', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    for (const body of [undefined, '', {}, {}]) {
      expect((await world.post('/users/alice/conversation/delivered', body, { as: 'bob' })).body.data.success).toBe(
        true,
      )
    }
    const withType = await world.post('/users/alice/conversation/delivered', '', {
      as: 'bob',
      headers: { 'content-type': 'text/plain' },
    })
    expect(withType.status).toBe(200)
  })

  it('never go backwards, and keep the time of the mark that came first', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'bob', 'two')
    await world.post('/users/alice/conversation/delivered', {}, { as: 'bob' })
    const before = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
    await world.post('/users/alice/conversation/delivered', { messageId: first.id }, { as: 'bob' })
    expect(dataOf(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(before)
  })

  it('are refused without onBehalfOf, for unknown users, without a conversation, and for foreign messages', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await say(world, 'alice', 'bob', 'one')
    const elsewhere = await say(world, 'alice', 'carol', 'two')
    const mark = (uid: string, body: unknown, as?: string) =>
      world.post(`/users/${uid}/conversation/delivered`, body, as === undefined ? {} : { as })
    const missing = await mark('alice', {})
    expect(refusal(missing)).toBe('400 ERR_BAD_REQUEST')
    expect(missing.body.error.details[0].path).toBe('headers/onBehalfOf')
    expect(refusal(await mark('nobody', {}, 'bob'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await mark('alice', {}, 'nobody'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await mark('carol', {}, 'bob'))).toBe('403 ERR_CONVERSATION_NOT_ACCESSIBLE')
    expect(refusal(await mark('alice', { messageId: Number(elsewhere.id) }, 'bob'))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    expect(refusal(await mark('alice', { messageId: 999_999_999 }, 'bob'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    for (const messageId of ['x', 0, -1, 1.5, null, {}, [1], true]) {
      expect([messageId, refusal(await mark('alice', { messageId }, 'bob'))]).toEqual([
        messageId,
        '400 ERR_BAD_REQUEST',
      ])
    }
    expect(refusal(await mark('alice', [], 'bob'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await mark('alice', 'null', 'bob'))).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('read marks', () => {
  it('imply delivery, empty the unread count, and show on the messages', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'bob', 'two')
    await say(world, 'alice', 'bob', 'three')
    const path = '/users/alice/conversation'
    expect(await unread(world, path, 'bob')).toBe('3')
    expect(await unread(world, '/users/bob/conversation', 'alice')).toBe('0')
    const answer = await world.post(`${path}/read`, { messageId: first.id }, { as: 'bob' })
    expect(answer.body.data).toEqual({ success: true, Message: expect.stringContaining('read') })
    expect(await unread(world, path, 'bob')).toBe('2')
    dataOf(await world.post(`${path}/read`, undefined, { as: 'bob' }))
    expect(await unread(world, path, 'bob')).toBe('0')
    for (const message of dataOf(await world.get('/users/bob/messages', { as: 'alice' }))) {
      expect(message).toMatchObject({ readAt: expect.any(Number), deliveredAt: expect.any(Number) })
    }
    await say(world, 'alice', 'bob', 'four')
    expect(await unread(world, path, 'bob')).toBe('1')
  })

  it('move up by sending: what the other wrote before counts as read', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'one')
    await say(world, 'bob', 'alice', 'answer')
    expect(dataOf(await world.get(`/messages/${first.id}`)).readAt).toEqual(expect.any(Number))
    expect(await unread(world, '/users/alice/conversation', 'bob')).toBe('0')
    expect(await unread(world, '/users/bob/conversation', 'alice')).toBe('1')
  })

  it('are not moved by messages to oneself, which are never unread', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const note = await say(world, 'alice', 'alice', 'note')
    expect(note.conversationId).toBe('alice_user_alice')
    expect(await unread(world, '/users/alice/conversation', 'alice')).toBe('0')
    expect(ids(dataOf(await world.get('/conversations', { as: 'alice' })))).toEqual(['alice_user_alice'])
  })

  it('stay possible when the other side is deactivated', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    dataOf(await world.delete('/users', { uidsToDeactivate: ['alice'] }))
    expect((await world.post('/users/alice/conversation/read', {}, { as: 'bob' })).status).toBe(200)
    expect(await unread(world, '/users/alice/conversation', 'bob')).toBe('0')
  })
})

describe('marking unread', () => {
  it('counts a message and all after it again, without touching what others saw', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    const second = await say(world, 'alice', 'bob', 'two')
    await say(world, 'alice', 'bob', 'three')
    const path = '/users/alice/conversation'
    await world.post(`${path}/read`, {}, { as: 'bob' })
    const before = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
    expect((await world.delete(`${path}/read`, { messageId: second.id }, { as: 'bob' })).body.data).toEqual({
      success: true,
      message: expect.any(String),
    })
    expect(await unread(world, path, 'bob')).toBe('2')
    expect(dataOf(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(before)
    expect(dataOf(await world.get('/messages?unread=1', { as: 'bob' })).map((m: typeof second) => m.data.text)).toEqual(
      ['two', 'three'],
    )
    dataOf(await world.post(`${path}/read`, {}, { as: 'bob' }))
    expect(await unread(world, path, 'bob')).toBe('0')
    dataOf(await world.delete(`${path}/read`, undefined, { as: 'bob' }))
    expect(await unread(world, path, 'bob')).toBe('1')
  })

  it('is undone by sending, also when one was the last to write', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'one')
    await say(world, 'bob', 'alice', 'mine')
    dataOf(await world.delete('/users/alice/conversation/read', { messageId: first.id }, { as: 'bob' }))
    expect(await unread(world, '/users/alice/conversation', 'bob')).toBe('1')
    await say(world, 'bob', 'alice', 'mine too')
    expect(await unread(world, '/users/alice/conversation', 'bob')).toBe('0')
  })

  it.each([
    ['a message', true],
    ['the newest message', false],
  ])('from %s leaves what a reset hides meanwhile as it is', async (_, isNamed) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'bob', 'two')
    const path = '/users/alice/conversation'
    const asked: Array<Promise<Answer>> = []
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`
        select from conversations
        where app_id = ${world.app.appId} and first = 'alice' and second = 'bob' for update`)
      asked.push(world.delete(path, { preserveOrder: true }, { as: 'bob' }))
      await untilWaitedFor(tx)
      // Where the message stands is looked up before it is this one's turn.
      asked.push(world.delete(`${path}/read`, isNamed ? { messageId: id } : undefined, { as: 'bob' }))
      await untilWaitedFor(tx, 2)
    })
    for (const answer of await Promise.all(asked)) dataOf(answer)
    expect(await unread(world, path, 'bob')).toBe('0')
    const listed = (query: string) => world.get(`/conversations${query}`, { as: 'bob' })
    expect(dataOf(await listed('')).map((c: { unreadMessageCount: string }) => c.unreadMessageCount)).toEqual(['0'])
    expect(dataOf(await listed('?unread=true'))).toEqual([])
  })
})

describe('receipts in groups', () => {
  it('appear once everybody has read, and never vanish again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const message = await sayInGroup(world, 'alice', 'team', 'hello')
    const receipts = async () => {
      const { deliveredAt, readAt } = dataOf(await world.get(`/messages/${message.id}`))
      return [deliveredAt !== undefined, readAt !== undefined]
    }
    const mark = async (receipt: string, as: string) => {
      const answer = await world.post(`/groups/team/conversation/${receipt}`, {}, { as })
      expect(answer.body.data).toEqual({ success: true, message: expect.any(String) })
    }
    expect(await receipts()).toEqual([false, false])
    await mark('read', 'bob')
    expect(await receipts()).toEqual([false, false])
    await mark('delivered', 'carol')
    expect(await receipts()).toEqual([true, false])
    await mark('read', 'carol')
    expect(await receipts()).toEqual([true, true])
    // A newcomer has not read it, and need not.
    dataOf(await world.post('/groups/team/members', { participants: ['dave'] }))
    expect(await receipts()).toEqual([true, true])
    const next = await sayInGroup(world, 'alice', 'team', 'next')
    expect(dataOf(await world.get(`/messages/${next.id}`)).readAt).toBeUndefined()
  })

  it('no longer wait for those who left, were kicked or deactivated', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol', 'dave'] })
    const message = await sayInGroup(world, 'alice', 'team', 'hello')
    const isRead = async () => dataOf(await world.get(`/messages/${message.id}`)).readAt !== undefined
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'bob' }))
    dataOf(await world.delete('/groups/team/members/carol'))
    expect(await isRead()).toBe(false)
    dataOf(await world.delete('/users', { uidsToDeactivate: ['dave'] }))
    expect(await isRead()).toBe(true)
  })

  it('are exact when two last readers read at the same time', async () => {
    const world = await createWorld()
    const members = Array.from({ length: 10 }, (_, i) => `m${i}`)
    await createUsers(world, 'alice', ...members)
    await createGroup(world, 'team', 'alice', { participants: members })
    for (let round = 0; round < 5; round++) {
      const message = await sayInGroup(world, 'alice', 'team', `round ${round}`)
      await Promise.all(members.map((as) => world.post('/groups/team/conversation/read', {}, { as })))
      expect(dataOf(await world.get(`/messages/${message.id}`)).readAt).toEqual(expect.any(Number))
    }
  })

  it('count unread messages of others, not actions, and joining starts at the end', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'one')
    dataOf(await world.post('/groups/team/members', { participants: ['carol'] }))
    await sayInGroup(world, 'alice', 'team', 'two')
    expect(await unread(world, '/groups/team/conversation', 'bob')).toBe('2')
    expect(await unread(world, '/groups/team/conversation', 'carol')).toBe('1')
    expect(await unread(world, '/groups/team/conversation', 'alice')).toBe('0')
    await sayInGroup(world, 'bob', 'team', 'three')
    expect(await unread(world, '/groups/team/conversation', 'bob')).toBe('0')
    expect(await unread(world, '/groups/team/conversation', 'alice')).toBe('1')
  })

  it('are for members', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'open', 'alice')
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    await sayInGroup(world, 'alice', 'open', 'x')
    const mark = async (guid: string, as?: string) =>
      refusal(await world.post(`/groups/${guid}/conversation/read`, {}, as === undefined ? {} : { as }))
    expect(await mark('open', 'bob')).toBe('403 ERR_CONVERSATION_NOT_ACCESSIBLE')
    expect(await mark('secret', 'bob')).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await mark('secret', 'alice')).toBe('403 ERR_CONVERSATION_NOT_ACCESSIBLE')
    expect(await mark('nothing', 'alice')).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await mark('open')).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('a conversation', () => {
  it('is answered as an object with its last message and the other side', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'hi')
    const conversation = dataOf(await world.get('/users/bob/conversation', { as: 'alice' }))
    expect(conversation).toEqual({
      conversationId: 'alice_user_bob',
      conversationType: 'user',
      unreadMessageCount: '0',
      createdAt: expect.any(Number),
      updatedAt: message.sentAt,
      lastMessage: message,
      conversationWith: {
        uid: 'bob',
        name: 'Bob',
        status: 'offline',
        role: 'default',
        createdAt: expect.any(Number),
        conversationId: 'alice_user_bob',
      },
    })
    expect(dataOf(await world.get('/conversations/alice_user_bob', { as: 'alice' }))).toEqual(conversation)
    const mirrored = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(mirrored).toMatchObject({ unreadMessageCount: '1', conversationWith: { uid: 'alice' } })
  })

  it('with a group shows the viewer as member, and group events as last message', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'hi')
    dataOf(await world.post('/groups/team/members', { participants: ['carol'] }))
    const conversation = dataOf(await world.get('/groups/team/conversation', { as: 'bob' }))
    expect(conversation).toMatchObject({
      conversationId: 'group_team',
      conversationType: 'group',
      unreadMessageCount: '1',
      lastMessage: { category: 'action', data: { action: 'added' } },
      conversationWith: {
        guid: 'team',
        scope: 'participant',
        hasJoined: true,
        membersCount: 3,
        conversationId: 'group_team',
      },
    })
  })

  it('is not accessible before the first message, nor to others', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const get = async (path: string, as: string) => refusal(await world.get(path, { as }))
    expect(await get('/users/bob/conversation', 'alice')).toBe('403 ERR_CONVERSATION_NOT_ACCESSIBLE')
    await say(world, 'alice', 'bob', 'hi')
    expect(await get('/conversations/alice_user_bob', 'carol')).toBe('404 ERR_CONVERSATION_NOT_FOUND')
    expect(await get('/conversations/alice_user_carol', 'carol')).toBe('404 ERR_CONVERSATION_NOT_FOUND')
    expect(await get('/users/nobody/conversation', 'alice')).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/users/bob/conversation'))).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('the conversation list', () => {
  it('is ordered by last message, newest first, with true totals', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await say(world, 'bob', 'alice', '1')
    await say(world, 'carol', 'alice', '2')
    await sayInGroup(world, 'bob', 'team', '3')
    await say(world, 'bob', 'alice', '4')
    await say(world, 'bob', 'carol', 'not hers')
    const list = await world.get('/conversations', { as: 'alice' })
    expect(ids(list.body.data)).toEqual(['alice_user_bob', 'group_team', 'alice_user_carol'])
    expect(list.body.data.map((c: { unreadMessageCount: string }) => c.unreadMessageCount)).toEqual(['2', '1', '1'])
    const page = await world.get('/conversations?perPage=2&page=2', { as: 'alice' })
    expect(ids(page.body.data)).toEqual(['alice_user_carol'])
    expect(page.body.meta).toEqual({
      pagination: { total: 3, count: 1, per_page: 2, current_page: 2, total_pages: 2 },
    })
    expect(dataOf(await world.get('/conversations', { as: 'dave' }))).toEqual([])
  })

  it('is filtered by kind, name, unread and tags of the other side', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users', { uid: 'carol', name: 'Carol Jones', tags: ['vip'] }))
    await createGroup(world, 'team', 'bob', { participants: ['alice'] }, { tags: ['work'] })
    await say(world, 'bob', 'alice', '1')
    await say(world, 'carol', 'alice', '2')
    await sayInGroup(world, 'bob', 'team', '3')
    dataOf(await world.post('/users/bob/conversation/read', {}, { as: 'alice' }))
    const list = async (query: string) => ids(dataOf(await world.get(`/conversations?${query}`, { as: 'alice' })))
    expect(await list('conversationType=user')).toEqual(['alice_user_carol', 'alice_user_bob'])
    expect(await list('conversationType=group')).toEqual(['group_team'])
    expect(await list('searchKey=JONES')).toEqual(['alice_user_carol'])
    expect(await list('unread=true')).toEqual(['group_team', 'alice_user_carol'])
    expect(await list('userTags=vip')).toEqual(['alice_user_carol'])
    expect(await list('groupTags=work,play')).toEqual(['group_team'])
    expect(await list('tags=none')).toEqual([])
    const tagged = dataOf(await world.get('/conversations?withUserAndGroupTags=1&userTags=vip', { as: 'alice' }))
    expect(tagged[0].conversationWith.tags).toEqual(['vip'])
    expect(refusal(await world.get('/conversations?conversationType=room', { as: 'alice' }))).toBe(
      '400 ERR_BAD_REQUEST',
    )
  })

  it('shows the app every side, or each conversation once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await say(world, 'alice', 'bob', '1')
    await sayInGroup(world, 'alice', 'team', '2')
    const sides = dataOf(await world.get('/conversations'))
    expect(
      sides.map(
        (c: { conversationWith: { uid?: string; guid?: string } }) => c.conversationWith.uid ?? c.conversationWith.guid,
      ),
    ).toEqual(['team', 'bob', 'team', 'alice'])
    const once = await world.get('/conversations?unique=1')
    expect(ids(once.body.data).sort()).toEqual(['alice_user_bob', 'group_team'])
    expect(once.body.meta.pagination.total).toBe(2)
    expect(refusal(await world.get('/conversations?unique=1', { as: 'alice' }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('shows the app once what a filter finds on either side', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users', { uid: 'aibot', name: 'Robot', role: '@agentic' }))
    dataOf(await world.put('/users/alice', { tags: ['vip'] }))
    await say(world, 'alice', 'bob', '1')
    await say(world, 'aibot', 'bob', '2')
    dataOf(await world.put('/users/alice/conversation', { tags: ['work'] }, { as: 'bob' }))
    dataOf(await world.post('/users/aibot/conversation/read', {}, { as: 'bob' }))
    for (const [filter, wanted] of [
      ['unread=1', ['alice_user_bob']],
      ['searchKey=alice', ['alice_user_bob']],
      ['searchKey=bob', ['aibot_user_bob', 'alice_user_bob']],
      ['userTags=vip', ['alice_user_bob']],
      ['tags=work', ['alice_user_bob']],
      ['onlyAgentic=1', ['aibot_user_bob']],
      ['hideAgentic=1', ['alice_user_bob']],
    ] as const) {
      const { body } = await world.get(`/conversations?unique=1&${filter}`)
      expect([filter, ids(body.data).sort()]).toEqual([filter, wanted])
      expect(body.meta.pagination.total).toBe(wanted.length)
    }
  })

  it('leaves out blocked users unless they are asked for', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'bob', 'alice', '1')
    await world.context.database.transaction(async (tx) => {
      const { sql } = await import('kysely')
      await tx.run(
        sql`insert into blocks (app_id, blocker, blocked, blocked_at) values (${world.app.appId}, 'alice', 'bob', 1700000000)`,
      )
    })
    expect(dataOf(await world.get('/conversations', { as: 'alice' }))).toEqual([])
    const all = dataOf(await world.get('/conversations?includeBlockedUsers=1&withBlockedInfo=1', { as: 'alice' }))
    expect(all[0].conversationWith).toMatchObject({
      uid: 'bob',
      blockedByMe: true,
      blockedByMeAt: 1_700_000_000,
      hasBlockedMe: false,
    })
  })
})

describe('unread counts', () => {
  it('stay exact when many messages are remembered and more arrive', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await Promise.all(Array.from({ length: 250 }, (_, i) => say(world, 'alice', 'bob', `t${i}`)))
    const list = async () => dataOf(await world.get('/conversations', { as: 'bob' }))[0].unreadMessageCount
    expect(await list()).toBe('250')
    await say(world, 'alice', 'bob', 'more')
    expect(await list()).toBe('251')
    expect(await list()).toBe('251')
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    expect(await list()).toBe('0')
  })
})
