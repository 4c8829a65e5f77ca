import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { auditLinked } from '../support/audit.ts'
import { createGroup, dataOf, sayInGroup } from '../support/chat.ts'
import { indexed } from '../support/search.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/**
 * How many rows each table has of one app. Of the search index only those that say something: it is filled and cleared
 * behind the sends, and what is deleted leaves an empty row until it is cleared.
 */
async function countRows(world: World): Promise<Record<string, number>> {
  const { database } = world.context
  const tables = await database.run<{ name: string }>(sql`
    select table_name as name
    from information_schema.columns
    where table_schema = 'public'
    and column_name = 'app_id'
    order by table_name`)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await database.run<{ count: number }>(sql`
      select count(*) as count
      from ${sql.table(name)}
      where app_id = ${world.app.appId}
      ${name === 'search_entries' ? sql`and body <> ''` : sql``}`)
    counts[name] = row?.count ?? 0
  }
  return counts
}

it('A deleted group leaves no row in any table', async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'eve')
  await createGroup(world, 'stays', 'alice', { participants: ['bob'] })
  await sayInGroup(world, 'bob', 'stays', 'hello')
  await indexed(world)
  await auditLinked(world)
  const before = await countRows(world)

  await createGroup(world, 'g', 'alice', { participants: ['bob'] })
  dataOf(await world.post('/groups/g/members', { usersToBan: ['eve'] }))
  const { id } = await sayInGroup(world, 'bob', 'g', 'a secret')
  await sayInGroup(world, 'alice', 'g', 'a reply', { parentId: id })
  dataOf(await world.post('/groups/g/conversation/read', {}, { as: 'alice' }))
  const { appId } = world.app
  const hangOn = [
    sql`insert into reactions (app_id, message_id, reaction, uid, reacted_at) values (${appId}, ${id}, 'x', 'bob', 1)`,
    sql`insert into interactions values (${appId}, ${id}, 'bob', 'button', 1)`,
    sql`insert into saved_messages values (${appId}, 'bob', ${id}, 1)`,
    sql`insert into pinned_messages
      select app_id, conversation, id, 'bob', 1 from messages where app_id = ${appId} and id = ${id}`,
    sql`insert into thread_subscriptions values (${appId}, 'bob', ${id}, 1) on conflict do nothing`,
    sql`insert into threads
      select app_id, id, conversation, 1, id, 1 from messages where app_id = ${appId} and id = ${id}
      on conflict do nothing`,
    sql`insert into moderation_flags (app_id, message, uid, flagged_at) values (${appId}, ${id}, 'alice', 1)`,
    sql`insert into moderation_claims values (${appId}, ${id}, 'rita', 9999999999)`,
    sql`insert into moderation_notes (app_id, message, text, created_at) values (${appId}, ${id}, 'look', 1)`,
    sql`insert into moderation_reviews (app_id, message, list, decision, reviewed_at, settled)
      values (${appId}, ${id}, 'flagged', 'approved', 1, true)`,
    sql`insert into moderation_queue (app_id, message, opened_at) values (${appId}, ${id}, 1)`,
    sql`insert into moderation_decisions (app_id, message, lane, decision, at, acted)
      values (${appId}, ${id}, 'one', 'approved', 1, true)`,
    sql`insert into message_moderation (app_id, message, conversation, sender, status, lane, created_at, updated_at)
      select app_id, id, conversation, sender, 'approved', 'one', 1, 1 from messages where app_id = ${appId} and id = ${id}`,
    sql`insert into app_pinned_conversations values (${appId}, 2, 'g', 0, 1)`,
  ]
  for (const insert of hangOn) await world.context.database.run(insert)
  const between = await countRows(world)
  const filled = Object.keys(between).filter((table) => between[table] !== before[table])
  expect(filled).toEqual(
    expect.arrayContaining([
      'conversation_states',
      'conversations',
      'group_bans',
      'group_members',
      'groups',
      'messages',
      'receipt_steps',
    ]),
  )

  dataOf(await world.delete('/groups/g'))
  // The audit log tells of the ban, and that it was deleted. What was sent there counts as sent; until which day rules are counted is written now and then.
  const { usage_messages, usage_rule_days, ...others } = await countRows(world)
  expect(usage_messages).toBeLessThan(3)
  expect(usage_rule_days).toBeLessThan(2)
  const written = { usage_messages, usage_rule_days }
  expect({ ...others, ...written }).toEqual({ ...before, audit_log: (before.audit_log ?? 0) + 2, ...written })
})
