import { sql } from 'kysely'
import { everyMember } from '../../../chat/conversations/receipt-steps.ts'
import type { JsonText } from '../../../chat/json.ts'
import { receiptsOf, stepsOfPage } from '../../../chat/messages/receipts.ts'
import { type ListedRow, listedColumns, ownColumns, type StoredMessage, storedOf } from '../../../chat/messages/rows.ts'
import { notClearedSql, takesPartSql } from '../../../chat/sight/participation.ts'
import type { Queryable } from '../../../store/database.ts'
import { fixedStatement, type JsonStatement, jsonAsText } from '../../../store/statement.ts'
import type { Affix, Paging } from './position.ts'

/*
 * What chats ask for most: a page of one conversation as somebody sees it who takes part, without filters. Other lists are
 * composed of what is asked, and planned for it. Here there is one fixed statement, which brings all that is known of the
 * page in one go, and little besides: no row says again which conversation it is of.
 */

/** The one conversation that a list is of. */
export interface HistoryOf {
  readonly key: number
  readonly kind: 1 | 2
  readonly first: string
  readonly second: string
}

export interface HistoryPage {
  /** From the oldest to the newest, one more than asked for where anything lies beyond. */
  readonly found: Array<StoredMessage<JsonText>>
  /** Whether anything lies behind the cursor. */
  readonly hasBehind: boolean
}

type Row = readonly [
  ...ListedRow,
  /** With one of the rows only. */
  steps: string | null,
  hasBehind: boolean | null,
]

/** What a query may ask for besides, since it concerns how messages are shown or where the page lies. */
const plain = new Set([
  ...['affix', 'id', 'sentAt', 'limit', 'perPage', 'withTags', 'hideQuotedMessages', 'withThreadSubscribed'],
  ...['mentionsWithTagInfo', 'mentionsWithBlockedInfo'],
])
/** Longer ones wait for their turn, as lists do. */
const longest = 100

/** Whether a query asks for a page of a history without filters. */
export function isPlain(query: object, { limit }: Pick<Paging, 'limit'>): boolean {
  return limit <= longest && Object.keys(query).every((name) => plain.has(name))
}

const $ = {
  appId: sql.raw('$1'),
  viewer: sql.raw('$2'),
  conversation: sql.raw('$3'),
  receivers: '$4',
  limit: sql.raw('$5'),
  cursor: sql.raw('($6::bigint, $7::bigint)'),
}

function selectPage(affix: Affix, hasCursor: boolean): JsonStatement {
  const [onward, back] = affix === 'append' ? ['>', '<='] : ['<', '>=']
  const direction = sql.raw(affix === 'append' ? 'asc' : 'desc')
  const ofHistory = sql`m.app_id = ${$.appId} and m.conversation = ${$.conversation} and not m.purged and ${notClearedSql}`
  const beyond = hasCursor ? sql`and (m.sent_at, m.id) ${sql.raw(onward as string)} ${$.cursor}` : sql``
  const hasBehind = sql`
    exists (
      select from messages m, participant s
      where ${ofHistory} and (m.sent_at, m.id) ${sql.raw(back as string)} ${$.cursor}
    )`
  return jsonAsText(
    fixedStatement(sql`
  with participant as materialized (
    select s.cleared_sent_at, s.cleared_id
    from (
      select s.*, c.kind
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      where s.app_id = ${$.appId} and s.uid = ${$.viewer} and s.conversation = ${$.conversation}
    ) s
    where ${takesPartSql}
  ),
  page as materialized (
    select m.*
    from participant s
    cross join lateral (
      select m.*
      from messages m
      where ${ofHistory} ${beyond}
      order by m.sent_at ${direction}, m.id ${direction}
      limit ${$.limit}
    ) m
  )
  select ${sql.raw(ownColumns)},
    case when row_number() over () = 1 then ${sql.raw(stepsOfPage('page', '$1', '$3', $.receivers))} end,
    ${hasCursor ? sql`case when row_number() over () = 1 then ${hasBehind} end` : sql`null::boolean`}
  from page m`),
  )
}

const selects = {
  append: { fromEnd: selectPage('append', false), fromCursor: selectPage('append', true) },
  prepend: { fromEnd: selectPage('prepend', false), fromCursor: selectPage('prepend', true) },
}

/** Reads a page of a history as the viewer sees it to whom nothing but resets hides anything. */
export async function readHistoryPage(
  on: Queryable,
  appId: number,
  viewer: string,
  { key, kind, first, second }: HistoryOf,
  { affix, cursor, limit }: Paging,
): Promise<HistoryPage> {
  const receivers = kind === 1 ? [first, second] : [everyMember]
  const values = [appId, viewer, key, receivers, limit + 1]
  const rows = await (cursor === undefined
    ? on.query<Row>(selects[affix].fromEnd, values)
    : on.query<Row>(selects[affix].fromCursor, [...values, cursor.at, cursor.id]))
  const [steps, hasBehind] = rows.map(factsOf).find((facts) => facts.some((fact) => fact !== null)) ?? [null, null]
  const receiptsFor = receiptsOf(steps, receivers)
  const found = rows.map((row) => {
    const message = storedOf(row)
    return { ...message, ...receiptsFor(message) }
  })
  return { found: found.sort((a, b) => a.sentAt - b.sentAt || a.id - b.id), hasBehind: hasBehind === true }
}

function factsOf(row: Row): readonly [steps: string | null, hasBehind: boolean | null] {
  return [row[listedColumns], row[listedColumns + 1] as boolean | null]
}
