import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { blockMessage, settleEdit } from '../../src/areas/messages/index.ts'
import { finishReviews } from '../../src/areas/moderation/queue/decide.ts'
import { readMessages } from '../../src/chat/messages/rows.ts'
import { flagByRules } from '../../src/chat/moderation/queue.ts'
import { flaggingsOf } from '../../src/chat/moderation/records.ts'
import { settle } from '../../src/delivery/moderation/settle.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { hitOf, ruleOf } from '../support/held.ts'
import { groupText, importWell } from '../support/imports.ts'
import { flag, makePending, moderatedWorld, review, takeRulesAway } from '../support/review.ts'
import { untilWaitedFor, untilWaitsBehind } from '../support/waiters.ts'
import { type Answer, createWorld, type World } from '../support/world.ts'

takeRulesAway()

const epoch = expect.any(Number)
const idsOf = (items: Array<{ id?: string; message?: { id: string } }>) =>
  items.map(({ id, message }) => id ?? message?.id)
const flagged = async (world: World, query = '') => dataOf(await world.get(`/moderation/flagged-messages${query}`))
const blocked = async (world: World, query = '') => dataOf(await world.get(`/moderation/blocked-messages${query}`))
const reviewed = async (world: World, query = '') => dataOf(await world.get(`/moderation/reviewed-messages${query}`))
const edit = async (world: World, id: string, text: string) =>
  dataOf(await world.put(`/messages/${id}`, { data: { text } }, { as: 'alice' }))
const statusOf = async (world: World, id: string) => dataOf(await world.get(`/messages/${id}`)).data.moderation?.status

