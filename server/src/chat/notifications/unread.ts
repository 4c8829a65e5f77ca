import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  type CountedState,
  participantJoins,
  rememberCounts,
  rememberedUnreadOf,
} from '../conversations/participant-state.ts'

/** Each push to whom a conversation is unread counts anew, so less than elsewhere is worth remembering. */
const rememberFrom = 24

const unread = `n.count + ${rememberedUnreadOf('s', 'c')}`

/** Conversations in which nothing came after the unread pointer are not counted. */
const select = statement(`
  select s.uid, sum(${unread})::bigint as unread,
    json_agg(json_build_object(
      'uid', s.uid, 'key', s.conversation, 'counted', n.count, 'unread', ${unread}, 'version', c.version,
      'lastSentAt', c.last_sent_at, 'lastId', c.last_id, 'unreadSentAt', s.unread_sent_at, 'unreadId', s.unread_id
    )) filter (where n.count >= ${rememberFrom}) as long
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation${participantJoins}
  where s.app_id = $1
  and s.uid = any($2::text[])
  and (c.kind = 1 or s.member)
  and (c.last_sent_at, c.last_id) > (s.unread_sent_at, s.unread_id)
  group by s.uid`)

interface Row {
  readonly uid: string
  readonly unread: number
  readonly long: readonly CountedState[] | null
}

/**
 * How many unread messages some users have over all their conversations; who has none is missing. Each push to somebody who is away
 * asks: what took long to count is remembered.
 */
export async function readUnreadTotals(
  on: Queryable,
  appId: number,
  uids: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
  const rows = await on.query<Row>(select, [appId, [...new Set(uids)]])
  await rememberCounts(
    on,
    appId,
    rows.flatMap(({ long }) => long ?? []),
    rememberFrom,
  )
  return new Map(rows.map(({ uid, unread }) => [uid, Number(unread)]))
}
