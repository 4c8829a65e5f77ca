import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** From those who are connected, who are few beside the members of large groups; each is looked up by key. */
const select = statement(`
  select count(*) as online
  from (select distinct p.app_id, p.uid from presence p where p.app_id = $1) p
  where exists (
    select from group_members m
    where m.app_id = p.app_id
    and m.guid = $2
    and m.uid = p.uid
    offset 0
  )`)

/** How many members of a group are connected now. */
export async function countOnlineMembers(on: Queryable, appId: number, guid: string): Promise<number> {
  const [row] = await on.query<{ online: number }>(select, [appId, guid])
  return row?.online ?? 0
}
