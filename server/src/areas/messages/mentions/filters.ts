import { sql } from 'kysely'
import { traits } from '../../../chat/messages/traits.ts'
import type { Fragment } from '../../../store/statement.ts'

/** Its text mentions somebody whom the app knows. */
export function mentionsAnybody(): Fragment {
  return sql`m.traits & ${traits.mentions}::int <> 0 and exists (
    select from users u
    where u.app_id = m.app_id
    and u.uid = any(m.mentioned)
  )`
}

/** Its text mentions one of these uids (in lower case). */
export function mentionsAnyOf(uids: readonly string[]): Fragment {
  return sql`m.traits & ${traits.mentions}::int <> 0 and m.mentioned && ${uids}::text[]`
}