describe('a flag', () => {
  it('puts a message on the list of those who review, which stays visible', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const answer = await flag(world, id, 'bob', { reasonId: 'spam', remark: 'keeps on' })
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: expect.stringContaining(id) } })
    const [item] = await flagged(world)
    expect(item).toEqual({
      ...dataOf(await world.get(`/messages/${id}`)),
      appId: world.app.name,
      flaggedBy: [
        {
          ...{ uid: 'bob', name: 'Bob', role: 'default', flaggedAt: epoch },
          ...{ reasonId: 'spam', reasonName: 'Spam', description: expect.any(String), remark: 'keeps on' },
        },
      ],
      flaggedCount: 1,
      openedAt: epoch,
    })
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['hi'])
  })

  it('of one user counts once, and the second replaces the first; those of others count too', async () => {
    const world = await moderatedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
    dataOf(await flagOk(world, id, 'bob', { reasonId: 'spam', remark: 'one' }))
    dataOf(await flagOk(world, id, 'bob', { remark: 'two' }))
    dataOf(await flagOk(world, id, 'carol', { id: 'violence' }))
    const [item] = await flagged(world)
    expect(item.flaggedCount).toBe(2)
    expect(item.flaggedBy).toEqual([
      { uid: 'bob', name: 'Bob', role: 'default', remark: 'two', flaggedAt: epoch },
      expect.objectContaining({ uid: 'carol', reasonId: 'violence' }),
    ])
  })

  it('comes with the token of a front end, too', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    const answer = await world.post(`/messages/${id}/flagged`, { reasonId: 'spam', remark: 'x' }, { token })
    expect(answer.body).toEqual({ success: true, message: expect.any(String) })
    for (const path of ['flagged-messages', 'blocked-messages', 'reviewed-messages', 'messages', 'queue', 'stats']) {
      expect(refusal(await world.get(`/moderation/${path}`, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    }
  })

  it('is refused where there is nothing to flag', async () => {
    const world = await moderatedWorld('alice', 'bob', 'carol')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const held = await say(world, 'alice', 'bob', 'bad')
    const gone = await say(world, 'alice', 'bob', 'hi')
    dataOf(await world.delete(`/messages/${gone.id}`, {}, { as: 'alice' }))
    await createGroup(world, 'team', 'alice')
    const added = dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
    const action = added.participants.bob.data
    const refused = async (what: string, as: string, body: object = {}) => refusal(await flag(world, what, as, body))
    expect(await refused('999999999999', 'bob')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('nonsense', 'bob')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused(id, 'carol')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused(held.id, 'bob')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused(held.id, 'alice')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused(gone.id, 'bob')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused(id, 'alice')).toBe('403 ERR_SELF_ACTION_DENIED')
    expect(await refused(id, 'bob', { reasonId: 'no-reason' })).toBe('404 ERR_REASON_NOT_FOUND')
    expect(await refused(id, 'nobody')).toBe('404 ERR_UID_NOT_FOUND')
    expect(await refused(id, 'bob', { remark: 'x'.repeat(1001) })).toBe('400 ERR_BAD_REQUEST')
    expect(await refused(action.id, 'bob')).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect(refusal(await world.post(`/messages/${id}/flagged`, {}))).toBe('400 ERR_BAD_REQUEST')
    const other = await createWorld()
    await other.post('/users', { uid: 'bob', name: 'Bob' })
    expect(refusal(await flag(other, id, 'bob'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await flagged(world)).toEqual([])
  })

  it('leaves the list with a message that is deleted', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    dataOf(await flagOk(world, id, 'bob'))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    expect(await flagged(world)).toEqual([])
    expect(dataOf(await world.get('/moderation/queue')).flagged).toEqual({ open: 0, claimed: 0 })
    expect(refusal(await review(world, 'flagged', id, { status: 'approved' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })
})

it('A flag goes with its user who is deleted for good, and with it the review that nobody else asked for', async () => {
  const world = await moderatedWorld('alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  const [one, both] = [await sayInGroup(world, 'alice', 'team', 'one'), await sayInGroup(world, 'alice', 'team', 'two')]
  for (const { id } of [one, both]) await flagOk(world, id, 'bob', { remark: 'orblax' })
  await flagOk(world, both.id, 'carol')
  dataOf(await world.delete('/users/bob', { permanent: true }))
  const left = await flagged(world)
  expect(idsOf(left)).toEqual([both.id])
  expect(left[0]).toMatchObject({ flaggedCount: 1, flaggedBy: [{ uid: 'carol' }] })
  expect(JSON.stringify(left)).not.toContain('orblax')
})

it('A review that an edit asked for stays when the user is deleted for good who had flagged the message', async () => {
  const world = await moderatedWorld('alice', 'bob')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  const { id } = await sayInGroup(world, 'alice', 'team', 'one')
  await flagOk(world, id, 'bob')
  dataOf(await review(world, 'flagged', id, { status: 'disapproved' }))
  dataOf(await world.put(`/messages/${id}`, { data: { text: 'better' } }, { as: 'alice' }))
  expect(idsOf(await flagged(world))).toEqual([id])
  dataOf(await world.delete('/users/bob', { permanent: true }))
  expect(await flagged(world)).toMatchObject([{ id, flaggedCount: 0 }])
  dataOf(await review(world, 'flagged', id, { status: 'approved' }))
  expect(await statusOf(world, id)).toBe('approved')
})

async function flagOk(world: World, id: string, as: string, body: object = {}) {
  const answer = await flag(world, id, as, body)
  expect(answer.body.success).toBe(true)
  return { ...answer, body: { data: answer.body } }
}

describe('a review of a flagged message', () => {
  it('approves it: it stays, and moves to the reviewed list', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob', { reasonId: 'spam' })
    const answer = await review(world, 'flagged', id, { status: 'approved', reviewedBy: 'rita' })
    expect(answer.body).toEqual({ success: true, message: `message ${id} approved and unflagged` })
    expect(await flagged(world)).toEqual([])
    const [item] = await reviewed(world)
    expect(item).toMatchObject({
      ...{ appId: world.app.name, list: 'flagged', decision: 'approved', reviewedBy: 'rita', reviewedAt: epoch },
      ...{ message: { id }, flaggedBy: [{ uid: 'bob' }], flaggedCount: 1 },
    })
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['hi'])
  })

  it('disapproves it: nobody but its sender has it, and an approval from the blocked list brings it back', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob')
    const answer = await review(world, 'flagged', id, { status: 'disapproved' })
    expect(answer.body).toEqual({ success: true, message: `message ${id} disapproved and unflagged` })
    expect(await statusOf(world, id)).toBe('disapproved')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    expect(await blocked(world)).toEqual([])
    expect(idsOf(await blocked(world, '?reviewed=true'))).toEqual([id])
    dataOf(await review(world, 'blocked', id, { status: 'approved' }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['hi'])
    expect(await reviewed(world)).toMatchObject([{ list: 'blocked', decision: 'approved' }])
  })

  it('needs a decision, and a message that was flagged', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    expect(refusal(await review(world, 'flagged', id, { status: 'approved' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    await flagOk(world, id, 'bob')
    expect(refusal(await review(world, 'flagged', id, {}))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await review(world, 'flagged', id, { status: 'maybe' }))).toBe('400 ERR_BAD_REQUEST')
    const other = await createWorld()
    expect(refusal(await review(other, 'flagged', id, { status: 'approved' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(idsOf(await flagged(world))).toEqual([id])
  })

  it('is one, whoever decides at the same time: the others are told', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob')
    const statuses = ['approved', 'disapproved', 'approved', 'disapproved', 'approved', 'disapproved']
    const answers = await Promise.all(
      statuses.map((status, i) => review(world, 'flagged', id, { status, reviewedBy: `r${i}` })),
    )
    const [{ decision }] = await reviewed(world)
    expect(answers.map((answer) => (answer.status === 200 ? 'done' : refusal(answer)))).toEqual(
      statuses.map((status) => (status === decision ? 'done' : '409 ERR_MESSAGE_ALREADY_REVIEWED')),
    )
    expect(await statusOf(world, id)).toBe(decision)
    const entries = dataOf(await world.get('/audit-log?action=message_reviewed'))
    expect(entries).toMatchObject([{ target: { type: 'message', id }, details: { list: 'flagged', decision } }])
  })

  it('changes nothing when it is asked again, and another only with override', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob')
    const decide = (body: object) => review(world, 'flagged', id, body)
    await decide({ status: 'disapproved', reviewedBy: 'rita' })
    expect((await decide({ status: 'disapproved', reviewedBy: 'sam' })).status).toBe(200)
    expect(await reviewed(world)).toMatchObject([{ reviewedBy: 'rita' }])
    const refused = await decide({ status: 'approved', reviewedBy: 'sam' })
    expect(refusal(refused)).toBe('409 ERR_MESSAGE_ALREADY_REVIEWED')
    expect(refused.body.error.devMessage).toContain('rita')
    expect((await decide({ status: 'approved', reviewedBy: 'sam', override: true })).status).toBe(200)
    expect(await statusOf(world, id)).toBe('approved')
    expect(await reviewed(world)).toMatchObject([{ reviewedBy: 'sam', decision: 'approved' }])
  })

  it('is opened again by another user, or by an edit, and not by the same user', async () => {
    const world = await moderatedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
    const approve = () => review(world, 'flagged', id, { status: 'approved' })
    await flagOk(world, id, 'bob')
    await approve()
    await flagOk(world, id, 'bob', { remark: 'again' })
    expect(await flagged(world)).toEqual([])
    await flagOk(world, id, 'carol')
    expect(idsOf(await flagged(world))).toEqual([id])
    await approve()
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'something else' } }, { as: 'alice' }))
    await flagOk(world, id, 'bob')
    expect(idsOf(await flagged(world))).toEqual([id])
    expect((await approve()).status).toBe(200)
    expect(await flagged(world)).toEqual([])
  })
})

describe('a rule that flags', () => {
  const approve = async (world: World, id: string) =>
    dataOf(await review(world, 'flagged', id, { status: 'approved', override: true }))
  const rulesOf = (item: { flaggedByRules?: Array<{ ruleId: string }> } | undefined) =>
    item?.flaggedByRules?.map(({ ruleId }) => ruleId)
  const asked = (world: World, id: string) => ({
    ...{ appId: world.app.appId, appName: world.app.name, region: world.app.region, message: Number(id) },
    ...{ conversation: 0, sender: 'alice', status: 'pending', waiting: null, questions: [], attempts: 1 },
  })

  it('is added to what users have flagged already', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob')
    const [before] = await flagged(world)
    await edit(world, id, 'flag')
    const [item, ...others] = await flagged(world)
    expect(others).toEqual([])
    expect(item).toMatchObject({ openedAt: before.openedAt, flaggedCount: 1 })
    expect(rulesOf(item)).toEqual(['to-see'])
  })

  it('opens again what was decided, where the message says something else, and is listed once', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob')
    await approve(world, id)
    await edit(world, id, 'flag')
    expect((await flagged(world)).map(rulesOf)).toEqual([['to-see']])
    await approve(world, id)
    expect(await flagged(world)).toEqual([])
    await edit(world, id, 'flag again')
    expect((await flagged(world)).map(rulesOf)).toEqual([['to-see']])
    await approve(world, id)
    await edit(world, id, 'nothing to see')
    expect(await flagged(world)).toEqual([])
  })

  it('flags an edit that waits once that is stored', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    const settle = (to: 'approved' | 'disapproved') =>
      settleEdit(world.context, world.app, Number(id), to, { by: 'engine' })
    await edit(world, id, 'wait, flag')
    expect(await flagged(world)).toEqual([])
    await settle('disapproved')
    expect(await flagged(world)).toEqual([])
    await edit(world, id, 'wait, flag')
    await settle('approved')
    expect((await flagged(world)).map(rulesOf)).toEqual([['to-see']])
    await approve(world, id)
    await edit(world, id, 'wait for more, flag')
    await settle('approved')
    expect((await flagged(world)).map(rulesOf)).toEqual([['to-see']])
  })

  it('with an engine opens again what was decided, once for each of its revisions', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'wait')
    const message = (await readMessages(world.context.database, world.app.appId, [Number(id)])).get(Number(id))
    if (message === undefined) throw new Error('no message')
    const rule = (revision: number) => ruleOf({ ruleId: 'engine', actions: ['flagMessage'], revision })
    const hits = (revision: number) => [hitOf(rule(revision), 'wait', 'wait')]
    const ruling = { outcome: 'approved', stoppedBy: undefined, failures: [] } as const
    const claimed = { ...asked(world, id), status: 'pending', generation: 1 } as const
    await settle(world.context, world.app, claimed, { message, ruling: { ...ruling, hits: hits(1) }, took: 1 })
    expect((await flagged(world)).map(rulesOf)).toEqual([['engine']])
    await approve(world, id)
    await world.context.database.transaction((tx) =>
      flagByRules(tx, world.app.appId, Number(id), flaggingsOf({ hits: hits(1) }), false, 1),
    )
    expect(await flagged(world)).toEqual([])
    await world.context.database.transaction((tx) =>
      flagByRules(tx, world.app.appId, Number(id), flaggingsOf({ hits: hits(2) }), false, 1),
    )
    expect((await flagged(world)).map(rulesOf)).toEqual([['engine', 'engine']])
  })

  it('leaves to people, and to nobody else, what may no longer be sent when its engine approves', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'wait')
    expect(await flagged(world)).toEqual([])
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const message = (await readMessages(world.context.database, world.app.appId, [Number(id)])).get(Number(id))
    if (message === undefined) throw new Error('no message')
    const ruling = { outcome: 'approved', stoppedBy: undefined, failures: [], hits: [] } as const
    const claimed = { ...asked(world, id), status: 'pending', generation: 1 } as const
    await settle(world.context, world.app, claimed, { message, ruling, took: 1 })
    expect(idsOf(await flagged(world))).toEqual([id])
    dataOf(await world.delete('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    await edit(world, id, 'good')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    await approve(world, id)
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['good'])
  })
})

