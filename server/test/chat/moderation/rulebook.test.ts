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
  const engine = await rulebook.engineOf(app.appId)
  return engine?.judge(message).hits.map(({ rule: { ruleId } }) => ruleId) ?? []
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
        'the rules of moderation could not be compiled; each is tried by itself',
        'a rule of moderation does not hold: it could not be compiled',
      ])
    })
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
