import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { releaseMessage } from '../../src/areas/messages/index.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { addRules } from '../support/held.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const added: Array<() => void> = []
afterEach(() => {
  for (const remove of added.splice(0)) remove()
})

const judgedWorld = async (): Promise<World> => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  added.push(addRules(world))
  return world
}
const byReviewer = { by: { reviewer: 'rita' } } as const
const release = (world: World, message: { id: string }, how: object = {}) =>
  releaseMessage(world.context, world.app, Number(message.id), { ...byReviewer, ...how })
const read = async (world: World, id: string, as?: string) =>
  dataOf(await world.get(`/messages/${id}`, as === undefined ? {} : { as }))
const unreadOf = async (world: World, as: string, peer: string) =>
  dataOf(await world.get(`/users/${peer}/conversation`, { as })).unreadMessageCount
const markRead = async (world: World, as: string, peer: string) =>
  dataOf(await world.post(`/users/${peer}/conversation/read`, {}, { as }))
/** Makes stored times older, so that what comes now is later. */
const age = (world: World, seconds: number) =>
  world.context.database.run(sql`
    with moved as (
      update messages set sent_at = sent_at - ${seconds}, updated_at = updated_at - ${seconds} where app_id = ${world.app.appId}
    ), states as (
      update conversation_states
      set delivered_sent_at = greatest(delivered_sent_at - ${seconds}, 0), read_sent_at = greatest(read_sent_at - ${seconds}, 0),
        unread_sent_at = greatest(unread_sent_at - ${seconds}, 0), counted_sent_at = greatest(counted_sent_at - ${seconds}, 0)
      where app_id = ${world.app.appId}
    ), held as (
      update message_moderation set held_from = held_from - ${seconds} where app_id = ${world.app.appId}
    )
    update conversations set last_sent_at = last_sent_at - ${seconds}, listed_sent_at = listed_sent_at - ${seconds}
    where app_id = ${world.app.appId}`)