describe('a review of a blocked message', () => {
  it('shows why it was blocked, and sends it when it is approved', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const puller = await pullEvents(world)
    const { id } = await say(world, 'alice', 'bob', 'so bad')
    const [item] = await blocked(world)
    const condition = {
      ...{ id: 1, isKeywordsReferencePresent: false, isMediaPresent: false, entity: 'message', operand: 'text' },
      ...{ category: 'word', operator: 'contains', value: ['bad'], weight: 1 },
    }
    const revisionId = `${world.app.name}_no-bad_1`
    expect(item).toEqual({
      appId: world.app.name,
      ...{ ruleId: 'no-bad', ruleName: 'No bad words', revisionId, condition, action: ['blockMessage'] },
      match: { in: 'text', start: 3, end: 6, text: 'bad' },
      message: dataOf(await world.get(`/messages/${id}`)),
      ...{ createdAt: epoch, updatedAt: epoch },
      blockedAt: expect.stringMatching(new RegExp(`^[0-9]{10}\\.0*${id}$`)),
    })
    expect(item.blockedAt.split('.')[1]).toHaveLength(15)
    await puller.told()
    const answer = await review(world, 'blocked', id, { status: 'approved', reviewed: true, reviewedBy: 'rita' })
    expect(answer.body).toEqual({ data: { success: true, message: `message ${id} approved` } })
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['so bad'])
    expect(await blocked(world)).toEqual([])
    const told = await puller.told()
    expect(told.map(({ trigger }) => trigger).sort()).toEqual(['message_sent', 'moderation_manual_approved'])
    expect(told.find(({ trigger }) => trigger === 'moderation_manual_approved')?.data).toEqual({
      message: expect.objectContaining({ id, data: expect.objectContaining({ text: 'so bad' }) }),
      moderation: [
        {
          condition,
          rule: { id: 'no-bad', name: 'No bad words', revisionId, action: ['blockMessage'], blockedAt: item.blockedAt },
        },
      ],
      reviewed: true,
    })
  })

  it('gives back what did not count before as it was: it makes nothing unread', async () => {
    const world = await moderatedWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await importWell(world, 'messages', [groupText('old', 'alice', 'team', 1_650_000_000)])
    await sayInGroup(world, 'alice', 'team', 'hi')
    const held = await sayInGroup(world, 'alice', 'team', 'bad')
    dataOf(await review(world, 'blocked', held.id, { status: 'approved', asNew: false }))
    const unread = async () => dataOf(await world.get('/groups/team/conversation', { as: 'bob' })).unreadMessageCount
    expect(await unread()).toBe('1')
    const seen = dataOf(await world.get('/groups/team/messages', { as: 'bob' })) as Array<{ id: string; muid?: string }>
    const imported = seen.find(({ muid }) => muid === 'old')?.id ?? ''
    for (const id of [imported, held.id]) {
      dataOf(await flag(world, id, 'bob'))
      dataOf(await review(world, 'flagged', id, { status: 'disapproved' }))
      dataOf(await review(world, 'blocked', id, { status: 'approved', override: true }))
      expect(texts(await world.get('/groups/team/messages', { as: 'bob' }))).toHaveLength(seen.length)
      expect(await unread()).toBe('1')
    }
  })

  it('leaves it where it was sent first, told to nobody, with asNew: false', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'bad')
    await say(world, 'bob', 'alice', 'later')
    dataOf(await review(world, 'blocked', id, { status: 'approved', asNew: false }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['bad', 'later'])
    expect(dataOf(await world.get('/users/alice/conversation', { as: 'bob' })).unreadMessageCount).toBe('0')
  })

  it('marks it as seen, or rejects it: it stays blocked and is on the list no more', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const seen = await say(world, 'alice', 'bob', 'bad one')
    const rejected = await say(world, 'alice', 'bob', 'bad two')
    expect((await review(world, 'blocked', seen.id, { reviewed: true })).body.data.message).toBe(
      `message ${seen.id} reviewed`,
    )
    dataOf(await review(world, 'blocked', rejected.id, { status: 'rejected' }))
    expect(await blocked(world)).toEqual([])
    expect(idsOf(await blocked(world, '?reviewed=true'))).toEqual([seen.id, rejected.id])
    expect(new Set((await reviewed(world)).map(({ decision }: { decision: string }) => decision))).toEqual(
      new Set(['reviewed', 'rejected']),
    )
    expect(await statusOf(world, rejected.id)).toBe('disapproved')
    dataOf(await review(world, 'blocked', seen.id, { reviewed: false }))
    expect(idsOf(await blocked(world))).toEqual([seen.id])
    dataOf(await review(world, 'blocked', seen.id, { reviewed: true }))
    dataOf(await review(world, 'blocked', seen.id, { status: 'approved' }))
    const refused = await review(world, 'blocked', rejected.id, { status: 'approved' })
    expect(refusal(refused)).toBe('409 ERR_MESSAGE_ALREADY_REVIEWED')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['bad one'])
  })

  it('is told why what may no longer be sent stays held', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'bad')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    const refused = await review(world, 'blocked', id, { status: 'approved' })
    expect(refusal(refused)).toBe('403 ERR_MESSAGE_NOT_RELEASED')
    expect(refused.body.error.devMessage).toContain('bob')
    expect(idsOf(await blocked(world))).toEqual([id])
    expect(await reviewed(world)).toEqual([])
    dataOf(await world.delete('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    dataOf(await review(world, 'blocked', id, { status: 'approved' }))
    expect(await statusOf(world, id)).toBe('approved')
  })

  it('decides about a message that waits for an engine, too', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'bad one')
    const second = await say(world, 'alice', 'bob', 'bad two')
    for (const { id } of [first, second]) await makePending(world, id)
    expect(dataOf(await world.get('/moderation/queue')).pending).toMatchObject({ open: 2, oldestAt: epoch })
    dataOf(await review(world, 'blocked', first.id, { status: 'approved' }))
    dataOf(await review(world, 'blocked', second.id, { status: 'rejected' }))
    expect(await statusOf(world, first.id)).toBe('approved')
    expect(await statusOf(world, second.id)).toBe('disapproved')
    expect(dataOf(await world.get('/moderation/queue')).pending).toEqual({ open: 0 })
  })

  it('waits for a reviewer once its engine blocks it, also where one saw it while it waited', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'wait')
    dataOf(await review(world, 'blocked', id, { reviewed: true, reviewedBy: 'rita' }))
    const { blocked: before } = dataOf(await world.get('/moderation/queue'))
    expect(before).toEqual({ open: 0, claimed: 0 })

    const by = { by: 'engine', hit: hitOf(ruleOf({ ruleId: 'engine', name: 'Engine' }), 'wait', 'wait') } as const
    await blockMessage(world.context, world.app, Number(id), by)
    const [item] = await blocked(world)
    expect(item).toMatchObject({ ruleId: 'engine', message: { id } })
    expect(item).not.toHaveProperty('decision')
    expect(item).not.toHaveProperty('reviewedBy')
    expect(await blocked(world, '?reviewed=true')).toEqual([])
    expect(dataOf(await world.get('/moderation/queue')).blocked).toMatchObject({ open: 1 })

    dataOf(await review(world, 'blocked', id, { reviewed: true, reviewedBy: 'rolf' }))
    expect(await blocked(world)).toEqual([])
    expect(await blocked(world, '?reviewed=true')).toMatchObject([{ decision: 'reviewed', reviewedBy: 'rolf' }])
    dataOf(await review(world, 'blocked', id, { status: 'approved', reviewedBy: 'rita' }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['wait'])
  })

  it('is about what the reviewer saw: nothing is decided about a text that came after it', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const [edited, same] = [await say(world, 'alice', 'bob', 'bad one'), await say(world, 'alice', 'bob', 'bad two')]
    const { id } = edited
    for (const each of [edited, same]) dataOf(await review(world, 'blocked', each.id, { status: 'rejected' }))
    await edit(world, id, 'better')
    const { editedAt } = dataOf(await world.get(`/messages/${id}`))
    for (const seen of [null, editedAt - 1]) {
      for (const list of ['flagged', 'blocked'] as const) {
        const refused = await review(world, list, id, { status: 'approved', editedAt: seen })
        expect(refusal(refused)).toBe('403 ERR_MESSAGE_NOT_RELEASED')
        expect(refused.body.error.devMessage).toContain('edited')
      }
    }
    expect(idsOf(await flagged(world))).toEqual([id])

    const [ids, approved] = [[id, same.id], { status: 'approved', override: true }]
    const several = { ids, ...approved, editedAt: { [id]: null, [same.id]: null } }
    expect(dataOf(await world.call('PATCH', '/moderation/blocked-messages', several))).toMatchObject({
      [id]: { success: false, error: { code: 'ERR_MESSAGE_NOT_RELEASED' } },
      [same.id]: { success: true },
    })
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['bad two'])
    dataOf(await review(world, 'blocked', id, { ...approved, editedAt }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['bad two', 'better'])
  })

  it('needs a decision, and a message that is held', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const open = await say(world, 'alice', 'bob', 'hi')
    const held = await say(world, 'alice', 'bob', 'bad')
    expect(refusal(await review(world, 'blocked', open.id, { status: 'approved' }))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    expect(refusal(await review(world, 'blocked', held.id, {}))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await review(world, 'blocked', 'x', { status: 'approved' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    dataOf(await world.delete(`/messages/${held.id}`, {}, { as: 'alice' }))
    expect(refusal(await review(world, 'blocked', held.id, { status: 'approved' }))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    expect(await blocked(world)).toEqual([])
  })
})

describe('a decision that breaks off', () => {
  /** Takes a decision, and breaks off where it is written into the audit log. */
  const breakOff = async ({ app, context }: World, decision: () => Promise<Answer>) => {
    const name = sql.raw(`break_off_${app.appId}`)
    await context.database.run(
      sql`create function ${name}() returns trigger language plpgsql as $$ begin raise 'broken off'; end $$`,
    )
    await context.database.run(
      sql`create trigger ${name} before insert on audit_log for each row
        when (new.app_id = ${sql.lit(app.appId)} and new.action = 'message_reviewed') execute function ${name}()`,
    )
    expect((await decision()).status).toBe(500)
    await context.database.run(sql`drop function ${name} cascade`)
  }

  it('is carried out as a whole later, and told', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'flag, wait')
    const puller = await pullEvents(world)
    await breakOff(world, () => review(world, 'flagged', id, { status: 'approved' }))
    expect(await reviewed(world)).toEqual([])
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    expect(await puller.told()).toEqual([])
    await finishReviews(world.context, Math.floor(Date.now() / 1000) + 1)
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual(['flag, wait'])
    expect((await puller.told()).map(({ trigger }) => trigger)).toEqual(['message_sent', 'moderation_manual_approved'])
    expect(await reviewed(world)).toMatchObject([{ list: 'flagged', decision: 'approved' }])
    await finishReviews(world.context, Math.floor(Date.now() / 1000) + 1)
    expect(await puller.told()).toEqual([])
    expect(dataOf(await world.get('/audit-log?action=message_reviewed'))).toHaveLength(1)
  })

  it('is not done where another came before it was carried out', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'flag, wait')
    await breakOff(world, () => review(world, 'flagged', id, { status: 'approved' }))
    dataOf(await review(world, 'flagged', id, { status: 'disapproved', override: true }))
    await finishReviews(world.context, Math.floor(Date.now() / 1000) + 1)
    expect(await statusOf(world, id)).toBe('disapproved')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
  })

  it.each([false, true])('lets no text through that came after it (was seen before: %s)', async (wasSeen) => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', wasSeen ? 'hi' : 'flag, wait')
    if (wasSeen) {
      await flagOk(world, id, 'bob')
      dataOf(await review(world, 'flagged', id, { status: 'disapproved' }))
    }
    const list = wasSeen ? 'blocked' : 'flagged'
    await breakOff(world, () => review(world, list, id, { status: 'approved', override: true }))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'flag, wait: unseen' } }, { as: 'alice' }))
    await finishReviews(world.context, Math.floor(Date.now() / 1000) + 1)
    expect(await statusOf(world, id)).toBe('pending')
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toEqual([])
    expect(idsOf(await flagged(world))).toEqual([id])
    dataOf(await review(world, 'flagged', id, { status: 'approved' }))
    expect(texts(await world.get('/users/alice/messages', { as: 'bob' }))).toContain('flag, wait: unseen')
  })
})

