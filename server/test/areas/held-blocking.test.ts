import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { blockMessage, releaseMessage, restoreMessage } from '../../src/areas/messages/index.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { addRules, asking, hitOf } from '../support/held.ts'
import { importWell, text } from '../support/imports.ts'
import { connect } from '../support/socket.ts'
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
const block = (world: World, { id }: { id: string }, how: object = {}) =>
  blockMessage(world.context, world.app, Number(id), { ...byReviewer, ...how })
const restore = (world: World, { id }: { id: string }) =>
  restoreMessage(world.context, world.app, Number(id), byReviewer)
const read = async (world: World, { id }: { id: string }, as = 'bob') =>
  dataOf(await world.get(`/messages/${id}`, { as }))
const conversation = async (world: World, as: string) =>
  dataOf(await world.get(`/users/${as === 'bob' ? 'alice' : 'bob'}/conversation`, { as }))
const history = async (world: World, as: string) =>
  texts(await world.get(`/users/${as === 'bob' ? 'alice' : 'bob'}/messages`, { as }))

describe('A message that was seen and is blocked', () => {
  it('leaves every view but its sender, and comes back to its old place, silently', async () => {
    const world = await judgedWorld()
    await say(world, 'alice', 'bob', 'one')
    const sent = await say(world, 'alice', 'bob', 'two')
    await say(world, 'alice', 'bob', 'three')
    expect((await conversation(world, 'bob')).unreadMessageCount).toBe('3')
    expect(await block(world, sent)).toEqual({ blocked: true, wasVisible: true })
    expect(await history(world, 'bob')).toEqual(['one', 'three'])
    expect(await history(world, 'alice')).toEqual(['one', 'two', 'three'])
    expect((await conversation(world, 'bob')).unreadMessageCount).toBe('2')
    expect(refusal(await world.get(`/messages/${sent.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect((await read(world, sent, 'alice')).data.moderation).toEqual({ status: 'disapproved' })

    const puller = await pullEvents(world)
    expect(await restore(world, sent)).toEqual({ restored: true })
    expect(await history(world, 'bob')).toEqual(['one', 'two', 'three'])
    expect((await conversation(world, 'bob')).unreadMessageCount).toBe('3')
    expect((await read(world, sent)).sentAt).toBe(sent.sentAt)
    expect((await read(world, sent)).data.moderation).toEqual({ status: 'approved' })
    expect(await puller.told()).toEqual([])
  })

  it('as the last one leaves its place to the one before, and takes it again', async () => {
    const world = await judgedWorld()
    const first = await say(world, 'alice', 'bob', 'one')
    const last = await say(world, 'alice', 'bob', 'two')
    await block(world, last)
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(first.id)
    await block(world, first)
    expect(refusal(await world.get('/users/alice/conversation', { as: 'bob' }))).toBe(
      '403 ERR_CONVERSATION_NOT_ACCESSIBLE',
    )
    expect(dataOf(await world.get('/conversations', { as: 'bob' }))).toEqual([])
    await restore(world, last)
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(last.id)
    await restore(world, first)
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(last.id)
    expect((await conversation(world, 'bob')).unreadMessageCount).toBe('2')
  })

  it('as the only one leaves the conversation where a friendship had put it, and takes its place again', async () => {
    const world = await judgedWorld()
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'], addToConversations: true }))
    const listed = async (as: string) => dataOf(await world.get('/conversations', { as }))
    const [begun] = await listed('bob')
    const { old } = await importWell(world, 'messages', [text('old', 'alice', 'bob', 1_600_000_000)])
    const sent = await say(world, 'alice', 'bob', 'one')
    await block(world, sent)
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(old.id)
    await block(world, old)
    for (const as of ['alice', 'bob']) {
      const [{ lastMessage, updatedAt }, ...others] = await listed(as)
      expect([lastMessage, updatedAt, others]).toEqual([undefined, begun.updatedAt, []])
    }
    await restore(world, old)
    expect(await listed('bob')).toMatchObject([{ lastMessage: { id: old.id }, updatedAt: 1_600_000_000 }])
    await restore(world, sent)
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(sent.id)
  })

  it('as the only one takes the conversation along that was removed for both since the friendship', async () => {
    const world = await judgedWorld()
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'], addToConversations: true }))
    dataOf(await world.delete('/conversations/alice_user_bob', undefined, { as: 'alice' }))
    await block(world, await say(world, 'alice', 'bob', 'one'))
    expect(dataOf(await world.get('/conversations', { as: 'bob' }))).toEqual([])
  })

  it('stays out of what comes next, and where it was read stays read', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'one')
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    const { readAt } = await read(world, sent)
    await block(world, sent)
    const next = await say(world, 'alice', 'bob', 'two')
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(next.id)
    expect((await conversation(world, 'bob')).unreadMessageCount).toBe('1')
    await restore(world, sent)
    expect((await conversation(world, 'bob')).lastMessage.id).toBe(next.id)
    expect((await conversation(world, 'bob')).unreadMessageCount).toBe('1')
    expect((await read(world, sent)).readAt).toBe(readAt)
  })

  it('takes its thread, its pins and its saves with it, and as a reply leaves its thread', async () => {
    const world = await judgedWorld()
    const parent = await say(world, 'alice', 'bob', 'parent')
    const [one, two] = [
      await say(world, 'alice', 'bob', 'one', { parentId: parent.id }),
      await say(world, 'alice', 'bob', 'two', { parentId: parent.id }),
    ]
    dataOf(await world.post(`/messages/${two.id}/pin`, {}, { as: 'bob' }))
    dataOf(await world.post(`/messages/${two.id}/save`, {}, { as: 'bob' }))
    await block(world, two)
    expect((await read(world, parent)).replyCount).toBe(1)
    await block(world, one)
    expect((await read(world, parent)).replyCount).toBeUndefined()
    await restore(world, two)
    expect((await read(world, parent)).replyCount).toBe(1)
    expect(texts(await world.get(`/messages/${parent.id}/thread`, { as: 'bob' }))).toEqual(['two'])
    const rows = await world.context.database.run(sql`
      select message_id from pinned_messages where app_id = ${world.app.appId}
      union all select message_id from saved_messages where app_id = ${world.app.appId}`)
    expect(rows).toEqual([])
  })

  it('is not found by its text until it is restored', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'a needle')
    const find = async () => texts(await world.get('/users/alice/messages?searchKey=needle', { as: 'bob' }))
    expect(await find()).toEqual(['a needle'])
    await block(world, sent)
    expect(await find()).toEqual([])
    await restore(world, sent)
    expect(await find()).toEqual(['a needle'])
  })

  it('is told to open sockets as deleted, without content, and not to its sender; nothing of that is stored', async () => {
    const world = await judgedWorld()
    const [bob, alice] = [await connect(world, 'bob'), await connect(world, 'alice')]
    const sent = await say(world, 'alice', 'bob', 'a needle')
    await bob.takeText('a needle')
    await alice.takeText('a needle')
    await block(world, sent)
    const { body } = await bob.take((frame) => frame.body?.category === 'action')
    expect(body.data.action).toBe('deleted')
    expect(body.data.entities.on.entity).toMatchObject({ id: sent.id })
    expect(JSON.stringify(body)).not.toContain('needle')
    await say(world, 'bob', 'alice', 'after')
    await alice.takeText('after')
    expect(alice.frames.filter((frame) => frame.body?.category === 'action')).toEqual([])
    const list = dataOf(await world.get('/users/bob/messages', { as: 'alice' })) as Array<{ category: string }>
    expect(list.map(({ category }) => category)).toEqual(['message', 'message'])
  })

  it('in a group is told to the members', async () => {
    const world = await judgedWorld()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const bob = await connect(world, 'bob')
    const sent = await sayInGroup(world, 'alice', 'team', 'hi')
    await bob.takeText('hi')
    await block(world, sent)
    const { body } = await bob.take((frame) => frame.body?.category === 'action')
    expect(body.data).toMatchObject({ action: 'deleted', entities: { on: { entity: { id: sent.id } } } })
  })

  it('is one event in the log, as deleted, without content', async () => {
    const world = await judgedWorld()
    const puller = await pullEvents(world)
    const sent = await say(world, 'alice', 'bob', 'a needle')
    await puller.since()
    await block(world, sent)
    const told = await puller.told()
    expect(told.map(({ trigger }) => trigger)).toEqual(['message_deleted'])
    expect(told[0]?.data.message.data).toMatchObject({
      action: 'deleted',
      entities: { on: { entity: { id: sent.id } } },
    })
    expect(JSON.stringify(told)).not.toContain('needle')
  })

  it('is blocked once, and is not what an engine decides about', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'one')
    const both = await Promise.all([block(world, sent), block(world, sent)])
    expect(both.filter((one) => 'blocked' in one)).toHaveLength(1)
    expect(await block(world, sent)).toMatchObject({ because: 'decided' })
    const other = await say(world, 'alice', 'bob', 'two')
    expect(await block(world, other, { by: 'engine' })).toMatchObject({ because: 'late' })
    expect(await restore(world, other)).toMatchObject({ because: 'decided' })
    dataOf(await world.delete(`/messages/${other.id}`, {}, { as: 'alice' }))
    expect(await block(world, other)).toMatchObject({ because: 'deleted' })
  })

  it('that was released before comes back to where it was released to', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'alice', 'bob', 'one')
    await releaseMessage(world.context, world.app, Number(held.id), byReviewer)
    await block(world, held)
    expect(await history(world, 'bob')).toEqual(['one'])
    await restore(world, held)
    expect(await history(world, 'bob')).toEqual(['one', 'bad'])
    expect((await read(world, held)).data.moderation).toEqual({ status: 'approved', heldFrom: held.sentAt })
  })
})

describe('A message that waits and is blocked', () => {
  it('becomes disapproved with the rule, and nobody hears of it but the log', async () => {
    const world = await judgedWorld()
    const bob = await connect(world, 'bob')
    const held = await say(world, 'alice', 'bob', 'wait')
    const puller = await pullEvents(world)
    const hit = hitOf(asking, 'wait', 'wait')
    expect(await block(world, held, { by: 'engine', generation: 1, hit })).toEqual({ blocked: true, wasVisible: false })
    expect((await read(world, held, 'alice')).data.moderation).toEqual({
      status: 'disapproved',
      rule: { id: 'asks', name: 'Asks an engine' },
    })
    // That bob has connected may be told only now.
    const told = (await puller.told()).map(({ trigger }) => trigger).filter((trigger) => !trigger.startsWith('user_'))
    expect(told).toEqual(['moderation_engine_blocked'])
    await say(world, 'alice', 'bob', 'after')
    await bob.takeText('after')
    expect(bob.frames.filter(({ type }) => type === 'message')).toEqual([])
    expect(await block(world, held, { by: 'engine', generation: 1 })).toMatchObject({ because: 'late' })
  })
})

describe('Over sockets', () => {
  it('a held message is told to the other devices of its sender alone, and to all when it is released', async () => {
    const world = await judgedWorld()
    const [bob, alice] = [await connect(world, 'bob'), await connect(world, 'alice')]
    const held = await say(world, 'alice', 'bob', 'bad')
    const own = await alice.takeText('bad')
    expect(own.body.data.moderation).toMatchObject({ status: 'disapproved' })
    await say(world, 'alice', 'bob', 'one')
    await bob.takeText('one')
    expect(bob.frames.filter(({ type }) => type === 'message')).toEqual([])
    await releaseMessage(world.context, world.app, Number(held.id), byReviewer)
    for (const client of [bob, alice]) {
      const { body } = await client.takeText('bad')
      expect(body.data.moderation).toEqual({ status: 'approved', heldFrom: held.sentAt })
    }
  })
})
