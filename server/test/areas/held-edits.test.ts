import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { blockMessage, releaseMessage, settleEdit } from '../../src/areas/messages/index.ts'
import { dataOf, refusal, say, texts } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { addRules, asking, hitOf } from '../support/held.ts'
import { flag, review } from '../support/review.ts'
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
const alice = { as: 'alice' }
const byReviewer = { by: { reviewer: 'rita' } } as const
const edit = (world: World, { id }: { id: string }, text: string) =>
  world.put(`/messages/${id}`, { data: { text } }, alice)
const read = async (world: World, { id }: { id: string }, as = 'bob') =>
  dataOf(await world.get(`/messages/${id}`, { as }))
const settle = (world: World, { id }: { id: string }, to: 'approved' | 'disapproved', how: object = {}) =>
  settleEdit(world.context, world.app, Number(id), to, { by: 'engine', ...how })
const kept = async (world: World) => {
  const [row] = await world.context.database.run<Record<string, unknown>>(
    sql`select * from message_moderation where app_id = ${world.app.appId}`,
  )
  return row
}
const everywhere = async (world: World, needle: string) => {
  const { appId } = world.app
  const rows = await world.context.database.run<{ found: string }>(sql`
    select 'messages' as found from messages where app_id = ${appId} and data::text like ${`%${needle}%`}
    union all select 'kept' from message_moderation k where app_id = ${appId} and k::text like ${`%${needle}%`}
    union all select 'decisions' from moderation_decisions d where app_id = ${appId} and d::text like ${`%${needle}%`}
    union all select 'queue' from moderation_queue q where app_id = ${appId} and q::text like ${`%${needle}%`}
    union all select 'search' from search_entries s where app_id = ${appId} and body like ${`%${needle}%`}`)
  return rows.map(({ found }) => found)
}

