import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
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
const rule = { id: 'no-bad', name: 'No bad words' }
const disapproved = { status: 'disapproved', rule }
const statusOf = async (world: World, id: string) => dataOf(await world.get(`/messages/${id}`)).data.moderation
const unreadOf = async (world: World, as: string, peer: string) =>
  dataOf(await world.get(`/users/${peer}/conversation`, { as })).unreadMessageCount
const rowsOf = <Row>(world: World, table: string) =>
  world.context.database.run<Row>(sql`select * from ${sql.table(table)} where app_id = ${world.app.appId} order by 2`)

describe('A message that is judged', () => {
  it('answers with its final status, and with the rule that stopped it', async () => {
    const world = await judgedWorld()
    expect((await say(world, 'alice', 'bob', 'hi')).data.moderation).toEqual({ status: 'approved' })
    expect((await say(world, 'alice', 'bob', 'wait')).data.moderation).toEqual({ status: 'pending' })
    const stopped = await say(world, 'alice', 'bob', 'bad')
    expect(stopped.data.moderation).toEqual(disapproved)
    expect(await statusOf(world, stopped.id)).toEqual(disapproved)
  })

  it('says nothing of moderation where the app has no rules, and the app itself is not judged', async () => {
    const world = await judgedWorld()
    const byApp = dataOf(
      await world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'bad' } }),
    )
    expect(byApp.data.moderation).toBeUndefined()
    const other = await createWorld()
    await createUsers(other, 'alice', 'bob')
    expect((await say(other, 'alice', 'bob', 'bad')).data.moderation).toBeUndefined()
  })

  it('that is held moves nothing: not unread counts, the last message, the marks of its sender, threads', async () => {
    const world = await judgedWorld()
    const first = await say(world, 'bob', 'alice', 'one')
    const held = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'alice', 'bob', 'bad reply', { parentId: first.id })
    expect(await unreadOf(world, 'alice', 'bob')).toBe('1')
    expect(await unreadOf(world, 'bob', 'alice')).toBe('0')
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(conversation.lastMessage.id).toBe(first.id)
    expect(conversation.lastMessage.readAt).toBeUndefined()
    expect(dataOf(await world.get(`/messages/${first.id}`)).replyCount).toBeUndefined()
    expect(refusal(await world.get(`/messages/${held.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    // The next one that others see reads.
    await say(world, 'alice', 'bob', 'two')
    expect(await unreadOf(world, 'alice', 'bob')).toBe('0')
    expect(await unreadOf(world, 'bob', 'alice')).toBe('1')
  })

  it('of which some are held and some are not may come in one batch', async () => {
    const world = await judgedWorld()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const words = ['hi', 'bad', 'wait', 'flag', 'shadow', 'bad', 'hi', 'kick']
    const sent = await Promise.all(
      words.flatMap((word) => [say(world, 'alice', 'bob', word), sayInGroup(world, 'alice', 'team', word)]),
    )
    expect(sent.map(({ data }) => data.moderation.status)).toEqual(
      words.flatMap((word) => {
        const status = { bad: 'disapproved', kick: 'disapproved', wait: 'pending' }[word] ?? 'approved'
        return [status, status]
      }),
    )
    expect(await unreadOf(world, 'bob', 'alice')).toBe('4')
    expect((texts(await world.get('/groups/team/messages', { as: 'bob' })) as string[]).toSorted()).toEqual([
      'flag',
      'hi',
      'hi',
      'shadow',
    ])
  })

  it('repeats by its muid what is stored, with its status', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'bad', { muid: 'm' })
    const again = await say(world, 'alice', 'bob', 'bad', { muid: 'm' })
    expect(again).toEqual(held)
    expect(await rowsOf(world, 'moderation_decisions')).toHaveLength(1)
    const both = await Promise.all(['n', 'n'].map((muid) => say(world, 'alice', 'bob', 'wait', { muid })))
    expect(both[0].id).toBe(both[1].id)
    expect(both[1].data.moderation).toEqual({ status: 'pending' })
  })

  it('goes to each of several receivers on its own', async () => {
    const world = await judgedWorld()
    await createUsers(world, 'carol')
    const sent = dataOf(
      await world.post(
        '/messages',
        { multipleReceivers: { uids: ['bob', 'carol'] }, data: { text: 'bad' } },
        { as: 'alice' },
      ),
    )
    expect(sent.uids.bob.data.data.moderation).toEqual(disapproved)
    expect(sent.uids.carol.data.data.moderation).toEqual(disapproved)
    expect(await unreadOf(world, 'bob', 'alice').catch(() => 'none')).toBe('none')
  })

  it('is kept with every hit, whatever the mode of the rule, and with what flagged it', async () => {
    const world = await judgedWorld()
    const held = await say(world, 'alice', 'bob', 'shadow and flag, bad')
    const flagged = await say(world, 'alice', 'bob', 'flag')
    const decisions = await rowsOf<Record<string, unknown>>(world, 'moderation_decisions')
    expect(
      decisions.map(({ message, rule_id, mode, decision, lane, match }) => [
        message,
        rule_id,
        mode,
        decision,
        lane,
        match,
      ]),
    ).toEqual([
      [Number(held.id), 'no-bad', 'on', 'disapproved', 'one', { in: 'text', start: 17, end: 20, text: 'bad' }],
      [Number(held.id), 'to-see', 'on', 'disapproved', 'one', { in: 'text', start: 11, end: 15, text: 'flag' }],
      [Number(held.id), 'shadowy', 'shadow', 'disapproved', 'one', { in: 'text', start: 0, end: 6, text: 'shadow' }],
      [Number(flagged.id), 'to-see', 'on', 'approved', 'one', { in: 'text', start: 0, end: 4, text: 'flag' }],
    ])
    const queue = await rowsOf<{ message: number; by_rule: object[] }>(world, 'moderation_queue')
    expect(queue.map(({ message }) => message)).toEqual([Number(flagged.id)])
    expect(queue[0]?.by_rule).toMatchObject([{ ruleId: 'to-see', ruleName: 'To be seen', revision: 1 }])
    const kept = await rowsOf<Record<string, unknown>>(world, 'message_moderation')
    expect(kept).toMatchObject([
      { message: Number(held.id), status: 'disapproved', sender: 'alice', rule_id: 'no-bad', held_from: held.sentAt },
    ])
  })

  it('is told in the events only as approved or blocked, where it is held only as blocked', async () => {
    const world = await judgedWorld()
    const puller = await pullEvents(world)
    await say(world, 'alice', 'bob', 'hi')
    await say(world, 'alice', 'bob', 'bad <@uid:bob>')
    await say(world, 'alice', 'bob', 'wait')
    const told = await puller.told()
    expect(told.map(({ trigger, data }) => [trigger, data.message.data.moderation])).toEqual([
      ['message_sent', { status: 'approved' }],
      ['moderation_engine_approved', { status: 'approved' }],
      ['moderation_engine_blocked', disapproved],
    ])
  })
})
