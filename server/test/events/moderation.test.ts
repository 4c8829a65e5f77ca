import { describe, expect, it } from 'vitest'
import { type EventRow, eventColumns } from '../../src/events/rows.ts'
import { showEvents } from '../../src/events/show.ts'
import type { ChatEvent } from '../../src/events/types.ts'
import { statement } from '../../src/store/statement.ts'
import { createOwner } from '../admin/operator.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import { type Puller, pullEvents } from '../support/events.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const at = 1_700_000_000

const hit = {
  condition: { id: 1, entity: 'message', operand: 'text', category: 'word', operator: 'contains', value: ['darn'] },
  rule: {
    id: 'no-darn',
    name: 'No darn',
    revisionId: 'app_no-darn_1',
    action: ['blockMessage'],
    blockedAt: '1700000000.000000000000057',
  },
}

const failure = {
  category: 'invalid_response',
  errorMessage: 'the response is not JSON',
  failedAt: at,
  responseBodyTruncated: false,
  httpStatus: 200,
  responseBody: 'I will not judge "xyzzy"',
  validationErrors: ['"xyzzy" is no boolean'],
  context: { engine: 'custom_api', setting: 'approve-message' },
} as const

/** A message from alice to bob that moderation looked at, whose events are pulled. */
async function judged(): Promise<{ world: World; id: string; puller: Puller; tell: (event: object) => Promise<void> }> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  const { id } = await say(world, 'alice', 'bob', 'xyzzy')
  const { database, events } = world.context
  const update = statement('update messages set traits = traits | 4096 where app_id = $1 and id = $2')
  await database.query(update, [world.app.appId, Number(id)])
  const puller = await pullEvents(world)
  const place = { conversation: 1, kind: 'user', first: 'alice', second: 'bob' } as const
  const tell = (event: object) =>
    database.transaction((tx) =>
      events.raise(tx, world.app.appId, [{ place, messageId: Number(id), ...event } as ChatEvent]),
    )
  return { world, id, puller, tell }
}

const select = statement(`
  select ${eventColumns}
  from events e
  where e.app_id = $1
  and e.trigger like 'moderation%'
  order by e.id`)

/** The kept events of moderation, in the older envelope. */
async function showLegacy({ context, app }: World) {
  const rows = await context.database.query<EventRow>(select, [app.appId])
  return [...(await showEvents(context, app, rows, 1)).values()]
}

const failed = {
  trigger: 'moderation_engine_failed',
  contentType: 'text',
  outcome: 'approved',
  completedAt: at,
  failures: [failure],
} as const

describe('a decision of moderation', () => {
  it('is told with the message and the status that was decided, in both envelopes', async () => {
    const { world, id, puller, tell } = await judged()
    await tell({ trigger: 'moderation_engine_approved' })
    await tell({ trigger: 'moderation_engine_blocked' })
    await tell({ trigger: 'moderation_manual_approved', hits: [hit] })
    const message = (status: string) =>
      expect.objectContaining({
        id,
        sender: 'alice',
        receiver: 'bob',
        data: expect.objectContaining({ text: 'xyzzy', moderation: { status } }),
      })
    expect(await puller.told()).toEqual([
      { trigger: 'moderation_engine_approved', data: { message: message('approved') } },
      { trigger: 'moderation_engine_blocked', data: { message: message('disapproved') } },
      {
        trigger: 'moderation_manual_approved',
        data: { message: message('approved'), moderation: [hit], reviewed: true },
      },
    ])
    expect(await showLegacy(world)).toEqual([
      { trigger: 'moderation_engine_approved', data: message('approved') },
      { trigger: 'moderation_engine_blocked', data: message('disapproved') },
      {
        trigger: 'moderation_manual_approved',
        data: { message: message('approved'), moderation: [hit], reviewed: true },
      },
    ])
  })

  it('is shown to operators without what the engine said of a text, until they read it', async () => {
    const { world, tell } = await judged()
    await tell(failed)
    const owner = await createOwner(world)
    const path = `/apps/${world.app.name}`
    const failures = async () => {
      const { data } = (await owner.get(`${path}/events?after=0&triggers=moderation_engine_failed`)).body
      return data[0]?.data.failures
    }
    await until(async () => (await failures()) !== undefined)
    const { responseBody: _, validationErrors: __, ...rest } = failure
    expect(await failures()).toEqual([rest])
    dataOf(await owner.post(`${path}/readings`, { of: 'alice_user_bob', reason: 'Report 17' }))
    expect(await failures()).toEqual([failure])
  })

  it('tells the place of a message that is gone', async () => {
    const { world, id, puller, tell } = await judged()
    await tell({ trigger: 'moderation_engine_blocked' })
    await tell(failed)
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }))
    const place = { id, conversationId: 'alice_user_bob', sentAt: expect.any(Number) }
    const [blocked, failing] = await puller.told()
    expect(blocked?.data).toEqual({ message: place })
    expect(failing?.data.resource).toEqual({ ...place, receiverType: 'user' })
  })
})

describe('a failure of an engine', () => {
  it('is told with the message that it was asked about', async () => {
    const { world, id, puller, tell } = await judged()
    await tell(failed)
    const data = {
      resource: {
        id,
        conversationId: 'alice_user_bob',
        sender: 'alice',
        receiverType: 'user',
        receiver: 'bob',
        category: 'message',
        type: 'text',
        sentAt: expect.any(Number),
      },
      contentType: 'text',
      outcome: 'approved',
      completedAt: at,
      failures: [failure],
    }
    expect(await puller.told()).toEqual([{ trigger: 'moderation_engine_failed', data }])
    expect(await showLegacy(world)).toEqual([{ trigger: 'moderation_engine_failed', data }])
  })

  it.each([
    ['edited', (world: World, id: string) => world.put(`/messages/${id}`, { data: { text: 'hi' } }, { as: 'alice' })],
    ['deleted', (world: World, id: string) => world.delete(`/messages/${id}`, {}, { as: 'alice' })],
    ['deleted for good', (world: World, id: string) => world.delete(`/messages/${id}`, { permanent: true })],
    ['its sender’s, who is deleted', (world: World) => world.delete('/users/alice', { permanent: true })],
  ])('keeps no answer that quotes a message which is %s', async (_, remove) => {
    const { world, id, tell } = await judged()
    await tell({ ...failed, failures: [failure, failure] })
    dataOf(await remove(world, id))
    const rows = await world.context.database.query<EventRow>(select, [world.app.appId])
    expect(JSON.stringify(rows)).not.toContain('xyzzy')
    const { responseBody: _body, validationErrors: _errors, ...left } = failure
    expect(rows.map(({ data }) => data.failures)).toEqual([[left, left]])
  })
})

describe('a legacy webhook', () => {
  it('takes the triggers of moderation, and still none of the other current ones', async () => {
    const world = await createWorld()
    const made = (triggers: string[]) =>
      world.post(
        '/webhooks',
        { id: 'old', name: 'Old', webhookURL: 'https://example.com/hook', triggers },
        { headers: { 'x-webhook-version': '1' } },
      )
    expect(refusal(await made(['message_sent']))).toBe('400 ERR_BAD_REQUEST')
    dataOf(await made(['after_message', 'moderation_engine_blocked', 'moderation_engine_failed']))
    const ids = dataOf(await world.get('/webhooks/old/triggers')).map((trigger: { id: string }) => trigger.id)
    expect(ids).toEqual(['after_message', 'moderation_engine_blocked', 'moderation_engine_failed'])
  })
})