describe('An edit of a message that others see', () => {
  it('is refused where a rule stops it, naming the rule, and the old text stays', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    const answer = await edit(world, sent, 'bad')
    expect(refusal(answer)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect(answer.body.error.devMessage).toContain('No bad words')
    const found = await read(world, sent)
    expect(found.data).toMatchObject({ text: 'old', moderation: { status: 'approved' } })
    expect(found.editedAt).toBeUndefined()
    const decisions = await world.context.database.run(
      sql`select message, rule_id, decision, match from moderation_decisions where app_id = ${world.app.appId}`,
    )
    // Where it was found, and not the words: they were never said.
    expect(decisions).toEqual([
      { message: Number(sent.id), rule_id: 'no-bad', decision: 'refused', match: { in: 'text', start: 0, end: 3 } },
    ])
  })

  it('is stored where nothing is against it, and judged from then on', async () => {
    const world = await judgedWorld()
    const sent = dataOf(
      await world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'by app' } }),
    )
    expect(sent.data.moderation).toBeUndefined()
    const own = await say(world, 'alice', 'bob', 'old')
    const action = dataOf(await edit(world, own, 'flag'))
    expect(action.data.entities.on.entity.data).toMatchObject({ text: 'flag', moderation: { status: 'approved' } })
    expect((await read(world, own)).data.text).toBe('flag')
    const queue = await world.context.database.run(
      sql`select message, status from moderation_queue where app_id = ${world.app.appId}`,
    )
    expect(queue).toEqual([{ message: Number(own.id), status: 'open' }])
  })

  it('that waits keeps the old text for everybody; its answer has the new one', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    const puller = await pullEvents(world)
    const action = dataOf(await edit(world, sent, 'wait'))
    expect(action.data.action).toBe('edited')
    expect(action.data.entities.on.entity.data).toMatchObject({ text: 'wait', moderation: { status: 'pending' } })
    for (const as of ['alice', 'bob']) {
      expect((await read(world, sent, as)).data).toMatchObject({ text: 'old', moderation: { status: 'approved' } })
    }
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['old'])
    expect(await puller.told()).toEqual([])
    dataOf(await world.post(`/messages/${sent.id}/reactions/x`, {}, { as: 'bob' }))
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    expect(await read(world, sent, 'alice')).toMatchObject({ readAt: expect.any(Number) })
  })

  it('that waits is stored and told once it is approved', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    dataOf(await edit(world, sent, 'wait'))
    const puller = await pullEvents(world)
    expect(await settle(world, sent, 'approved', { generation: 1 })).toEqual({ settled: 'approved' })
    const found = await read(world, sent)
    expect(found).toMatchObject({ editedBy: 'alice', editedAt: expect.any(Number) })
    expect(found.data).toMatchObject({ text: 'wait', moderation: { status: 'approved' } })
    expect((await puller.told()).map(({ trigger, data }) => [trigger, data.message.data.action])).toEqual([
      ['message_edited', 'edited'],
    ])
    expect(await settle(world, sent, 'approved')).toMatchObject({ because: 'late' })
    expect(await kept(world)).toMatchObject({ status: 'approved', waiting: null, due_at: null })
  })

  it('that waits is gone once it is disapproved', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    dataOf(await edit(world, sent, 'wait'))
    const hit = hitOf(asking, 'wait', 'wait')
    expect(await settle(world, sent, 'disapproved', { generation: 1, hit })).toEqual({ settled: 'disapproved' })
    expect((await read(world, sent)).data).toMatchObject({ text: 'old', moderation: { status: 'approved' } })
    expect(await kept(world)).toMatchObject({ status: 'approved', waiting: null })
  })

  it('that waits is replaced by a later one, and the answer about it comes too late', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    dataOf(await edit(world, sent, 'wait one'))
    dataOf(await edit(world, sent, 'wait two'))
    expect(await settle(world, sent, 'approved', { generation: 1 })).toMatchObject({ because: 'late' })
    expect(await settle(world, sent, 'approved', { generation: 2 })).toEqual({ settled: 'approved' })
    expect((await read(world, sent)).data.text).toBe('wait two')
    dataOf(await edit(world, sent, 'wait three'))
    dataOf(await edit(world, sent, 'four'))
    expect(await settle(world, sent, 'approved')).toMatchObject({ because: 'late' })
    expect((await read(world, sent)).data.text).toBe('four')
    expect(await everywhere(world, 'three')).toEqual([])
  })

  it('that waits goes with its message', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    dataOf(await edit(world, sent, 'wait for the needle, flag'))
    dataOf(await world.delete(`/messages/${sent.id}`, {}, alice))
    expect(await settle(world, sent, 'approved')).toMatchObject({ because: 'late' })
    expect(await everywhere(world, 'needle')).toEqual([])
    expect(await everywhere(world, '"flag"')).toEqual([])
    expect((await read(world, sent)).deletedAt).toBeDefined()
  })

  it('that waits is not stored where it may not be made any more', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    dataOf(await edit(world, sent, 'wait'))
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const client = await connect(world, 'alice')
    expect(await settle(world, sent, 'approved')).toMatchObject({ because: 'forbidden' })
    expect((await read(world, sent, 'alice')).data.text).toBe('old')
    expect(await kept(world)).toMatchObject({ status: 'approved', waiting: null })
    const told = await client.takeType('on_moderation_status_changed')
    expect(told.body).toMatchObject({ id: sent.id, data: { text: 'old', moderation: { status: 'approved' } } })
  })

  it('that waits goes when the message is blocked', async () => {
    const world = await judgedWorld()
    const sent = await say(world, 'alice', 'bob', 'old')
    dataOf(await edit(world, sent, 'wait'))
    await blockMessage(world.context, world.app, Number(sent.id), byReviewer)
    expect(await settle(world, sent, 'approved')).toMatchObject({ because: 'late' })
    expect((await read(world, sent, 'alice')).data).toMatchObject({
      text: 'old',
      moderation: { status: 'disapproved' },
    })
  })
})

