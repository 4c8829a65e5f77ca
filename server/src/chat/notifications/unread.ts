import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { participantJoins, rememberedUnreadOf } from '../conversations/participant-state.ts'

/** Conversations in which nothing came after the unread pointer are not counted. */
const select = statement(`
  select s.uid, sum(n.count + ${rememberedUnreadOf('s', 'c')})::bigint as unread
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation${participantJoins}
  where s.app_id = $1
  and s.uid = any($2::text[])
  and (c.kind = 1 or s.member)
  and (c.last_sent_at, c.last_id) > (s.unread_sent_at, s.unread_id)
  group by s.uid`)

/** How many unread messages some users have over all their conversations; who has none is missing. */
export async function readUnreadTotals(
  on: Queryable,
  appId: number,
  uids: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
  const rows = await on.query<{ uid: string; unread: number }>(select, [appId, [...new Set(uids)]])
  return new Map(rows.map(({ uid, unread }) => [uid, Number(unread)]))
}
