import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { groupText, importWell } from '../support/imports.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const unknown = '404 ERR_MESSAGE_ID_NOT_FOUND'
const png = { type: 'image', data: { url: 'https://example.com/a.png' } }

async function createTeam(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

const limitScope = async (world: World, permissions: object) =>
  dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
const limitRole = async (world: World, permissions: object) =>
  dataOf(await world.put('/roles/default/permissions', { permissions }))

const conversation = async (world: World, as: string) => dataOf(await world.get('/groups/team/conversation', { as }))
const listed = async (world: World, as: string) => dataOf(await world.get('/conversations', { as }))

describe('What a scope may not see in lists', () => {
  it('is no last message either, of one conversation and in their list, and keeps its place', async () => {
    const world = await createTeam()
    await sayInGroup(world, 'alice', 'team', 'words')
    await limitScope(world, { 'listMessages.allowedMessageTypes': ['text'] })
    expect((await conversation(world, 'bob')).lastMessage.data.text).toBe('words')
    const picture = await sayInGroup(world, 'alice', 'team', '', png)
    expect((await conversation(world, 'bob')).lastMessage).toBeUndefined()
    const [first] = await listed(world, 'bob')
    expect(first).toMatchObject({ conversationId: 'group_team', updatedAt: picture.sentAt })
    expect(first.lastMessage).toBeUndefined()
    expect((await conversation(world, 'alice')).lastMessage.id).toBe(picture.id)
    expect((await listed(world, 'alice'))[0].lastMessage.id).toBe(picture.id)
    const sides = dataOf(await world.get('/conversations'))
    expect(sides.map((side: { lastMessage: { id: string } }) => side.lastMessage.id)).toEqual([picture.id, picture.id])
    await limitScope(world, { 'listMessages.allowedMessageTypes': ['text', 'image'] })
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(picture.id)
  })

  it('is not quoted, in lists, single messages and threads', async () => {
    const world = await createTeam()
    const picture = await sayInGroup(world, 'alice', 'team', '', png)
    const quoting = await sayInGroup(world, 'alice', 'team', 'look', { quotedMessageId: picture.id })
    const reply = await sayInGroup(world, 'alice', 'team', 'and again', {
      quotedMessageId: picture.id,
      parentId: quoting.id,
    })
    const quotes = async (as: string) => {
      const page = dataOf(await world.get('/groups/team/messages?type=text', { as }))
      const one = dataOf(await world.get(`/messages/${quoting.id}`, { as }))
      const [thread] = dataOf(await world.get('/threads', { as }))
      const saved = dataOf(await world.post(`/messages/${quoting.id}/save`, undefined, { as }))
      const liked = dataOf(await world.post(`/messages/${quoting.id}/reactions/x`, undefined, { as }))
      const last = (await conversation(world, as)).lastMessage
      const all = [...page, one, thread, thread.lastReply, saved, liked, last]
      expect(all.map(({ quotedMessageId }) => quotedMessageId)).toEqual(all.map(() => picture.id))
      expect(last.id).toBe(reply.id)
      return new Set(all.map(({ quotedMessage }) => quotedMessage?.id))
    }
    expect(await quotes('bob')).toEqual(new Set([picture.id]))
    await limitScope(world, { 'listMessages.allowedMessageTypes': ['text'] })
    expect(await quotes('bob')).toEqual(new Set([undefined]))
    expect(await quotes('alice')).toEqual(new Set([picture.id]))
    const asking = { receiver: 'team', receiverType: 'group', data: { text: 'what is it?' } }
    for (const named of ['quotedMessageId', 'parentId']) {
      const answer = await world.post('/messages', { ...asking, [named]: picture.id }, { as: 'bob' })
      expect(refusal(answer), named).toBe(unknown)
    }
    const hers = await sayInGroup(world, 'alice', 'team', 'this', { quotedMessageId: picture.id })
    const [listed] = dataOf(await world.get('/groups/team/messages?affix=prepend&limit=1', { as: 'alice' }))
    expect(listed.quotedMessage).toEqual(hers.quotedMessage)
  })

  it('cannot be opened by its id, nor used, but for what he wrote himself', async () => {
    const world = await createTeam()
    const [hers, his] = [
      await sayInGroup(world, 'alice', 'team', '', png),
      await sayInGroup(world, 'bob', 'team', '', png),
    ]
    await limitScope(world, { 'listMessages.allowedMessageTypes': ['text'] })
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/reactions'],
      ['POST', '/reactions/x'],
      ['POST', '/pin'],
      ['POST', '/save'],
      ['GET', '/thread'],
      ['POST', '/thread/subscription'],
    ] as const) {
      const use = async (id: string, as?: string) =>
        refusal(await world.call(method, `/messages/${id}${path}`, undefined, as === undefined ? {} : { as }))
      expect(await use(hers.id, 'bob'), path).toBe(unknown)
      expect(await use(his.id, 'bob'), path).toBe('200 undefined')
      expect(await use(hers.id, 'alice'), path).toBe('200 undefined')
    }
    expect(refusal(await world.get(`/messages/${hers.id}`))).toBe('200 undefined')
  })

  it('is, without the history before he joined, what was said before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', {}, {})
    const { old } = await importWell(world, 'messages', [groupText('old', 'alice', 'team', 1_600_000_000)])
    dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
    const quoting = await sayInGroup(world, 'alice', 'team', 'as I said', { quotedMessageId: old.id })
    expect(dataOf(await world.get(`/messages/${quoting.id}`, { as: 'bob' })).quotedMessage.id).toBe(old.id)
    await limitScope(world, { 'listMessages.historyBeforeJoin': 'deny' })
    expect(texts(await world.get('/groups/team/messages?category=message', { as: 'bob' }))).toEqual(['as I said'])
    expect(dataOf(await world.get(`/messages/${quoting.id}`, { as: 'bob' })).quotedMessage).toBeUndefined()
    expect(refusal(await world.get(`/messages/${old.id}`, { as: 'bob' }))).toBe(unknown)
    expect(refusal(await world.get(`/messages/${old.id}`, { as: 'alice' }))).toBe('200 undefined')
  })
})

