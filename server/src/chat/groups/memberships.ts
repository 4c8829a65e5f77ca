import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import { statement } from '../../store/statement.ts'
import type { Membership } from './access.ts'

const select = lookup<Membership & { guid: string }>(
  statement(`
  select m.guid, m.uid, m.scope, m.joined_at as "joinedAt"
  from unnest($2::text[], $3::text[]) as wanted(guid, uid)
  join group_members m on m.app_id = $1 and m.guid = wanted.guid and m.uid = wanted.uid`),
  ({ guid, uid }) => [guid, uid],
)

/** Memberships of users in groups, by `<guid> <uid>`; what is none is missing from the map. */
export async function readMemberships(
  on: Queryable,
  appId: number,
  pairs: ReadonlyArray<{ guid: string; uid: string }>,
): Promise<Map<string, Membership>> {
  if (pairs.length === 0) return new Map()
  const rows = await on.query<Membership & { guid: string }>(select, [
    appId,
    pairs.map(({ guid }) => guid),
    pairs.map(({ uid }) => uid),
  ])
  return new Map(rows.map((row) => [`${row.guid} ${row.uid}`, row]))
}