describe('An edit of a message that is held', () => {
  it('releases it as new where nothing is against the new text', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'alice', 'bob', 'one')
    const puller = await pullEvents(world)
    dataOf(await edit(world, held, 'good'))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['one', 'good'])
    const found = await read(world, held)
    expect(found.editedAt).toBeUndefined()
    expect(found.data.moderation).toEqual({ status: 'approved', heldFrom: held.sentAt })
    expect((await puller.told()).map(({ trigger, data }) => [trigger, data.message.data.text])).toEqual([
      ['message_sent', 'good'],
    ])
  })

  it('is refused where a rule stops it, and waits where an engine is to be asked', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    expect(refusal(await edit(world, held, 'still bad'))).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect((await read(world, held, 'alice')).data.text).toBe('bad')
    dataOf(await edit(world, held, 'wait'))
    expect((await read(world, held, 'alice')).data).toMatchObject({ text: 'wait', moderation: { status: 'pending' } })
    expect(refusal(await world.get(`/messages/${held.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(
      await releaseMessage(world.context, world.app, Number(held.id), { by: 'engine', generation: 1 }),
    ).toMatchObject({
      because: 'late',
    })
    expect(
      await releaseMessage(world.context, world.app, Number(held.id), { by: 'engine', generation: 2 }),
    ).toMatchObject({
      released: true,
    })
    expect((await read(world, held)).data.text).toBe('wait')
  })

  it('that a reviewer has stopped goes to a reviewer again', async () => {
    const world = await judgedWorld()
    const waiting = await say(world, 'alice', 'bob', 'wait')
    await blockMessage(world.context, world.app, Number(waiting.id), byReviewer)
    dataOf(await edit(world, waiting, 'good'))
    expect((await read(world, waiting, 'alice')).data).toMatchObject({
      text: 'good',
      moderation: { status: 'pending' },
    })
    expect(refusal(await world.get(`/messages/${waiting.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await kept(world)).toMatchObject({ status: 'pending', due_at: null, review_status: null })
    expect(await releaseMessage(world.context, world.app, Number(waiting.id), byReviewer)).toMatchObject({
      released: true,
    })
    expect((await read(world, waiting)).data.text).toBe('good')
  })

  it('that a reviewer has stopped goes to a reviewer again, also where its review was taken back, however often', async () => {
    const world = await judgedWorld()
    const seen = await say(world, 'alice', 'bob', 'hi')
    dataOf(await flag(world, seen.id, 'bob'))
    dataOf(await review(world, 'flagged', seen.id, { status: 'disapproved' }))
    const rejected = await say(world, 'alice', 'bob', 'bad')
    dataOf(await review(world, 'blocked', rejected.id, { status: 'rejected' }))
    const lookedAt = await say(world, 'alice', 'bob', 'bad')
    dataOf(await review(world, 'blocked', lookedAt.id, { reviewed: true }))
    for (const { id } of [seen, rejected]) dataOf(await review(world, 'blocked', id, { reviewed: false }))
    for (const text of ['good', 'better']) {
      for (const message of [seen, rejected, lookedAt]) {
        dataOf(await edit(world, message, text))
        expect((await read(world, message, 'alice')).data).toMatchObject({ text, moderation: { status: 'pending' } })
      }
    }
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    for (const { id } of [seen, rejected, lookedAt]) {
      dataOf(await review(world, 'blocked', id, { status: 'approved', override: true }))
    }
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toHaveLength(3)
  })

  it('that a reviewer has stopped goes to a reviewer again where no rule is on', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    dataOf(await flag(world, id, 'bob'))
    dataOf(await review(world, 'flagged', id, { status: 'disapproved', reviewedBy: 'rita' }))
    dataOf(await edit(world, { id }, 'better'))
    expect((await read(world, { id }, 'alice')).data).toMatchObject({
      text: 'better',
      moderation: { status: 'pending' },
    })
    expect(refusal(await world.get(`/messages/${id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    const listed = dataOf(await world.get('/moderation/flagged-messages'))
    expect(listed).toMatchObject([{ id }])
    dataOf(await review(world, 'flagged', id, { status: 'approved' }))
    expect((await read(world, { id })).data.text).toBe('better')
  })

  it('that was put back among those that nobody saw, and that no reviewer has stopped, is released', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad')
    dataOf(await review(world, 'blocked', held.id, { reviewed: true }))
    dataOf(await review(world, 'blocked', held.id, { reviewed: false }))
    dataOf(await edit(world, held, 'good'))
    expect((await read(world, held)).data.text).toBe('good')
  })

  it('stays held, to be reviewed, where it may not be sent any more', async () => {
    const world = await judgedWorld()
    const parent = await say(world, 'bob', 'alice', 'parent')
    const held = await say(world, 'alice', 'bob', 'bad', { parentId: parent.id })
    await blockMessage(world.context, world.app, Number(parent.id), byReviewer)
    dataOf(await edit(world, held, 'good'))
    expect((await read(world, held, 'alice')).data).toMatchObject({ text: 'good', moderation: { status: 'pending' } })
    const queue = await world.context.database.run(
      sql`select message from moderation_queue where app_id = ${world.app.appId}`,
    )
    expect(queue).toEqual([{ message: Number(held.id) }])
  })

  it('may be deleted by its sender, which nobody else hears of', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad needle')
    const gone = await say(world, 'alice', 'bob', 'bad thread')
    const puller = await pullEvents(world)
    const action = dataOf(await world.delete(`/messages/${held.id}`, {}, alice))
    expect(action.data.action).toBe('deleted')
    dataOf(await world.delete(`/messages/${gone.id}`, { permanent: true }, alice))
    expect(await puller.told()).toEqual([])
    expect(await everywhere(world, 'needle')).toEqual([])
    expect(await everywhere(world, 'bad')).toEqual(['kept', 'decisions'])
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    expect(refusal(await world.get(`/messages/${gone.id}`, alice))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    const next = await say(world, 'alice', 'bob', 'one')
    expect(dataOf(await world.get('/users/alice/conversation', { as: 'bob' })).lastMessage.id).toBe(next.id)
  })
})