describe('What a role may not see in lists', () => {
  it('is no last message, is not quoted, and is not found by its id', async () => {
    const world = await createTeam()
    const hers = await say(world, 'alice', 'bob', 'hers')
    const his = await say(world, 'bob', 'alice', 'his', { quotedMessageId: hers.id })
    const next = await say(world, 'alice', 'bob', 'next', { quotedMessageId: his.id })
    const talk = async () => dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect((await talk()).lastMessage).toMatchObject({ id: next.id, quotedMessage: { id: his.id } })
    await limitRole(world, { 'listMessages.mode': 'friends' })
    expect((await talk()).lastMessage).toBeUndefined()
    const [only] = dataOf(await world.get('/users/alice/messages', { as: 'bob' }))
    expect(only).toMatchObject({ id: his.id, quotedMessageId: hers.id })
    expect(only.quotedMessage).toBeUndefined()
    expect(refusal(await world.get(`/messages/${hers.id}`, { as: 'bob' }))).toBe(unknown)
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    expect((await talk()).lastMessage).toMatchObject({ id: next.id, quotedMessage: { id: his.id } })
  })
})

describe('The last message of a conversation', () => {
  it('shows what is private to him who asks', async () => {
    const world = await createTeam()
    const { id } = await say(world, 'alice', 'bob', 'last')
    dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'bob' }))
    dataOf(await world.post(`/messages/${id}/save`, undefined, { as: 'bob' }))
    const lastOf = async (path: string, as: string) => dataOf(await world.get(path, { as }))
    const his = (await lastOf('/users/alice/conversation', 'bob')).lastMessage
    expect(his).toMatchObject({
      savedAt: expect.any(Number),
      reactions: [{ reaction: 'x', count: 1, reactedByMe: true }],
    })
    const hers = (await lastOf('/users/bob/conversation', 'alice')).lastMessage
    expect(hers.reactions).toEqual([{ reaction: 'x', count: 1 }])
    expect(hers).not.toHaveProperty('savedAt')
    expect((await lastOf('/conversations', 'bob'))[0].lastMessage).toEqual(his)
    for (const { lastMessage } of dataOf(await world.get('/conversations'))) expect(lastMessage).toEqual(hers)
  })
})
