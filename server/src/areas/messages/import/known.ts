import { notHeldIn } from '../../../chat/sight/participation.ts'
import { plainArray, textArray } from '../../../store/arrays.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { KnownMessage } from './plan.ts'
import type { ImportRow } from './row.ts'

/** Sent and imported messages have an index of their own each. */
const select = statement(`
  select m.app_id as "appId", m.muid, m.id, m.conversation, m.sender, m.sent_at as "sentAt",
    m.parent_id as "parentId", not (${notHeldIn('m')}) as "isHeld"
  from unnest($1::int[], $2::text[]) as wanted(app_id, muid)
  join messages m on m.app_id = wanted.app_id and m.muid = wanted.muid and m.imported
  union all
  select m.app_id as "appId", m.muid, m.id, m.conversation, m.sender, m.sent_at as "sentAt",
    m.parent_id as "parentId", not (${notHeldIn('m')}) as "isHeld"
  from unnest($1::int[], $2::text[]) as wanted(app_id, muid)
  join messages m on m.app_id = wanted.app_id and m.muid = wanted.muid and not m.imported`)

/** The stored messages whose muids rows name: their own, and those of their parents, subjects and quotes. */
export function readKnown(on: Queryable, rows: readonly ImportRow[]): Promise<KnownMessage[]> {
  const wanted = new Map<string, { appId: number; muid: string }>()
  for (const { appId, muid, parentMuid, subjectMuid, quotedMuid } of rows) {
    for (const named of [muid, parentMuid, subjectMuid, quotedMuid]) {
      if (named !== null) wanted.set(`${appId} ${named}`, { appId, muid: named })
    }
  }
  const named = [...wanted.values()]
  return on.query<KnownMessage>(select, [
    plainArray(named.map(({ appId }) => appId)),
    textArray(named.map(({ muid }) => muid)),
  ])
}
