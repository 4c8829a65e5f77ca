import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../../support/chat.ts'
import { type Answer, createWorld, type World } from '../../support/world.ts'

const lists = '/moderation/keywords'
const rules = '/moderation/rules'

const patternsOf = (count: number) => Array.from({ length: count }, (_, index) => `a${index}b`)
const onPatterns = (count: number) => [{ operand: 'text', category: 'pattern', value: patternsOf(count) }]

const makeList = (world: World, id: string, count: number) =>
  world.post(lists, { id, name: id, category: 'pattern', searchTerms: patternsOf(count) })

function expectFull(answer: Answer, what: string): void {
  expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
  expect(answer.body.error.devMessage).toContain(`This app can have at most ${what} in its lists and rules together.`)
}

describe('terms of the lists and of the rules of an app are counted together:', () => {
  it('patterns', async () => {
    const world = await createWorld()
    dataOf(await makeList(world, 'list', 100))
    const rule = { id: 'rule', name: 'R', conditions: onPatterns(90) }
    dataOf(await world.post(rules, rule))
    const [most, tooMany] = ['200 patterns', { conditions: [...onPatterns(60), ...onPatterns(41)] }]
    expectFull(await world.post(rules, { ...rule, id: 'second', conditions: onPatterns(11) }), most)
    expectFull(await world.put(`${rules}/rule`, tooMany), most)
    expectFull(await makeList(world, 'second', 11), most)
    expectFull(await world.put(`${lists}/list`, { searchTerms: patternsOf(111) }), most)
    for (const path of [`${rules}/second`, `${lists}/second`]) expect(refusal(await world.get(path))).toMatch(/^404/)
    expect(dataOf(await world.get(`${rules}/rule`)).conditions[0].value).toHaveLength(90)

    dataOf(await world.delete(`${lists}/list`))
    dataOf(await world.put(`${rules}/rule`, tooMany))
    expectFull(await makeList(world, 'list', 100), most)
    dataOf(await world.delete(`${rules}/rule`))
    dataOf(await makeList(world, 'list', 100))
  })

  it('words, those of exceptions among them, and their characters', async () => {
    const world = await createWorld()
    const text = Array.from({ length: 100_000 }, (_, index) => `word${index}`).join(',')
    const list = (id: string, searchTerms: string) => ({ id, name: id, category: 'word', searchTerms })
    dataOf(await world.post(lists, list('first', text)))
    const [one, ...others] = text.split(',')
    dataOf(await world.post(lists, list('second', others.join(','))))
    const rule = { id: 'rule', name: 'R', conditions: [{ operand: 'text', category: 'word', value: ['darn'] }] }
    expectFull(await world.post(rules, { ...rule, exceptions: [one] }), '200000 words')
    dataOf(await world.post(rules, rule))
    expectFull(await world.put(`${rules}/rule`, { exceptions: [one] }), '200000 words')
    const long = Array.from({ length: 10_000 }, (_, index) => `${index}`.padEnd(99, 'x')).join(',')
    dataOf(await world.put(`${lists}/first`, { searchTerms: long }))
    dataOf(await world.put(`${lists}/second`, { searchTerms: long }))
    dataOf(await world.put(`${rules}/rule`, { exceptions: Array(190).fill('x'.repeat(100)) }))
    expectFull(
      await world.put(`${rules}/rule`, { exceptions: Array(202).fill('x'.repeat(100)) }),
      '2000000 characters of words',
    )
  })

  it('instructions of patterns; what an app had before there was a limit can be changed, and made smaller', async () => {
    const world = await createWorld()
    const large = (count: number) => Array.from({ length: count }, (_, index) => `x[a-z]{1,${850 + index}}y`)
    const list = { id: 'list', name: 'list', category: 'pattern', searchTerms: large(6) }
    dataOf(await world.post(lists, list))
    const rule = (count: number) => [{ operand: 'text', category: 'pattern', value: large(count) }]
    const refused = await world.post(rules, { id: 'rule', name: 'R', conditions: rule(6) })
    expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
    expect(refused.body.error.devMessage).toMatch(/would have 2\d{4} instructions .* can have 20000/)
    dataOf(await world.post(rules, { id: 'rule', name: 'R', conditions: rule(5) }))

    // From before there was a limit.
    const { context, app } = world
    await context.database.run(
      sql`update moderation_list_revisions set terms = ${JSON.stringify(large(20))}::json, count = 20
        where app_id = ${app.appId} and list_id = 'list'`,
    )
    for (const change of [{ name: 'Another' }, { enabled: false }, { enabled: true }, { conditions: rule(4) }])
      dataOf(await world.put(`${rules}/rule`, change))
    dataOf(await world.put(`${lists}/list`, { name: 'Another' }))
    expect(refusal(await world.put(`${rules}/rule`, { conditions: rule(5) }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put(`${lists}/list`, { searchTerms: large(21) }))).toBe('400 ERR_BAD_REQUEST')
    dataOf(await world.put(`${lists}/list`, { searchTerms: large(19) }))
    expect(dataOf(await world.get(`${rules}/rule`)).conditions[0].value).toHaveLength(4)
  })

  it('patterns of one rule, before any is compiled', async () => {
    const world = await createWorld()
    const conditions = Array.from({ length: 10 }, () => onPatterns(100)[0])
    expectFull(await world.post(rules, { id: 'rule', name: 'R', conditions }), '200 patterns')
  })

  it('by those who write at the same time', async () => {
    const world = await createWorld()
    const answers = await Promise.all([
      makeList(world, 'list', 120),
      world.post(rules, { id: 'rule', name: 'R', conditions: [...onPatterns(60), ...onPatterns(60)] }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  it('what names lists, labels or numbers is no term, and what is predefined counts once it is changed', async () => {
    const world = await createWorld()
    dataOf(await makeList(world, 'list', 198))
    const listed = { operand: 'text', category: 'pattern', isKeywordsReferencePresent: true, value: ['list'] }
    const conditions = [listed, { operand: 'text', category: 'length', value: 'greaterThan_100' }]
    dataOf(await world.post(rules, { id: 'rule', name: 'R', conditions }))
    // Two patterns each.
    dataOf(await world.put(`${rules}/email_filter`, { enabled: true }))
    expectFull(await world.put(`${rules}/contact_details_filter`, { enabled: true }), '200 patterns')
  })
})
