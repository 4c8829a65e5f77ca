import { sql } from 'kysely'
import { everyMember } from '../../../chat/conversations/receipt-steps.ts'
import type { JsonText } from '../../../chat/json.ts'
import { type ConversationKind, storedKind } from '../../../chat/kind.ts'
import type { OwnReceipts } from '../../../chat/messages/own-receipts.ts'
import { packMessages, unpackMessages } from '../../../chat/messages/packed.ts'
import { receiptsOf, stepsOfPage } from '../../../chat/messages/receipts.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { isThereSql, notClearedSql, takesPartSql } from '../../../chat/sight/participation.ts'
import type { Queryable } from '../../../store/database.ts'
import { type Lookup, lookup } from '../../../store/lookups.ts'
import { type Fragment, fixedStatement, inOrder } from '../../../store/statement.ts'
import type { Affix, Paging } from './position.ts'

/*
 * What chats ask for most: a page of one conversation as somebody sees it who takes part, without filters. Other lists are
 * composed of what is asked, and planned for it. Here there is one fixed statement, which brings all that is known of the
 * page in one go, as one row. It is a look-up: pages that are asked for at the same moment are read together, since to begin
 * and end a statement takes as long as reading a page.
 */

/** The one conversation that a list is of. */
export interface HistoryOf {
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
}

export interface HistoryPage {
  /** From the oldest to the newest, one more than asked for where anything lies beyond. */
  readonly found: Array<StoredMessage<JsonText>>
  /** Whether anything lies behind the cursor. */
  readonly hasBehind: boolean
  /** In a group: by the viewer's own marks. */
  readonly ownReceipts: OwnReceipts | undefined
  /** When the message of the cursor was sent, if it is known. */
  readonly cursorSentAt: number | undefined
}

/** What a page is asked for by: the parameters of the statement, after the app. */
type Key = readonly [
  viewer: string,
  kind: number,
  first: string,
  second: string,
  limit: number,
  cursorSentAt: number,
  cursorId: number,
]

const keyLength = 7

/** What is found for it. */
type Found = readonly [
  messages: string | null,
  steps: string | null,
  hasBehind: boolean | null,
  cursorSentAt: number | null,
]

type Row = readonly [...Key, ...Found]

/** What a query may ask for besides, since it concerns how messages are shown or where the page lies. */
const plain = new Set([
  ...['affix', 'id', 'sentAt', 'limit', 'perPage', 'withTags', 'hideQuotedMessages', 'withThreadSubscribed'],
  ...['mentionsWithTagInfo', 'mentionsWithBlockedInfo'],
])
/** Longer ones wait for their turn, as lists do. */
const longest = 100

/** Whether a query asks for a page of a history without filters. */
export function isPlain(query: object, limit: number): boolean {
  return limit <= longest && Object.keys(query).every((name) => plain.has(name))
}

/** A page that is wanted, as `w`. */
const wanted =
  sql.raw(`unnest($2::text[], $3::smallint[], $4::text[], $5::text[], $6::int[], $7::bigint[], $8::bigint[])
    as w(viewer, kind, first, second, page_limit, cursor_sent_at, cursor_id)`)

const $ = {
  appId: sql.raw('$1'),
  viewer: sql.raw('w.viewer'),
  cursor: sql.raw('(w.cursor_sent_at, w.cursor_id)'),
  cursorSentAt: sql.raw('w.cursor_sent_at'),
  cursorId: sql.raw('w.cursor_id'),
}

/** The later of the cursor and what a participant `s` has cleared: of two lower bounds an index begins at either of them. */
function laterOf(cursor: Fragment): Fragment {
  const isCleared = sql`(s.cleared_sent_at, s.cleared_id) > ${cursor}`
  return sql`(
        case when ${isCleared} then s.cleared_sent_at else ${$.cursorSentAt} end,
        case when ${isCleared} then s.cleared_id else ${$.cursorId} end
      )`
}

/** Whose marks tell when messages of the page were received, in the order of `receiversOf`. */
const receivers = `case w.kind when 1 then array[w.first, w.second] else array['${everyMember}', w.viewer] end`