describe('several messages', () => {
  it('are decided about in one request, each with its own outcome', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const [one, two] = [await say(world, 'alice', 'bob', 'one'), await say(world, 'alice', 'bob', 'two')]
    await flagOk(world, one.id, 'bob')
    const ids = [one.id, Number(two.id), '999999999']
    const outcomes = dataOf(await world.call('PATCH', '/moderation/flagged-messages', { ids, status: 'disapproved' }))
    expect(outcomes).toEqual({
      [one.id]: { success: true, message: `message ${one.id} disapproved` },
      [two.id]: { success: false, error: expect.objectContaining({ code: 'ERR_MESSAGE_ID_NOT_FOUND' }) },
      '999999999': { success: false, error: expect.objectContaining({ code: 'ERR_MESSAGE_ID_NOT_FOUND' }) },
    })
    const back = await world.call('PATCH', '/moderation/blocked-messages', { ids: [one.id], status: 'approved' })
    expect(dataOf(back)[one.id].success).toBe(true)
    const many = Array.from({ length: 101 }, (_, i) => i + 1)
    const tooMany = await world.call('PATCH', '/moderation/blocked-messages', { ids: many, reviewed: true })
    expect(refusal(tooMany)).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('a claim', () => {
  it('gives each reviewer messages of their own, the oldest first, and nobody else decides about them', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const ids: string[] = []
    for (const text of ['one', 'two', 'three']) ids.push((await say(world, 'alice', 'bob', text)).id)
    for (const id of ids) await flagOk(world, id, 'bob')
    const claim = (reviewer: string, more: object = {}) =>
      world.post('/moderation/claims', { list: 'flagged', reviewer, limit: 2, ...more })
    const [rita, sam] = (await Promise.all([claim('rita'), claim('sam')])).map((answer) => dataOf(answer).ids)
    expect([...rita, ...sam].sort()).toEqual([...ids].sort())
    const [mine] = rita
    expect(dataOf(await claim('sam', { ids: [mine] })).ids).toEqual([])
    expect(dataOf(await claim('rita', { ids: [mine] })).ids).toEqual([mine])
    const other = await review(world, 'flagged', mine, { status: 'approved', reviewedBy: 'sam' })
    expect(refusal(other)).toBe('409 ERR_MESSAGE_ALREADY_CLAIMED')
    const [item] = (await flagged(world)).filter(({ id }: { id: string }) => id === mine)
    expect(item.claim).toEqual({ reviewer: 'rita', until: epoch })
    expect(dataOf(await world.get('/moderation/queue')).flagged).toMatchObject({
      open: 3,
      claimed: 3,
      oldestAge: epoch,
    })
    expect((await review(world, 'flagged', mine, { status: 'approved', reviewedBy: 'rita' })).status).toBe(200)
    expect(idsOf(await flagged(world, '?claimed=false'))).toEqual([])
    dataOf(await world.delete('/moderation/claims', { reviewer: 'sam' }))
    expect(idsOf(await flagged(world, '?claimed=false')).sort()).toEqual([...sam].sort())
  })

  it('is over after its time', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'bad')
    const taken = await world.post('/moderation/claims', { list: 'blocked', reviewer: 'rita', ids: [id] })
    expect(dataOf(taken).ids).toEqual([id])
    const over = { name: 'end_claims', text: 'update moderation_claims set until = 1 where app_id = $1' }
    await world.context.database.query(over, [world.app.appId])
    expect((await blocked(world))[0].claim).toBeUndefined()
    const next = await world.post('/moderation/claims', { list: 'blocked', reviewer: 'sam' })
    expect(dataOf(next).ids).toEqual([id])
  })
})

