import { sql } from 'kysely'
import type { ErasableTable } from '../chat/erasure.ts'
import { appKey } from '../store/app-key.ts'
import type { Fragment } from '../store/statement.ts'

/** Of an app that is being removed there is less and less, which is as it should be. */
export const notRemoving = (alias: string): Fragment =>
  sql`${sql.ref(`${alias}.app_id`)} not in (select app_id from apps where removing_at is not null)`

/**
 * Tables with rows of apps that are not declared, so that nothing is said of their rows, and declared ones that are not
 * there. Others that somebody keeps in the same database are no matter of ours.
 */
export function findUndeclared(tables: readonly ErasableTable[]): Fragment {
  const declared = tables.map(({ name }) => name)
  return sql`
      select coalesce(t.name, d.name) as subject,
        case when t.name is null then 'no table' else 'a table' end as stored,
        case when d.name is null then 'an entry in tables.ts' else 'a table' end as expected
      from (
        select t.table_name::text as name, exists (
            select from information_schema.columns c
            where c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name = 'app_id'
          ) as is_of_apps
        from information_schema.tables t
        where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
      ) t
      full join unnest(${declared}::text[]) as d(name) on d.name = t.name
      where t.name is null or d.name is null and t.is_of_apps`
}

/** Rows that name a user, a group, a conversation or a message that is not there: they should have gone with it. */
export function findLeftovers(tables: readonly ErasableTable[], appId: number | null): Fragment {
  const searches = tables.flatMap(({ name, naming: { uids = [], guid, conversation, message, position } }) => [
    ...uids.map((column) => leftIn(name, column, 'users', 'uid')),
    ...(guid === undefined || name === 'groups' ? [] : [leftIn(name, guid, 'groups', 'guid')]),
    ...(conversation === undefined ? [] : [leftIn(name, conversation, 'conversations', 'key')]),
    ...(message === undefined ? [] : [leftIn(name, message, 'messages', 'id', sql`and not o.purged`)]),
    ...(position === undefined ? [] : [leftIn(name, position, 'messages', 'id')]),
  ])
  return sql.join(searches, sql` union all `)

  function leftIn(table: string, column: string, of: string, key: string, condition = sql``): Fragment {
    const named = sql.ref(`t.${column}`)
    return sql`
      select t.app_id || '/' || ${named} as subject, ${sql.lit(`named in ${table}.${column}`)} as stored,
        ${sql.lit(`in ${of}`)} as expected
      from ${sql.table(table)} t
      where ${appId === null ? notRemoving('t') : sql`t.app_id = ${appKey(appId)}`}
      and ${named} is not null
      and not exists (
        select from ${sql.table(of)} o
        where o.app_id = t.app_id and ${sql.ref(`o.${key}`)} = ${named} ${condition}
      )`
  }
}