function selectPage(affix: Affix, hasCursor: boolean): Lookup<Row> {
  const direction = sql.raw(affix === 'append' ? 'asc' : 'desc')
  const ofHistory = sql`m.app_id = ${$.appId} and m.conversation = s.conversation and not m.purged and ${isThereSql($.viewer)}`
  const beyond = hasCursor
    ? affix === 'append'
      ? sql`(m.sent_at, m.id) > ${laterOf($.cursor)}`
      : sql`(m.sent_at, m.id) < ${$.cursor} and ${notClearedSql}`
    : notClearedSql
  // From the end of the history where that is nearest: else it would be looked through from its beginning.
  const behind =
    affix === 'append'
      ? sql`(m.sent_at, m.id) <= ${$.cursor} and ${notClearedSql} order by m.sent_at, m.id`
      : sql`(m.sent_at, m.id) >= ${$.cursor} and ${notClearedSql} order by m.sent_at desc, m.id desc`
  const hasBehind = sql`exists (select from messages m where ${ofHistory} and ${behind} limit 1)`
  const cursorSentAt = sql`(
    select m.sent_at from messages m where m.app_id = ${$.appId} and m.id = ${$.cursorId} and m.conversation = s.conversation
  )`
  const isEnd = affix === 'prepend' && !hasCursor
  const steps = stepsOfPage({
    appId: '$1',
    conversation: 'p.conversation',
    receivers: 'p.receivers',
    oldest: 'p.oldest',
    ...(!isEnd && { newest: 'p.newest' }),
  })
  const text = sql`
  select w.viewer, w.kind, w.first, w.second, w.page_limit, w.cursor_sent_at, w.cursor_id,
    p.messages, ${sql.raw(steps)}, ${hasCursor ? sql`${hasBehind}, ${cursorSentAt}` : sql`null::boolean, null::bigint`}
  from ${wanted}
  left join lateral (
    select s.conversation, s.cleared_sent_at, s.cleared_id, ${sql.raw(receivers)} as receivers
    from (
      select s.*, c.kind
      from conversations c
      join conversation_states s on s.app_id = c.app_id and s.uid = ${$.viewer} and s.conversation = c.key
      where c.app_id = ${$.appId} and c.kind = w.kind and c.first = w.first and c.second = w.second
    ) s
    where ${takesPartSql}
  ) s on true
  cross join lateral (
    select s.conversation, s.receivers, ${sql.raw(packMessages())} as messages, min(m.sent_at) as oldest,
      max(m.sent_at) as newest
    from (
      select m.*
      from messages m
      where ${ofHistory} and ${beyond}
      order by m.sent_at ${direction}, m.id ${direction}
      limit w.page_limit
    ) m
  ) p`
  return lookup<Row>(inOrder(fixedStatement(text)), (row) => row.slice(0, keyLength))
}

const selects = {
  append: { fromEnd: selectPage('append', false), fromCursor: selectPage('append', true) },
  prepend: { fromEnd: selectPage('prepend', false), fromCursor: selectPage('prepend', true) },
}

const receiversOf = ({ kind, first, second }: HistoryOf, viewer: string): readonly [string, string] =>
  kind === 'user' ? [first, second] : [everyMember, viewer]

/** Reads a page of a history as the viewer sees it to whom nothing but resets hides anything; of what is none, an empty one. */
export async function readHistoryPage(
  on: Queryable,
  appId: number,
  viewer: string,
  history: HistoryOf,
  { affix, cursor, limit }: Paging,
): Promise<HistoryPage> {
  const { kind, first, second } = history
  const key: Key = [viewer, storedKind(kind), first, second, limit + 1, cursor?.at ?? 0, cursor?.id ?? 0]
  const select = cursor === undefined ? selects[affix].fromEnd : selects[affix].fromCursor
  const [row] = await on.query<Row>(select, [appId, ...key.map((part) => [part])])
  const [messages, steps, hasBehind, cursorSentAt] = (row as Row).slice(keyLength) as unknown as Found
  const receipts = receiptsOf(steps, receiversOf(history, viewer))
  const found = unpackMessages(messages)
  for (const message of found) {
    const { deliveredAt, readAt } = receipts.of(message)
    message.deliveredAt = deliveredAt
    message.readAt = readAt
  }
  const inGroup = kind === 'group' ? found[0]?.conversation : undefined
  return {
    found: found.sort((a, b) => a.sentAt - b.sentAt || a.id - b.id),
    hasBehind: hasBehind === true,
    ownReceipts: inGroup === undefined ? undefined : new Map([[inGroup, receipts.by(viewer)]]),
    cursorSentAt: cursorSentAt ?? undefined,
  }
}