describe('notes', () => {
  it('stand beside a message in all lists, until they are removed', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'bad')
    const note = dataOf(await world.post(`/moderation/messages/${id}/notes`, { text: 'look at this', author: 'rita' }))
    expect(note).toEqual({ id: expect.any(String), text: 'look at this', author: 'rita', createdAt: epoch })
    expect((await blocked(world))[0].notes).toEqual([note])
    expect(dataOf(await world.get(`/moderation/messages/${id}/notes`))).toEqual([note])
    dataOf(await world.delete(`/moderation/messages/${id}/notes/${note.id}`))
    const again = await world.delete(`/moderation/messages/${id}/notes/${note.id}`)
    expect(refusal(again)).toBe('404 ERR_NOTE_NOT_FOUND')
    expect(refusal(await world.post('/moderation/messages/999999/notes', { text: 'x' }))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    expect(refusal(await world.get('/moderation/messages/999999/notes'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })
})

describe('the lists', () => {
  it('are filtered, and read in pages, the oldest first', async () => {
    const world = await moderatedWorld('alice', 'bob', 'carol')
    const ids: string[] = []
    for (const text of ['bad one', 'bad two', 'kick three']) ids.push((await say(world, 'alice', 'bob', text)).id)
    ids.push((await say(world, 'carol', 'bob', 'bad four')).id)
    const list = async (query: string) => idsOf(await blocked(world, query))
    expect(await list('')).toEqual(ids)
    expect(await list('?order=newest')).toEqual(ids.toReversed())
    expect(await list('?sender=CAROL')).toEqual([ids[3]])
    expect(await list('?ruleId=kicks')).toEqual([ids[2]])
    expect(await list('?conversationId=bob_user_carol')).toEqual([ids[3]])
    expect(await list('?conversationId=group_nowhere')).toEqual([])
    expect(await list('?from=9999999999')).toEqual([])
    expect(await list('?to=1000')).toEqual([])
    const first = await world.get('/moderation/blocked-messages?limit=3')
    expect(first.body.meta).toEqual({ current: { limit: 3, count: 3 }, next: { after: expect.any(String) } })
    const last = await world.get(`/moderation/blocked-messages?limit=3&after=${first.body.meta.next.after}`)
    expect(idsOf(dataOf(last))).toEqual([ids[3]])
    expect(last.body.meta).toEqual({ current: { limit: 3, count: 1 } })
    expect(refusal(await world.get('/moderation/blocked-messages?limit=1001'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/moderation/blocked-messages?after=x'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('of flagged messages are filtered by reason, and by who or which rule flagged', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const spam = await say(world, 'alice', 'bob', 'one')
    const ruled = await say(world, 'alice', 'bob', 'flag two')
    await flagOk(world, spam.id, 'bob', { reasonId: 'spam' })
    const list = async (query: string) => idsOf(await flagged(world, query))
    expect((await list('')).sort()).toEqual([spam.id, ruled.id].sort())
    expect(await list('?reasonId=spam')).toEqual([spam.id])
    expect(await list('?flaggedBy=Bob')).toEqual([spam.id])
    expect(await list('?ruleId=to-see')).toEqual([ruled.id])
    const [item] = await flagged(world, '?ruleId=to-see')
    expect(item).toMatchObject({ flaggedBy: [], flaggedCount: 0, flaggedByRules: [{ ruleId: 'to-see' }] })
    await review(world, 'flagged', spam.id, { status: 'approved', reviewedBy: 'rita' })
    await review(world, 'flagged', ruled.id, { status: 'disapproved', reviewedBy: 'sam' })
    expect(idsOf(await reviewed(world, '?decision=approved'))).toEqual([spam.id])
    expect(idsOf(await reviewed(world, '?reviewedBy=sam'))).toEqual([ruled.id])
    expect(idsOf(await reviewed(world, '?ruleId=to-see'))).toEqual([ruled.id])
    expect(idsOf(await reviewed(world, '?reasonId=spam'))).toEqual([spam.id])
  })
})

describe('the counters', () => {
  const queue = async (world: World) => dataOf(await world.get('/moderation/queue'))

  it('leave out what was deleted', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const ids: string[] = []
    for (const text of ['hi', 'bad', 'bad, too', 'flag']) ids.push((await say(world, 'alice', 'bob', text)).id)
    await flagOk(world, ids[0] ?? '', 'bob')
    await makePending(world, ids[2] ?? '')
    expect(await queue(world)).toMatchObject({ flagged: { open: 2 }, blocked: { open: 1 }, pending: { open: 1 } })
    for (const id of ids) dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    expect(await queue(world)).toEqual({
      ...{ flagged: { open: 0, claimed: 0 }, blocked: { open: 0, claimed: 0 }, pending: { open: 0 } },
    })
    const { database } = world.context
    const open = sql`select from moderation_queue where app_id = ${world.app.appId} and status = 'open'`
    expect(await database.run(open)).toEqual([])
  })

  it('count for an edit since when it waits, whatever became of its message before', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'bad')
    dataOf(await review(world, 'blocked', id, { status: 'approved' }))
    await world.context.database.run(sql`
      update message_moderation set created_at = created_at - 1000, updated_at = updated_at - 1000
      where app_id = ${world.app.appId}`)
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'wait' } }, { as: 'alice' }))
    const { pending } = await queue(world)
    expect(pending).toEqual({ open: 1, oldestAt: epoch, oldestAge: epoch })
    expect(pending.oldestAge).toBeLessThan(1000)
  })

  it('count what waits for a reviewer with what is flagged, and not with what waits for an engine', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await flagOk(world, id, 'bob')
    dataOf(await review(world, 'flagged', id, { status: 'disapproved' }))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'hello' } }, { as: 'alice' }))
    expect(await queue(world)).toMatchObject({ flagged: { open: 1 }, pending: { open: 0 } })
  })
})

