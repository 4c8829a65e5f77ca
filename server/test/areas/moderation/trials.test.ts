import { describe, expect, it, onTestFinished } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../../support/chat.ts'
import { soon } from '../../support/until.ts'
import { createUsers, createWorld, type World } from '../../support/world.ts'

const path = '/moderation/rules/no-insults'
const word = (...value: string[]) => ({ operand: 'text', category: 'word', value })

async function worldWithRule(more: object = {}): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  const rule = { id: 'no-insults', name: 'No insults', mode: 'off', conditions: [word('darn', 'heck')], ...more }
  dataOf(await world.post('/moderation/rules', rule))
  return world
}

/** Runs a dry run to its end. */
async function dryRun(world: World, body: object = {}) {
  dataOf(await world.post(`${path}/dry-run`, body))
  return soon(async () => {
    const run = dataOf(await world.get(`${path}/dry-run`))
    expect(run.status).not.toBe('running')
    return run
  })
}

describe('texts tried on a rule', () => {
  it('are told where it finds something, whatever its mode', async () => {
    const world = await worldWithRule({ exceptions: ['darn good'] })
    const { revisionId, results } = dataOf(
      await world.post(`${path}/test`, { texts: ['What the h e c k!', 'darn good', 'DARN'] }),
    )
    expect(revisionId).toBe(`${world.app.name}_no-insults_1`)
    expect(results).toEqual([
      {
        isHit: true,
        hits: [{ condition: 1, match: { in: 'text', start: 9, end: 16, text: 'h e c k' } }],
        questions: [],
      },
      { isHit: false, hits: [], questions: [] },
      { isHit: true, hits: [{ condition: 1, match: { in: 'text', start: 0, end: 4, text: 'DARN' } }], questions: [] },
    ])
  })

  it('are told which list it was, and what only an engine could answer', async () => {
    const world = await worldWithRule()
    const tried = async (rule: string, text: string) => {
      return dataOf(await world.post(`/moderation/rules/${rule}/test`, { texts: [text] })).results[0]
    }
    expect(await tried('text-profanity-filter', 'oh fuck')).toMatchObject({
      hits: [{ list: { id: 'profanity-list', revisionId: `${world.app.name}_profanity-list_1` }, match: { start: 3 } }],
    })
    const { isHit, questions } = await tried('spam_filter', 'buy now')
    expect({ isHit, asked: questions.map(({ list }: { list: { id: string } }) => list.id) }).toEqual({
      isHit: false,
      asked: ['prompt-spam-scam'],
    })
  })

  it('are asked with filters where it is said between whom', async () => {
    const filters = [{ type: 'sender', entity: 'user', operand: 'uid', operator: 'notEquals', value: 'alice' }]
    const world = await worldWithRule({ filters })
    const isHit = async (more: object) =>
      dataOf(await world.post(`${path}/test`, { texts: ['darn'], ...more })).results[0].isHit
    expect(await isHit({})).toBe(true)
    expect(await isHit({ sender: 'bob', receiver: 'alice' })).toBe(true)
    expect(await isHit({ sender: 'Alice', receiver: 'bob' })).toBe(false)
    const half = await world.post(`${path}/test`, { texts: ['darn'], sender: 'bob' })
    expect(half.body.error.details).toEqual([{ path: 'body/receiver', message: 'is required' }])
    expect(refusal(await world.post(`${path}/test`, { texts: [] }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.post('/moderation/rules/other/test', { texts: ['x'] }))).toBe('404 ERR_RULE_NOT_FOUND')
  })
})

describe('a dry run', () => {
  it('tells what a rule would have met, by day and sender, with examples, and changes nothing', async () => {
    const world = await worldWithRule()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const first = await say(world, 'alice', 'bob', 'oh darn it')
    await say(world, 'bob', 'alice', 'hello')
    const second = await sayInGroup(world, 'alice', 'team', 'heck')
    const third = await say(world, 'bob', 'alice', 'heck no')
    const gone = await say(world, 'alice', 'bob', 'darn, gone')
    dataOf(await world.delete(`/messages/${gone.id}`))
    await world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'darn' } })
    const run = await dryRun(world)
    expect(run).toMatchObject({
      ...{ status: 'done', progress: 1, looked: 4, hits: 3, sample: 1, ignored: [], ruleId: 'no-insults' },
      revisionId: `${world.app.name}_no-insults_1`,
      senders: [
        { uid: 'alice', hits: 2 },
        { uid: 'bob', hits: 1 },
      ],
    })
    const day = new Date(first.sentAt * 1000).toISOString().slice(0, 10)
    expect(run.days).toContainEqual(expect.objectContaining({ day }))
    expect(run.days.reduce((sum: number, { hits }: { hits: number }) => sum + hits, 0)).toBe(3)
    const examples = run.examples.toSorted(
      (a: { messageId: string }, b: { messageId: string }) => +a.messageId - +b.messageId,
    )
    expect(examples.map(({ messageId }: { messageId: string }) => messageId)).toEqual([first.id, second.id, third.id])
    expect(examples[0]).toEqual({
      ...{ messageId: first.id, sender: 'alice', sentAt: first.sentAt, text: 'oh darn it', condition: 1 },
      match: { in: 'text', start: 3, end: 7, text: 'darn' },
    })
    expect(dataOf(await world.get(`/messages/${first.id}`)).data.moderation).toBeUndefined()
  })

  it('has a precision with its interval once its examples are labelled', async () => {
    const world = await worldWithRule()
    const ids = []
    for (const text of ['darn', 'darn you', 'heck', 'heck yes']) ids.push((await say(world, 'alice', 'bob', text)).id)
    expect(await dryRun(world)).not.toHaveProperty('precision')
    const label = (id: string, label: string | null) => world.put(`${path}/dry-run/examples/${id}`, { label })
    for (const id of ids.slice(0, 3))
      expect(dataOf(await label(id, 'right'))).toEqual({ messageId: id, label: 'right' })
    dataOf(await label(ids[3], 'wrong'))
    const { precision, examples } = dataOf(await world.get(`${path}/dry-run?examples=2`))
    expect(precision).toEqual({
      ...{ labelled: 4, right: 3, share: 0.75 },
      ...{ low: expect.closeTo(0.3006, 3), high: expect.closeTo(0.9544, 3) },
    })
    expect(examples).toHaveLength(2)
    expect(dataOf(await label(ids[3], null))).toEqual({ messageId: ids[3] })
    expect(dataOf(await world.get(`${path}/dry-run`)).precision).toMatchObject({
      labelled: 3,
      right: 3,
      share: 1,
      high: 1,
    })
    expect(refusal(await label('4000000000000001', 'right'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await label('x', 'right'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await label(ids[0], 'maybe'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('looks at the same, in smaller portions, while clients ask', async () => {
    const world = await worldWithRule()
    const messages = Array.from({ length: 1_234 }, (_, n) => ({
      ...{ muid: `m-${n}`, sender: 'alice', receiver: 'bob', receiverType: 'user', type: 'text', category: 'message' },
      ...{ sentAt: 1_700_000_000 + n, data: { text: n % 10 === 0 ? 'darn' : 'fine' } },
    }))
    for (const part of [messages.slice(0, 700), messages.slice(700)]) {
      dataOf(await world.post('/data_import/messages', { messages: part }))
    }
    const { demand } = world.context.metrics
    // As if there were thousands of requests a second.
    const asking = setInterval(() => (demand.count += 100), 5)
    onTestFinished(() => clearInterval(asking))
    const run = await dryRun(world, { from: 1 })
    expect(run).toMatchObject({ status: 'done', looked: 1_234, hits: 124 })
    expect(run.senders).toEqual([{ uid: 'alice', hits: 124 }])
  })

  it('looks at the time and the share that it was given, through many portions', async () => {
    const world = await worldWithRule()
    const past = (n: number, sentAt: number) => ({
      ...{ muid: `m-${n}`, sender: 'alice', receiver: 'bob', receiverType: 'user', type: 'text', category: 'message' },
      ...{ sentAt, data: { text: n % 10 === 0 ? 'darn' : 'fine' } },
    })
    const from = 1_700_000_000
    const messages = Array.from({ length: 700 }, (_, n) => past(n, from + 60 * n))
    dataOf(await world.post('/data_import/messages', { messages }))
    const run = await dryRun(world, { from, to: from + 60 * 599 })
    expect(run).toMatchObject({ looked: 600, hits: 60, from, to: from + 60 * 599 })
    const half = await dryRun(world, { from: String(from), sample: 0.5 })
    expect(half.looked).toBeGreaterThan(250)
    expect(half.looked).toBeLessThan(450)
    expect(await dryRun(world, { from: 1, to: 2 })).toMatchObject({ status: 'done', looked: 0, hits: 0, examples: [] })
    expect(refusal(await world.post(`${path}/dry-run`, { from: 2, to: 1 }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.post(`${path}/dry-run`, { sample: 0 }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('is of the rule as it was when it began, and forgets with the message and its sender', async () => {
    const world = await worldWithRule()
    await createUsers(world, 'carol')
    const said = await say(world, 'alice', 'bob', 'darn')
    await say(world, 'carol', 'bob', 'heck')
    await dryRun(world)
    dataOf(await world.put(path, { conditions: [word('gosh')] }))
    const run = dataOf(await world.get(`${path}/dry-run`))
    expect(run).toMatchObject({ revisionId: `${world.app.name}_no-insults_1`, hits: 2 })
    dataOf(await world.delete(`/messages/${said.id}`))
    dataOf(await world.delete('/users/carol', { permanent: true }))
    const after = dataOf(await world.get(`${path}/dry-run`))
    expect(after.examples).toEqual([])
    expect(after.senders).toEqual([{ uid: 'alice', hits: 1 }])
    expect(await dryRun(world)).toMatchObject({ revisionId: `${world.app.name}_no-insults_2`, hits: 0 })
  })

  it('is stopped, and says which conditions it cannot ask', async () => {
    const conditions = [word('darn'), { operand: 'text', category: 'rate', value: 'greaterThan_5' }]
    const world = await worldWithRule({ conditions })
    expect(refusal(await world.get(`${path}/dry-run`))).toBe('404 ERR_DRY_RUN_NOT_FOUND')
    expect(refusal(await world.delete(`${path}/dry-run`))).toBe('404 ERR_DRY_RUN_NOT_FOUND')
    const begun = dataOf(await world.post(`${path}/dry-run`, {}))
    expect(begun.ignored).toEqual([2])
    expect(dataOf(await world.delete(`${path}/dry-run`)).success).toBe(true)
    const { status } = dataOf(await world.get(`${path}/dry-run`))
    expect(['stopped', 'done']).toContain(status)
    expect(refusal(await world.post('/moderation/rules/other/dry-run', {}))).toBe('404 ERR_RULE_NOT_FOUND')
    const other = await createWorld()
    expect(refusal(await other.get(`${path}/dry-run`))).toBe('404 ERR_RULE_NOT_FOUND')
  })
})
