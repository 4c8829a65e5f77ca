import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { judgedOf } from '../../../src/chat/moderation/describe.ts'
import { createRulebook, type Rulebook } from '../../../src/chat/moderation/rulebook.ts'
import { createInvalidation } from '../../../src/store/invalidation.ts'
import { dataOf } from '../../support/chat.ts'
import { soon } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const rule = (id: string, value: string) => ({
  id,
  name: id,
  conditions: [{ operand: 'text', category: 'word', value }],
})

/** Ids of the rules that find something in a text. */
async function rulesIn(rulebook: Rulebook, { app }: World, text: string): Promise<string[]> {
  const between = { sender: 'alice', kind: 'user', receiver: 'bob' } as const
  const message = judgedOf({ ...between, category: 'message', type: 'text', data: { text } })
  const rules = await rulebook.of(app.appId)
  return rules?.engine.judge(message).hits.map(({ rule: { ruleId } }) => ruleId) ?? []
}

/** The rulebook of another process, which hears of changes by the database alone. */
async function withOther(
  { context: { database } }: World,
  work: (other: Rulebook, errors: string[]) => Promise<void>,
): Promise<void> {
  const errors: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line).msg) })
  const invalidation = createInvalidation(database)
  const other = createRulebook({ database, invalidation, log })
  await invalidation.start()
  try {
    await work(other, errors)
  } finally {
    await invalidation.stop()
  }
}

describe('the rulebook', () => {
  it('takes up changes that another process made, and none of another app', async () => {
    const [world, stranger] = [await createWorld(), await createWorld()]
    await withOther(world, async (other) => {
      expect(await other.of(world.app.appId)).toBeUndefined()
      dataOf(await world.post('/moderation/rules', rule('first', 'darn')))
      await soon(async () => expect(await rulesIn(other, world, 'darn')).toEqual(['first']))
      dataOf(await world.put('/moderation/rules/first', rule('first', 'heck')))
      await soon(async () => expect(await rulesIn(other, world, 'darn, heck')).toEqual(['first']))
      await soon(async () => expect(await rulesIn(other, world, 'darn')).toEqual([]))
      dataOf(await world.delete('/moderation/rules/first'))
      await soon(async () => expect(await other.of(world.app.appId)).toBeUndefined())
      expect(await other.of(stranger.app.appId)).toBeUndefined()
    })
  })

  it('judges by the rules as they are once the line was cut by which it hears of changes', async () => {
    const world = await createWorld()
    const { database } = world.context
    let tell: (appId: string | undefined) => void = () => {}
    const invalidation = { ...createInvalidation(database), onChange: (_: string, drop: typeof tell) => (tell = drop) }
    const other = createRulebook({ database, invalidation, log: pino({ level: 'silent' }) })
    dataOf(await world.post('/moderation/rules', rule('first', 'darn')))
    expect(await rulesIn(other, world, 'darn')).toEqual(['first'])
    dataOf(await world.put('/moderation/rules/first', rule('first', 'heck')))
    tell(undefined)
    const judging = [rulesIn(other, world, 'darn'), rulesIn(other, world, 'heck')]
    expect(await Promise.all(judging)).toEqual([[], ['first']])
  })

  it('leaves out a rule that cannot be compiled, says so, and keeps the others', async () => {
    const world = await createWorld()
    dataOf(await world.post('/moderation/rules', rule('sound', 'darn')))
    dataOf(await world.post('/moderation/rules', rule('broken', 'heck')))
    await world.context.database.run(sql`
      update moderation_rule_revisions
      set conditions = '[{"id": 1, "isKeywordsReferencePresent": false, "isMediaPresent": false, "entity": "message",
        "operand": "text", "category": "pattern", "operator": "contains", "value": ["("]}]'
      where app_id = ${world.app.appId}
      and rule_id = 'broken'`)
    await withOther(world, async (other, errors) => {
      expect(await rulesIn(other, world, 'darn, heck')).toEqual(['sound'])
      expect(errors).toEqual([
        'could not compile the moderation rules together; each is compiled by itself',
        'a moderation rule is not in effect: it could not be compiled',
      ])
    })
  })

  it('does not put back what was read for an app that was let go of meanwhile', async () => {
    const [world, stranger] = [await createWorld(), await createWorld()]
    const { appId } = world.app
    dataOf(await world.post('/moderation/rules', rule('first', 'darn')))
    const { database } = world.context
    let goOn = () => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    let isFirst = true
    /** The first reading of rules gets its rows when everything else is over. */
    const query = async (...asked: Parameters<typeof database.query>) => {
      const waits = isFirst
      isFirst = false
      const rows = await database.query(...asked)
      if (waits) await held
      return rows
    }
    const slow = { ...database, query: query as typeof database.query }
    const log = pino({ level: 'silent' })
    const rulebook = createRulebook({ database: slow, invalidation: createInvalidation(database), log, maxApps: 1 })
    const reading = rulebook.of(appId)
    await rulebook.of(stranger.app.appId)
    dataOf(await world.put('/moderation/rules/first', rule('first', 'heck')))
    expect(await rulesIn(rulebook, world, 'heck')).toEqual(['first'])
    goOn()
    await reading
    expect(await rulesIn(rulebook, world, 'heck')).toEqual(['first'])
    expect(await rulesIn(rulebook, world, 'darn')).toEqual([])
  })

  it('keeps so many terms of all apps together, those that were asked for last', async () => {
    const [first, second] = [await createWorld(), await createWorld()]
    for (const world of [first, second]) {
      const terms = Array.from({ length: 60 }, (_, i) => `word${i}`)
      dataOf(await world.post('/moderation/rules', { ...rule('only', 'darn'), exceptions: terms }))
    }
    const { database } = first.context
    const read: unknown[] = []
    const query = (...asked: Parameters<typeof database.query>) => {
      read.push(asked[1]?.[0])
      return database.query(...asked)
    }
    const watched = { ...database, query: query as typeof database.query }
    const invalidation = createInvalidation(database)
    const rulebook = createRulebook({ database: watched, invalidation, log: pino({ level: 'silent' }), maxTerms: 100 })
    const [one, other] = [first.app.appId, second.app.appId]
    for (const appId of [one, one, other, other, one]) await rulebook.of(appId)
    expect(read).toEqual([one, other, one])
  })

  it('asks for facts of sender and receiver only where a filter looks at them', async () => {
    const world = await createWorld()
    const filter = (operand: string, value: string) => ({
      filters: [{ type: 'sender', entity: 'user', operand, operator: 'notEquals', value }],
    })
    const asksAfter = async (body: object) => {
      dataOf(await world.put('/moderation/rules/first', body))
      return (await world.context.rulebook.of(world.app.appId))?.asks
    }
    dataOf(await world.post('/moderation/rules', rule('first', 'darn')))
    expect(await asksAfter({ name: 'First' })).toEqual({ sender: false, receiver: false, scope: false })
    expect(await asksAfter(filter('uid', 'alice'))).toEqual({ sender: false, receiver: false, scope: false })
    expect(await asksAfter(filter('role', 'staff'))).toEqual({ sender: true, receiver: false, scope: false })
    expect(await asksAfter(filter('scope', 'admin'))).toEqual({ sender: false, receiver: false, scope: true })
  })
})