describe('A message that is released', () => {
  it('keeps its id, comes to the end, tells since when it was held, and counts as unread', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'bob', 'alice', 'one')
    await say(world, 'alice', 'bob', 'two')
    await age(world, 100)
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
    const released = await release(world, held)
    expect(released).toMatchObject({ released: true })
    const found = await read(world, held.id, 'bob')
    expect(found.data.moderation).toEqual({ status: 'approved', heldFrom: held.sentAt - 100 })
    expect(found.sentAt).toBeGreaterThanOrEqual(held.sentAt)
    expect(found.updatedAt).toBe(found.sentAt)
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['one', 'two', 'bad'])
    expect(await unreadOf(world, 'bob', 'alice')).toBe('2')
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(conversation.lastMessage.id).toBe(held.id)
    expect(conversation.updatedAt).toBe(found.sentAt)
  })

  it('comes one second after the last message where its id would fall behind it', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await world.context.database.run(
      sql`update conversations set last_sent_at = last_sent_at where app_id = ${world.app.appId}`,
    )
    const last = await say(world, 'bob', 'alice', 'one')
    // A last message in the future, so that "now" lies before it.
    await age(world, -1000)
    await release(world, held)
    expect((await read(world, held.id)).sentAt).toBe(last.sentAt + 1001)
    const next = await say(world, 'bob', 'alice', 'two')
    expect(next.sentAt).toBe(last.sentAt + 1001)
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['one', 'bad', 'two'])
  })

  it('is not before what others have read', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'alice', 'bob', 'one')
    await markRead(world, 'bob', 'alice')
    await release(world, held)
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
    expect((await read(world, held.id)).readAt).toBeUndefined()
    await markRead(world, 'bob', 'alice')
    expect((await read(world, held.id)).readAt).toBeDefined()
  })

  it('reads nothing for its sender; their next message does', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    const one = await say(world, 'bob', 'alice', 'one')
    await release(world, held)
    expect(await unreadOf(world, 'alice', 'bob')).toBe('1')
    expect((await read(world, one.id)).readAt).toBeUndefined()
    await say(world, 'alice', 'bob', 'two')
    expect(await unreadOf(world, 'alice', 'bob')).toBe('0')
    expect((await read(world, one.id)).readAt).toBeDefined()
  })

  it('in a group is read by all once everybody else has read it', async () => {
    const world = await judgedWorld()
    await createUsers(world, 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await sayInGroup(world, 'alice', 'team', 'hi')
    const held = await sayInGroup(world, 'alice', 'team', 'bad')
    await release(world, held)
    for (const as of ['bob', 'carol']) {
      expect((await read(world, held.id)).readAt).toBeUndefined()
      dataOf(await world.post('/groups/team/conversation/read', {}, { as }))
    }
    expect((await read(world, held.id)).readAt).toBeDefined()
  })

  it('as a reply counts in its thread, and moves it', async () => {
    const world = await judgedWorld()
    const parent = await say(world, 'bob', 'alice', 'parent')
    const held = await say(world, 'alice', 'bob', 'bad reply', { parentId: parent.id })
    await say(world, 'bob', 'alice', 'reply', { parentId: parent.id })
    await release(world, held)
    expect((await read(world, parent.id)).replyCount).toBe(2)
    expect(texts(await world.get(`/messages/${parent.id}/thread`, { as: 'bob' }))).toEqual(['reply', 'bad reply'])
  })

  it('is found by its text', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'a bad needle')
    const find = async () => texts(await world.get('/users/alice/messages?searchKey=needle', { as: 'bob' }))
    expect(await find()).toEqual([])
    await release(world, held)
    expect(await find()).toEqual(['a bad needle'])
  })

  it('is told in the events as sent, in its place', async () => {
    const world = await judgedWorld()
    const puller = await pullEvents(world)
    const held = await say(world, 'alice', 'bob', 'bad <@uid:bob>')
    const ofNobody = await say(world, 'alice', 'bob', 'bad <@uid:nobody>')
    const waiting = await say(world, 'alice', 'bob', 'wait')
    await say(world, 'alice', 'bob', 'one')
    await puller.since()
    await release(world, held)
    await release(world, ofNobody)
    await releaseMessage(world.context, world.app, Number(waiting.id), { by: 'engine' })
    expect((await puller.told()).map(({ trigger, data }) => [trigger, data.message.id])).toEqual([
      ['message_sent', held.id],
      ['user_mentioned', held.id],
      ['message_sent', ofNobody.id],
      ['message_sent', waiting.id],
      ['moderation_engine_approved', waiting.id],
    ])
  })

  it('at its old place is told to nobody and never counts', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'alice', 'bob', 'one')
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
    const puller = await pullEvents(world)
    expect(await release(world, held, { asNew: false })).toMatchObject({ released: true, sentAt: held.sentAt })
    expect(await puller.told()).toEqual([])
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['bad', 'one'])
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
    expect((await read(world, held.id, 'bob')).data.moderation).toEqual({ status: 'approved', heldFrom: held.sentAt })
  })

  it('at its old place may be the last of its conversation, or the first', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await release(world, held, { asNew: false })
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(conversation.lastMessage.id).toBe(held.id)
    expect(conversation.unreadMessageCount).toBe('0')
    const next = await say(world, 'alice', 'bob', 'one')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['bad', 'one'])
    expect(dataOf(await world.get('/users/alice/conversation', { as: 'bob' })).lastMessage.id).toBe(next.id)
  })

  it('is released once: again, deleted, or unknown it is refused politely', async () => {
    const world = await judgedWorld()
    const [held, gone] = [await say(world, 'alice', 'bob', 'bad'), await say(world, 'alice', 'bob', 'bad')]
    const both = await Promise.all([release(world, held), release(world, held)])
    expect(both.filter((one) => 'released' in one)).toHaveLength(1)
    expect(await release(world, held)).toMatchObject({ because: 'decided' })
    dataOf(await world.delete(`/messages/${gone.id}`, {}, { as: 'alice' }))
    expect(await release(world, gone)).toMatchObject({ because: 'deleted' })
    expect(await release(world, { id: '999999999999' })).toMatchObject({ because: 'unknown' })
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
  })
})

