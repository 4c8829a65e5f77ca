import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'

/**
 * Whether the user of a row is there, as a viewer is told: whoever has blocked them seems to be away. By the table of those
 * who are connected, which is small: the users that are not need not be looked at.
 * @param row the name of a row with `app_id` and `uid`
 * @param viewer nobody seems to be away to the app
 */
export function isOnlineTo(viewer: string | undefined, row: 'u' | 'm'): Fragment {
  const user = sql.raw(row)
  const isShown =
    viewer === undefined
      ? sql``
      : sql`
    and not exists (
      select from blocks b
      where b.app_id = p.app_id and b.blocker = p.uid and b.blocked = ${viewer}
    )`
  return sql`exists (
    select from presence p
    where p.app_id = ${user}.app_id and p.uid = ${user}.uid${isShown}
  )`
}

/** Who has a socket, in whichever process, each once. */
export const whoIsOnline = (appId: number): Fragment => sql`
      select distinct p.app_id, p.uid
      from presence p
      where p.app_id = ${appKey(appId)}`

/** A user who is in no block with the viewer. */
export function isNotApart(appId: number, viewer: string, uid: Fragment): Fragment {
  return sql`${uid} <> all(array(
      select b.blocked from blocks b where b.app_id = ${appKey(appId)} and b.blocker = ${viewer}
      union all
      select b.blocker from blocks b where b.app_id = ${appKey(appId)} and b.blocked = ${viewer}
    ))`
}
