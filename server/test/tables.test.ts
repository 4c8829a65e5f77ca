import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../src/doctor/drift.ts'
import { tables } from '../src/tables.ts'
import { createGroup, dataOf, sayInGroup } from './support/chat.ts'
import { createUsers, createWorld } from './support/world.ts'

describe('tables', () => {
  it('are all declared, each once, with what becomes of their rows', async () => {
    const { database } = (await createWorld()).context
    const found = await database.run<{ name: string }>(sql`
      select table_name as name
      from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`)
    const declared = tables.map(({ name }) => name)
    expect(declared.toSorted()).toEqual(found.map(({ name }) => name).toSorted())
  })

  it('with a column of users, groups, conversations or messages go with those, or say why not', async () => {
    const { database } = (await createWorld()).context
    const naming = ['uid', 'guid', 'conversation', 'message', 'message_id', 'parent_id', 'sender', 'owner', 'peer']
    const found = await database.run<{ name: string }>(sql`
      select distinct table_name as name
      from information_schema.columns
      where table_schema = 'public' and column_name = any(${naming}::text[])`)
    for (const { name } of found) {
      const table = tables.find((declared) => declared.name === name)
      const erasures = [...(table?.ofUser ?? []), ...(table?.ofGroup ?? []), ...(table?.ofMessages ?? [])]
      expect(table?.untouched ?? erasures.length, name).toBeTruthy()
    }
  })

  it('that are in no entry are found by the doctor', async () => {
    const { app, context } = await createWorld()
    const undo = new Error('undo')
    const looking = context.database.transaction(async (tx) => {
      await tx.run(sql`create table forgotten (app_id integer, uid text)`)
      expect(await findDrift(tx, app.appId)).toContainEqual(
        expect.objectContaining({
          check: 'tables',
          examples: [{ subject: 'forgotten', stored: 'a table', expected: 'an entry in tables.ts' }],
        }),
      )
      throw undo
    })
    await expect(looking).rejects.toBe(undo)
  })

  it.each([
    ['saved_messages', 'uid', sql`update saved_messages set uid = 'nobody' where app_id = `],
    ['saved_messages', 'message_id', sql`update saved_messages set message_id = -1 where app_id = `],
    ['group_members', 'guid', sql`update group_members set guid = 'nowhere' where app_id = `],
    ['messages', 'conversation', sql`update messages set conversation = -1 where app_id = `],
  ])('with rows that stayed behind are found by the doctor: %s, by %s', async (table, column, damage) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'one')
    dataOf(await world.post(`/messages/${id}/save`, undefined, { as: 'alice' }))
    const { database } = world.context
    expect(await findDrift(database, world.app.appId)).toEqual([])
    await database.run(sql`${damage}${world.app.appId}`)
    const found = (await findDrift(database, world.app.appId)).find(({ check }) => check === 'leftovers')
    expect(found?.examples.map(({ stored }) => stored)).toContain(`named in ${table}.${column}`)
  })
})