describe('What may no longer be written stays held, and who decides is told why', () => {
  /** Lets something happen to the world, and releases what was held before. */
  const refusedAfter = async (
    change: (world: World) => Promise<unknown>,
    { inGroup = false, extra = (_: World): Promise<object> => Promise.resolve({}) } = {},
  ) => {
    const world = await judgedWorld()
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    const more = await extra(world)
    const held = inGroup
      ? await sayInGroup(world, 'alice', 'team', 'bad', more)
      : await say(world, 'alice', 'bob', 'bad', more)
    await change(world)
    const done = await release(world, held)
    const [row] = await world.context.database.run<{ traits: number }>(
      sql`select traits from messages where app_id = ${world.app.appId} and id = ${Number(held.id)}`,
    )
    expect(row === undefined || (row.traits & 16_384) !== 0).toBe(true)
    return 'refused' in done ? (done.error?.code ?? done.because) : 'released'
  }
  const ok = async (answer: ReturnType<World['post']>) => dataOf(await answer)

  it('where one has blocked the other', async () => {
    expect(await refusedAfter((world) => ok(world.post('/users/bob/blockedusers', { blockedUids: ['alice'] })))).toBe(
      'ERR_BLOCKED_SENDER',
    )
    expect(await refusedAfter((world) => ok(world.post('/users/alice/blockedusers', { blockedUids: ['bob'] })))).toBe(
      'ERR_BLOCKED_RECEIVER',
    )
  })

  it('where the sender or the receiver is deactivated', async () => {
    for (const uid of ['alice', 'bob']) {
      expect(await refusedAfter((world) => ok(world.delete(`/users/${uid}`, {})))).toBe('ERR_UID_NOT_FOUND')
    }
  })

  it('where the sender has left the group, was banned from it, or may not write there any more', async () => {
    const inGroup = { inGroup: true }
    expect(await refusedAfter((world) => ok(world.delete('/groups/team/members/alice', {})), inGroup)).toBe(
      'ERR_GROUP_NOT_JOINED',
    )
    expect(await refusedAfter((world) => ok(world.post('/groups/team/bannedusers/alice', {})), inGroup)).toBe(
      'ERR_BANNED_GROUPMEMBER',
    )
    const permissions = { sendMessage: 'deny' }
    expect(
      await refusedAfter(
        (world) => ok(world.put('/groups/team/scopes/participant/permissions', { permissions })),
        inGroup,
      ),
    ).toBe('ERR_PERMISSION_DENIED')
  })

  it('where its parent is gone', async () => {
    let parent = ''
    const extra = async (world: World) => {
      parent = (await say(world, 'bob', 'alice', 'parent')).id
      return { parentId: parent }
    }
    expect(
      await refusedAfter((world) => ok(world.delete(`/messages/${parent}`, { permanent: true }, { as: 'bob' })), {
        extra,
      }),
    ).toBe('ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('and can be released when it may be written again', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(await release(world, held)).toMatchObject({ because: 'forbidden' })
    dataOf(await world.delete('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(await release(world, held)).toMatchObject({ released: true })
    expect(refusal(await world.get(`/messages/${held.id}`, { as: 'bob' }))).toBe('200 undefined')
  })
})

describe('A late answer of an engine', () => {
  it('changes nothing where somebody has decided meanwhile, and is logged', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'wait')
    await release(world, held)
    const late = await releaseMessage(world.context, world.app, Number(held.id), { by: 'engine', generation: 1 })
    expect(late).toMatchObject({ because: 'late' })
    const decisions = await world.context.database.run<{ lane: string; decision: string }>(
      sql`select lane, decision from moderation_decisions where app_id = ${world.app.appId} order by id`,
    )
    expect(decisions).toEqual([
      { lane: 'manual', decision: 'approved' },
      { lane: 'two', decision: 'late' },
    ])
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
  })
})