describe('figures of rules', () => {
  it('count what each decided, and what reviewers made of it', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const wrong = await say(world, 'alice', 'bob', 'bad one')
    const right = await say(world, 'alice', 'bob', 'bad two')
    await say(world, 'alice', 'bob', 'shadow')
    const looked = await say(world, 'alice', 'bob', 'flag')
    await flagOk(world, looked.id, 'bob')
    await review(world, 'blocked', wrong.id, { status: 'approved' })
    await review(world, 'blocked', right.id, { status: 'rejected' })
    const stats = dataOf(await world.get('/moderation/stats'))
    const none = { hits: 1, shadow: 0, blocked: 0, flagged: 0, upheld: 0, overturned: 0 }
    expect(stats.rules).toEqual([
      { ...none, ruleId: 'no-bad', hits: 2, blocked: 2, upheld: 1, overturned: 1 },
      { ...none, ruleId: 'shadowy', shadow: 1 },
      { ...none, ruleId: 'to-see', flagged: 1 },
    ])
    expect(stats.flags).toBe(1)
    expect(stats.reviews).toEqual({ approved: 1, disapproved: 0, rejected: 1, reviewed: 0 })
    expect(refusal(await world.get('/moderation/stats?from=10&to=5'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/moderation/stats?from=10'))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get('/moderation/stats?from=10&to=20')).rules).toEqual([])
  })
})

type Deed = (world: World, flaggedId: string, otherId: string) => Promise<Answer>
const besideMessages: Readonly<Record<string, Deed>> = {
  'a flag': (world, _, id) => flag(world, id, 'carol', { remark: 'rude' }),
  'a note': (world, id) => world.post(`/moderation/messages/${id}/notes`, { text: 'look at this', author: 'rita' }),
  'an approval': (world, id) => review(world, 'flagged', id, { status: 'approved' }),
  'a disapproval': (world, id) => review(world, 'flagged', id, { status: 'disapproved' }),
}

it.each(Object.entries(besideMessages))(
  '%s leaves nothing beside a message whose group is being deleted',
  async (_, deed) => {
    const world = await moderatedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'hi')
    const other = await sayInGroup(world, 'alice', 'team', 'ho')
    await flagOk(world, id, 'bob')
    dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'bob' }))
    let deletion: Promise<Answer> | undefined
    let answer: Promise<Answer> | undefined
    await world.context.database.transaction(async (tx) => {
      // The deletion comes to this between what stands beside messages and the messages.
      await tx.run(sql`select from reactions where app_id = ${world.app.appId} for update`)
      deletion = world.delete('/groups/team')
      await untilWaitedFor(tx)
      answer = deed(world, id, other.id)
      await Promise.race([answer, untilWaitsBehind(tx)])
    })
    expect((await deletion)?.status).toBe(200)
    expect(refusal((await answer) as Answer)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  },
)
