import { sql } from 'kysely'
import type { Fragment } from '../../store/statement.ts'
import { readKind } from '../kind.ts'
import { type ParticipantState, rememberedUnreadOf } from './participant-state.ts'

/** Columns of a state `s`, its conversation `c` and a pin `ap` of the app, that `packStates` takes from one row `p`. */
export const packedFrom = `s.app_id, s.uid, c.key, c.key as conversation, c.kind, c.first, c.second, c.created_at, c.listed_sent_at,
  c.listed_id, c.last_sent_at, c.last_id, c.version, s.cleared_sent_at, s.cleared_id, s.unread_sent_at, s.unread_id,
  s.counted_sent_at, s.counted_id, s.counted_unread, s.counted_version, s.tags, s.pinned_at, ap.place as app_place,
  ap.pinned_at as app_pinned_at`

/** In the order in which `unpackStates` reads them; few can be null, and become empty. */
const packedColumns = [
  ...['p.uid', 'p.key', 'p.kind', 'p.first', 'p.second', 'p.created_at'],
  ...["coalesce(p.listed_sent_at::text, '')", "coalesce(p.listed_id::text, '')"],
  'coalesce((p.listed_sent_at, p.listed_id) <= (p.cleared_sent_at, p.cleared_id), false)',
  ...["coalesce(p.pinned_at::text, '')", "coalesce(p.app_pinned_at::text, '')", 'p.version'],
  ...["coalesce(p.last_sent_at::text, '')", "coalesce(p.last_id::text, '')", 'p.unread_sent_at', 'p.unread_id'],
  ...[
    'p.counted',
    `p.counted + ${rememberedUnreadOf('p', 'p')}`,
    "case when p.tags = '{}' then '' else to_json(p.tags)::text end",
  ],
]

/** An aggregate of states in one text, for pages of them, each with what is `counted`. `unpackStates` reads it. */
export function packStates(order: Fragment): Fragment {
  return sql`string_agg(concat_ws(E'\\x1f', ${sql.raw(packedColumns.join(', '))}), E'\\x1e' order by ${order})`
}

export function unpackStates(packed: string | null): ParticipantState[] {
  return packed === null ? [] : packed.split('\x1e').map(unpackState)
}

function unpackState(packed: string): ParticipantState {
  const row = packed.split('\x1f') as [string, ...string[]]
  const at = (column: number) => row[column] as string
  const tags = at(18)
  return {
    uid: at(0),
    key: Number(at(1)),
    kind: readKind(Number(at(2))),
    first: at(3),
    second: at(4),
    createdAt: Number(at(5)),
    listedSentAt: orNull(at(6)),
    listedId: orNull(at(7)),
    cleared: at(8) === 't',
    pinnedAt: orNull(at(9)),
    appPinnedAt: orNull(at(10)),
    version: Number(at(11)),
    lastSentAt: Number(at(12)),
    lastId: Number(at(13)),
    unreadSentAt: Number(at(14)),
    unreadId: Number(at(15)),
    counted: Number(at(16)),
    unread: Number(at(17)),
    tags: tags === '' ? [] : JSON.parse(tags),
  }
}

function orNull(number: string): number | null {
  return number === '' ? null : Number(number)
}
