import { limits } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const as = { as: 'bob' }

/** bob in a group of alice's for each name, each with something said. */
async function createGroups(...guids: string[]): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  for (const guid of guids) {
    await createGroup(world, guid, 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', guid, 'hi')
  }
  return world
}

describe('What somebody does not see any more holds no place', () => {
  it('among their pinned conversations: the pin makes room, and can be dropped', async () => {
    const groups = ['a', 'b', 'c', 'd', 'e']
    const world = await createGroups(...groups)
    await say(world, 'alice', 'bob', 'hi')
    for (const guid of groups) dataOf(await world.post(`/groups/${guid}/conversation/pin`, undefined, as))
    const pin = async () => refusal(await world.post('/users/alice/conversation/pin', undefined, as))
    expect(await pin()).toBe('400 ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
    for (const guid of ['a', 'b']) dataOf(await world.delete(`/groups/${guid}/members/bob`))
    const dropped = await world.delete('/groups/a/conversation/pin', undefined, as)
    expect(dataOf(dropped)).toEqual({ conversationId: 'group_a', conversationType: 'group' })
    expect(refusal(await world.delete('/groups/a/conversation/pin', undefined, as))).toBe(
      '403 ERR_CONVERSATION_NOT_ACCESSIBLE',
    )
    expect(await pin()).toBe('200 undefined')
    await createGroup(world, 'f', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'f', 'hi')
    dataOf(await world.post('/groups/f/conversation/pin', undefined, as))
    const pinned = dataOf(await world.get('/conversations', as)).filter((one: { pinnedAt?: number }) => one.pinnedAt)
    expect(pinned).toHaveLength(limits.pinnedConversationsPerUser)
  })

  it('among their pinned conversations: neither one that the app has pinned meanwhile, nor one that was reset', async () => {
    const groups = ['a', 'b', 'c', 'd', 'e']
    const world = await createGroups(...groups, 'f', 'g', 'h')
    for (const guid of groups) dataOf(await world.post(`/groups/${guid}/conversation/pin`, undefined, as))
    const pin = async (guid: string) => refusal(await world.post(`/groups/${guid}/conversation/pin`, undefined, as))
    expect(await pin('f')).toBe('400 ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
    dataOf(await world.put('/conversations/pinned', { pinnedConversations: [{ guid: 'a' }] }))
    expect(await pin('f')).toBe('200 undefined')
    expect(await pin('g')).toBe('400 ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
    dataOf(await world.delete('/groups/b/conversation', undefined, as))
    expect(await pin('g')).toBe('200 undefined')
    expect(await pin('h')).toBe('400 ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED')
  })

  it('among what they have saved: it makes room, and can be taken off the list', async () => {
    const world = await createGroups('team')
    const save = async (id: string) => refusal(await world.post(`/messages/${id}/save`, undefined, as))
    const inTeam: string[] = []
    for (let i = 0; i < limits.savedMessagesPerUser; i++) {
      const { id } = await sayInGroup(world, 'alice', 'team', `${i}`)
      inTeam.push(id)
      expect(await save(id)).toBe('200 undefined')
    }
    const { id } = await say(world, 'alice', 'bob', 'keep this')
    expect(await save(id)).toBe('400 ERR_SAVED_MESSAGES_LIMIT_EXCEEDED')
    dataOf(await world.delete('/groups/team/members/bob'))
    const unsave = (one: string | undefined) => world.delete(`/messages/${one}/save`, undefined, as)
    const [first] = inTeam
    const taken = dataOf(await unsave(first))
    expect(taken).toMatchObject({ id: first, data: {} })
    expect(taken).not.toHaveProperty('savedAt')
    expect(refusal(await unsave(first))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await save(id)).toBe('200 undefined')
    const next = await say(world, 'alice', 'bob', 'and this')
    expect(await save(next.id)).toBe('200 undefined')
    expect(texts(await world.get('/messages?saved=1', as))).toEqual(['keep this', 'and this'])
  })
})

describe('Marking unread', () => {
  it('goes back to the newest message that they see, and counts no other', async () => {
    const world = await createGroups('team')
    const unread = async (path: string) => dataOf(await world.get(`${path}/conversation`, as)).unreadMessageCount
    const old = [await say(world, 'alice', 'bob', 'one'), await say(world, 'alice', 'bob', 'two')]
    dataOf(await world.delete('/users/alice/conversation', { preserveOrder: true }, as))
    dataOf(await world.delete('/users/alice/conversation/read', {}, as))
    for (const { id } of old) {
      const mark = (method: string) => world.call(method, '/users/alice/conversation/read', { messageId: id }, as)
      expect(refusal(await mark('DELETE'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
      expect(refusal(await mark('POST'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
    expect(await unread('/users/alice')).toBe('0')
    await say(world, 'alice', 'bob', 'three')
    expect(await unread('/users/alice')).toBe('1')

    const permissions = { 'listMessages.allowedMessageTypes': ['text'] }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    dataOf(await world.post('/groups/team/conversation/read', {}, as))
    await sayInGroup(world, 'alice', 'team', 'words')
    const image = { type: 'image', data: { url: 'https://example.com/a.png' } }
    for (let i = 0; i < 3; i++) await sayInGroup(world, 'alice', 'team', '', image)
    expect(await unread('/groups/team')).toBe('1')
    dataOf(await world.post('/groups/team/conversation/read', {}, as))
    expect(await unread('/groups/team')).toBe('0')
    dataOf(await world.delete('/groups/team/conversation/read', {}, as))
    expect(await unread('/groups/team')).toBe('1')
    expect(dataOf(await world.get('/messages?unread=1&count=1', as))).toContainEqual({
      entityId: 'team',
      entityType: 'group',
      count: 1,
    })
  })
})

describe('Who may not know of it', () => {
  it('is answered of a private group what is answered of an unknown one, whatever they ask and however they write it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const join = { ...as }
    const asks: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
      ['GET', '/groups/SecretGrp'],
      ['PUT', '/groups/SecretGrp', { name: 'x' }],
      ['DELETE', '/groups/SecretGrp'],
      ['POST', '/groups/SecretGrp/members', {}],
      ['POST', '/groups/SecretGrp/members', { password: 'x' }],
      ['GET', '/groups/SecretGrp/members'],
      ['DELETE', '/groups/SecretGrp/members'],
      ['DELETE', '/groups/SecretGrp/members/nobody'],
      ['PUT', '/groups/SecretGrp/members/nobody', { scope: 'admin' }],
      ['POST', '/groups/SecretGrp/bannedusers/nobody'],
      ['DELETE', '/groups/SecretGrp/bannedusers/nobody'],
      ['PATCH', '/groups/SecretGrp/owner', { owner: 'nobody' }],
      ['GET', '/groups/SecretGrp/messages'],
      ['GET', '/groups/SecretGrp/threads'],
      ['GET', '/groups/SecretGrp/bannedusers'],
      ['GET', '/groups/SecretGrp/conversation'],
      ['POST', '/groups/SecretGrp/conversation/read', {}],
      ['POST', '/groups/SecretGrp/conversation/pin'],
      ['DELETE', '/groups/SecretGrp/conversation/pin'],
      ['GET', '/conversations/group_SecretGrp'],
      ['DELETE', '/conversations/group_SecretGrp'],
      ['GET', '/conversations/alice_user_carol'],
      ['POST', '/messages', { receiver: 'SecretGrp', receiverType: 'group', data: { text: 'x' } }],
    ]
    const answers = async () => {
      const all: unknown[] = []
      for (const [method, path, body] of asks) {
        const { status, body: answer } = await world.call(method, path, body, join)
        all.push([method, path, status, answer])
      }
      return all
    }
    const before = await answers()
    for (const [, , status] of before as Array<[string, string, number]>) expect(status).toBe(404)
    await createUsers(world, 'carol')
    await createGroup(world, 'SecretGrp', 'alice', { participants: ['carol'] }, { type: 'private' })
    await sayInGroup(world, 'alice', 'secretgrp', 'psst')
    await say(world, 'alice', 'carol', 'psst')
    expect(await answers()).toEqual(before)
    dataOf(await world.post('/groups/secretgrp/bannedusers/bob', {}))
    expect(await answers()).toEqual(before)
  })
})

describe('A thread', () => {
  it('counts the replies that somebody sees, and those of them that are unread or mention them', async () => {
    const world = await createGroups('team')
    const parent = await sayInGroup(world, 'alice', 'team', 'parent')
    await sayInGroup(world, 'alice', 'team', 'reply for <@uid:bob>', { parentId: parent.id })
    const image = { type: 'image', data: { url: 'https://example.com/a.png', text: 'for <@uid:bob>' } }
    for (let i = 0; i < 2; i++) await sayInGroup(world, 'alice', 'team', '', { ...image, parentId: parent.id })
    const counts = async (uid: string) => {
      const { replyCount, unreadRepliesCount } = dataOf(await world.get(`/messages/${parent.id}`, { as: uid }))
      const [thread] = dataOf(await world.get('/threads?withUnreadReplyCount=1&withMentionCount=1', { as: uid }))
      expect(thread).toMatchObject({ replyCount, unreadReplyCount: unreadRepliesCount })
      return [replyCount, unreadRepliesCount, thread.mentionCount]
    }
    expect(await counts('bob')).toEqual([3, 3, 3])
    const permissions = { 'listMessages.allowedMessageTypes': ['text'] }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    expect(await counts('bob')).toEqual([1, 1, 1])
    expect(await counts('alice')).toEqual([3, 0, 0])
  })

  it('lists its replies only, not the actions of their edits', async () => {
    const world = await createGroups('team')
    const parent = await sayInGroup(world, 'alice', 'team', 'parent')
    const reply = await sayInGroup(world, 'bob', 'team', 'reply', { parentId: parent.id })
    dataOf(await world.put(`/messages/${reply.id}`, { data: { text: 'edited' } }, as))
    for (const asked of [as, {}]) {
      expect(texts(await world.get(`/messages/${parent.id}/thread`, asked))).toEqual(['edited'])
      const counted = dataOf(await world.get(`/messages/${parent.id}/thread?count=1`, asked))
      expect(counted).toMatchObject([{ count: 1 }])
    }
  })
})
