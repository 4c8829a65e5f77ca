import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'

/**
 * Blocks hide nothing in groups by themselves: lists and sockets leave out what a blocked user wrote where they are asked to
 * (`hideMessagesFromBlockedUsers`), and then what stands inside messages of others, too. Of a message `m`: its sender is not
 * blocked by the viewer.
 */
export function notBlockedSql(viewer: string): Fragment {
  return sql`not exists (
      select from blocks b
      where b.app_id = m.app_id and b.blocker = ${viewer} and b.blocked = m.sender
      offset 0
    )`
}

const selectBlocked = statement(`
  select blocked
  from blocks
  where app_id = $1
  and blocker = $2
  and blocked = any($3::text[])`)

/** Of some users, those whom a viewer has blocked. */
export async function readBlocked(
  on: Queryable,
  appId: number,
  viewer: string,
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ blocked: string }>(selectBlocked, [appId, viewer, [...new Set(uids)]])
  return new Set(rows.map(({ blocked }) => blocked))
}
