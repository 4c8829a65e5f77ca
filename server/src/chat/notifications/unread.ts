import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  type CountedState,
  participantJoins,
  rememberCounts,
  rememberedUnreadOf,
} from '../conversations/participant-state.ts'
import { countVisibleUnread } from '../conversations/unread.ts'
import { takesPartIn } from '../sight/participation.ts'
import { hidesByRole, type Viewer } from '../sight/sight.ts'

/** Each push to whom a conversation is unread counts anew, so less than elsewhere is worth remembering. */
const rememberFrom = 24

const unread = `n.count + ${rememberedUnreadOf('s', 'c')}`

/** Of most apps no group restricts anything, which is seen once. */
const isRestricted = `c.kind = 2
      and (select exists (select from groups g where g.app_id = $1 and g.permissions_version > 0))
      and exists (select from groups g where g.app_id = $1 and g.guid = c.first and g.permissions_version > 0 offset 0)`

/**
 * Conversations in which nothing came after the unread pointer are not counted. Those of which something may be hidden are
 * returned one by one: all of the users who are named, of others the groups in which permissions were ever set.
 */
const select = statement(`
  select s.uid, sum(${unread})::bigint as unread,
    json_agg(json_build_object(
      'uid', s.uid, 'key', s.conversation, 'counted', n.count, 'unread', ${unread}, 'version', c.version,
      'lastSentAt', c.last_sent_at, 'lastId', c.last_id, 'unreadSentAt', s.unread_sent_at, 'unreadId', s.unread_id
    )) filter (where n.count >= ${rememberFrom}) as long,
    json_agg(json_build_object('key', s.conversation, 'unread', ${unread}, 'guid', case when ${isRestricted} then c.first end))
      filter (where ${unread} > 0 and (s.uid = any($3::text[]) or (${isRestricted}))) as "maybeHidden"
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation${participantJoins}
  where s.app_id = $1
  and s.uid = any($2::text[])
  and ${takesPartIn('c')}
  and (c.last_sent_at, c.last_id) > (s.unread_sent_at, s.unread_id)
  group by s.uid`)

interface Row {
  readonly uid: string
  readonly unread: number
  readonly long: readonly CountedState[] | null
  readonly maybeHidden: readonly MaybeHidden[] | null
}

/** A conversation of which something may be hidden. */
interface MaybeHidden {
  readonly key: number
  readonly unread: number
  /** Of a group in which permissions were ever set. */
  readonly guid: string | null
}

/**
 * How many unread messages some users have over all their conversations, of those that they see; who has none is missing. Each push
 * to somebody who is away asks: what took long to count is remembered.
 */
export async function readUnreadTotals(
  on: Queryable,
  appId: number,
  viewers: readonly Viewer[],
): Promise<ReadonlyMap<string, number>> {
  const byUid = new Map(viewers.map((viewer) => [viewer.uid, viewer]))
  const narrowed = [...byUid.values()].flatMap((viewer) => (hidesByRole(viewer) ? viewer.uid : []))
  const rows = await on.query<Row>(select, [appId, [...byUid.keys()], narrowed])
  await rememberCounts(
    on,
    appId,
    rows.flatMap(({ long }) => long ?? []),
    rememberFrom,
  )
  const totals = new Map(rows.map(({ uid, unread }) => [uid, Number(unread)]))
  for (const { uid, unread, maybeHidden } of rows) {
    if (maybeHidden === null) continue
    const hidden = await countHidden(on, appId, byUid.get(uid) as Viewer, maybeHidden)
    totals.set(uid, Number(unread) - hidden)
  }
  return totals
}

/** How many unread messages of some conversations a viewer does not see. */
async function countHidden(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  maybeHidden: readonly MaybeHidden[],
): Promise<number> {
  const keys = maybeHidden.map(({ key }) => key)
  const guids = maybeHidden.flatMap(({ guid }) => guid ?? [])
  const visible = await countVisibleUnread(on, appId, viewer, keys, guids)
  return maybeHidden.reduce((sum, { key, unread }) => sum + unread - (visible.get(key) ?? unread), 0)
}
