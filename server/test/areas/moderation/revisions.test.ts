import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../../support/chat.ts'
import { soon } from '../../support/until.ts'
import { createUsers, createWorld, type World } from '../../support/world.ts'

const change = async (world: World, words: string) =>
  dataOf(await world.put('/moderation/keywords/insults', { searchTerms: words }))

/** A world with a list, and a rule that uses it. */
async function worldWithList(mode: 'on' | 'off' = 'on'): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  dataOf(
    await world.post('/moderation/keywords', { id: 'insults', name: 'Insults', category: 'word', searchTerms: 'darn' }),
  )
  const condition = { operand: 'text', category: 'word', isKeywordsReferencePresent: true, value: ['insults'] }
  dataOf(await world.post('/moderation/rules', { id: 'first', name: 'First', mode, conditions: [condition] }))
  return world
}

/** The revisions of the list that are stored, and how many terms they hold together. */
async function kept({ app, context }: World) {
  const rows = await context.database.run<{ revision: number; count: number; terms: string }>(sql`
    select revision, count, terms::text as terms
    from moderation_list_revisions
    where app_id = ${app.appId}
    and list_id = 'insults'
    order by revision`)
  return rows
}
const numbers = async (world: World) => (await kept(world)).map(({ revision }) => revision)
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('revisions', () => {
  it('of a list are the last fifty, and those that decisions and dry runs name', async () => {
    const world = await worldWithList()
    await change(world, 'heck')
    expect((await say(world, 'alice', 'bob', 'heck')).data.moderation.status).toBe('disapproved')
    await change(world, 'drat')
    dataOf(await world.post('/moderation/rules/first/dry-run', {}))
    await soon(async () => expect(dataOf(await world.get('/moderation/rules/first/dry-run')).status).toBe('done'))
    for (const revision of from(4, 55)) await change(world, `word${revision}`)
    expect(await numbers(world)).toEqual([2, 3, ...from(6, 55)])

    // Nothing names them any more: they go when the list changes the next time.
    const [held] = dataOf(await world.get('/moderation/blocked-messages'))
    dataOf(await world.call('DELETE', `/moderation/messages/${held.message.id}`))
    dataOf(await world.post('/moderation/rules/first/dry-run', {}))
    await change(world, 'last')
    expect(await numbers(world)).toEqual(from(7, 56))
  })

  it('of a list that was deleted are the last one, whose terms are gone, and it goes on counting', async () => {
    const world = await worldWithList('off')
    for (const words of ['heck', 'drat']) await change(world, words)
    dataOf(await world.call('DELETE', '/moderation/keywords/insults'))
    expect(await kept(world)).toEqual([{ revision: 3, count: 0, terms: '[]' }])
    const made = { id: 'insults', name: 'Insults', category: 'word', searchTerms: 'darn' }
    expect(dataOf(await world.post('/moderation/keywords', made)).revisionId).toBe(`${world.app.name}_insults_4`)
  })

  it('of a list that was deleted stay as they were where a decision names them', async () => {
    const world = await worldWithList()
    await say(world, 'alice', 'bob', 'darn')
    dataOf(await world.put('/moderation/rules/first', { enabled: false }))
    dataOf(await world.call('DELETE', '/moderation/keywords/insults'))
    expect(await kept(world)).toEqual([{ revision: 1, count: 1, terms: '["darn"]' }])
  })

  it('of a rule are the last thousand, and those that decisions name', async () => {
    const world = await worldWithList()
    const { app, context } = world
    await say(world, 'alice', 'bob', 'darn')
    dataOf(await world.put('/moderation/rules/first', { name: 'Second' }))
    // As if it had been changed very often.
    await context.database.run(sql`
      with changed as (
        update moderation_rules
        set revision = 1100
        where app_id = ${app.appId}
        and id = 'first'
      )
      insert into moderation_rule_revisions
      select app_id, rule_id, n, name, description, mode, filters, conditions, exceptions, actions, created_at, updated_at
      from moderation_rule_revisions
      cross join generate_series(3, 1100) as n
      where app_id = ${app.appId}
      and rule_id = 'first'
      and revision = 2`)
    dataOf(await world.put('/moderation/rules/first', { name: 'Third' }))
    const rows = await context.database.run<{ revision: number }>(sql`
      select revision from moderation_rule_revisions where app_id = ${app.appId} and rule_id = 'first' order by revision`)
    expect(rows.map(({ revision }) => revision)).toEqual([1, ...from(102, 1101)])
    expect(dataOf(await world.get('/moderation/rules/first/revisions?limit=1000'))).toHaveLength(1000)
  })
})
