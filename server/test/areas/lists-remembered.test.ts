import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { importWell, text, usersNamed } from '../support/imports.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/**
 * Lists that are answered by one statement where nothing is asked for besides, each with the same list asked for in a way
 * that says nothing more, but is not that.
 */
const lists = {
  unread: ['/messages?unread=true&count=true', '&hideReplies=false'],
  conversations: ['/conversations?perPage=3', '&page=1'],
  threads: ['/threads?limit=2&withUnreadReplyCount=true', '&participatedByMe=false'],
} as const

/** A list, which must be the one that is composed. */
async function read(world: World, name: keyof typeof lists, as: string) {
  const [path, saidBesides] = lists[name]
  const [answer, composed] = [await world.get(path, { as }), await world.get(`${path}${saidBesides}`, { as })]
  expect(answer.status).toBe(composed.status)
  expect(answer.body.data).toEqual(composed.body.data)
  expect(answer.body.meta).toEqual(composed.body.meta)
  expect(answer.body.error?.code).toEqual(composed.body.error?.code)
  return answer
}

async function unreadOf(world: World, as: string): Promise<Record<string, number>> {
  const counts: Array<{ entityId: string; count: number }> = dataOf(await read(world, 'unread', as))
  for (const name of ['conversations', 'threads'] as const) expect((await read(world, name, as)).status).toBe(200)
  return Object.fromEntries(counts.map(({ entityId, count }) => [entityId, count]))
}

describe('What is unread of all conversations', () => {
  it('is counted as it is now', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    expect(await unreadOf(world, 'alice')).toEqual({})
    await say(world, 'bob', 'alice', 'one')
    const second = await say(world, 'bob', 'alice', 'two')
    await say(world, 'alice', 'carol', 'mine')
    const first = await sayInGroup(world, 'bob', 'team', 'to all')
    await sayInGroup(world, 'carol', 'team', 'to all, too')
    expect(await unreadOf(world, 'alice')).toEqual({ bob: 2, team: 2 })
    expect(await unreadOf(world, 'carol')).toEqual({ alice: 1 })

    dataOf(await world.delete(`/messages/${second.id}`, {}, { as: 'bob' }))
    expect(await unreadOf(world, 'alice')).toEqual({ bob: 1, team: 2 })
    dataOf(await world.post('/users/bob/conversation/read', {}, { as: 'alice' }))
    expect(await unreadOf(world, 'alice')).toEqual({ team: 2 })
    await say(world, 'bob', 'alice', 'three')
    dataOf(await world.delete('/groups/team/conversation', {}, { as: 'alice' }))
    expect(await unreadOf(world, 'alice')).toEqual({ bob: 1 })
    await sayInGroup(world, 'bob', 'team', 'to all, again')
    expect(await unreadOf(world, 'alice')).toEqual({ bob: 1, team: 1 })
    dataOf(await world.post(`/messages/${first.id}/thread`, replyTo('team'), { as: 'bob' }))
    expect(await unreadOf(world, 'alice')).toEqual({ bob: 1, team: 2 })
    expect(await unreadOf(world, 'carol')).toEqual({ alice: 1, team: 2 })
    dataOf(await world.delete('/groups/team/members/carol'))
    expect(await unreadOf(world, 'carol')).toEqual({ alice: 1 })
  })

  it('is what somebody sees, and refused to who is gone', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const parent = await sayInGroup(world, 'alice', 'team', 'hello')
    dataOf(await world.post(`/messages/${parent.id}/thread`, replyTo('team'), { as: 'alice' }))
    expect(await unreadOf(world, 'bob')).toEqual({ team: 2 })
    expect(dataOf(await read(world, 'threads', 'bob'))).toHaveLength(1)
    const permissions = { 'listMessages.allowedMessageTypes': ['image'], listThreadedMessages: 'deny' }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    expect(await unreadOf(world, 'bob')).toEqual({})
    expect(dataOf(await read(world, 'threads', 'bob'))).toHaveLength(0)
    await world.delete('/users/bob')
    for (const name of ['unread', 'conversations', 'threads'] as const) {
      expect(refusal(await read(world, name, 'bob'))).toBe('404 ERR_UID_NOT_FOUND')
    }
  })

  it('is remembered where it is much', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const messages = times(250, (i) => text(`m${i}`, 'bob', 'alice', sentAt + i))
    await importWell(world, 'messages', messages)
    for (let i = 0; i < 2; i++) expect(await unreadOf(world, 'alice')).toEqual({ bob: 250 })
    await say(world, 'bob', 'alice', 'one more')
    expect(await unreadOf(world, 'alice')).toEqual({ bob: 251 })
  })

  it('is the same for who takes part in much', async () => {
    const world = await createWorld()
    const uids = times(210, (i) => `u${i}`)
    await importWell(world, 'users', usersNamed('busy', ...uids))
    const messages = uids.map((uid, i) => text(`m${i}`, uid, 'busy', sentAt + i))
    await importWell(world, 'messages', messages)
    await createGroup(world, 'team', 'busy', { participants: ['u1'] })
    const parent = await sayInGroup(world, 'u1', 'team', 'hello')
    dataOf(await world.post(`/messages/${parent.id}/thread`, replyTo('team'), { as: 'u1' }))
    dataOf(await world.post('/users/u7/conversation/read', {}, { as: 'busy' }))
    const unread = await unreadOf(world, 'busy')
    expect(Object.keys(unread)).toHaveLength(210)
    expect(unread).toMatchObject({ team: 2, u1: 1, u209: 1 })
    expect(unread.u7).toBeUndefined()
    const list = await read(world, 'conversations', 'busy')
    expect(list.body.meta.pagination.total).toBe(211)
    expect(dataOf(list)[0].conversationId).toBe('group_team')
  })
})

const sentAt = 1_700_000_000

const times = <Value>(count: number, make: (i: number) => Value): Value[] =>
  Array.from({ length: count }, (_, i) => make(i))

const replyTo = (receiver: string) => ({
  receiver,
  receiverType: 'group',
  category: 'message',
  type: 'text',
  data: { text: 'a reply' },
})
