import { sql } from 'kysely'
import { everyMember } from '../../../chat/conversations/receipt-steps.ts'
import type { JsonText } from '../../../chat/json.ts'
import type { ConversationKind } from '../../../chat/kind.ts'
import type { OwnReceipts } from '../../../chat/messages/own-receipts.ts'
import { packMessages, unpackMessages } from '../../../chat/messages/packed.ts'
import { receiptsOf, stepsOfPage } from '../../../chat/messages/receipts.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { isThereSql, notClearedSql, takesPartSql } from '../../../chat/sight/participation.ts'
import type { Queryable } from '../../../store/database.ts'
import { type Fragment, fixedStatement, inOrder, type OrderedStatement } from '../../../store/statement.ts'
import type { Affix, Paging } from './position.ts'

/*
 * What chats ask for most: a page of one conversation as somebody sees it who takes part, without filters. Other lists are
 * composed of what is asked, and planned for it. Here there is one fixed statement, which brings all that is known of the
 * page in one go, as one row.
 */

/** The one conversation that a list is of. */
export interface HistoryOf {
  readonly key: number
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

type Row = readonly [
  messages: string | null,
  steps: string | null,
  hasBehind: boolean | null,
  cursorSentAt: number | null,
]

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

const $ = {
  appId: sql.raw('$1'),
  viewer: sql.raw('$2'),
  conversation: sql.raw('$3'),
  receivers: '$4',
  limit: sql.raw('$5'),
  cursor: sql.raw('($6::bigint, $7::bigint)'),
  cursorSentAt: sql.raw('$6::bigint'),
  cursorId: sql.raw('$7::bigint'),
}

/** The later of the cursor and what a participant `s` has cleared: of two lower bounds an index begins at either of them. */
function laterOf(cursor: Fragment): Fragment {
  const isCleared = sql`(s.cleared_sent_at, s.cleared_id) > ${cursor}`
  return sql`(
        case when ${isCleared} then s.cleared_sent_at else ${$.cursorSentAt} end,
        case when ${isCleared} then s.cleared_id else ${$.cursorId} end
      )`
}

function selectPage(affix: Affix, hasCursor: boolean): OrderedStatement {
  const direction = sql.raw(affix === 'append' ? 'asc' : 'desc')
  const ofConversation = sql`m.app_id = ${$.appId} and m.conversation = ${$.conversation}`
  const ofHistory = sql`${ofConversation} and not m.purged and ${isThereSql($.viewer)}`
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
  const participant = sql`
      select s.cleared_sent_at, s.cleared_id
      from (
        select s.*, c.kind
        from conversation_states s
        join conversations c on c.app_id = s.app_id and c.key = s.conversation
        where s.app_id = ${$.appId} and s.uid = ${$.viewer} and s.conversation = ${$.conversation}
      ) s
      where ${takesPartSql}`
  const hasBehind = sql`
    exists (
      select from (${participant}) s
      cross join lateral (
        select from messages m
        where ${ofHistory} and ${behind}
        limit 1
      ) m
    )`
  const cursorSentAt = sql`(
    select sent_at from messages where app_id = ${$.appId} and id = $7 and conversation = ${$.conversation}
  )`
  const isEnd = affix === 'prepend' && !hasCursor
  const steps = stepsOfPage({
    appId: '$1',
    conversation: '$3',
    receivers: $.receivers,
    oldest: 'p.oldest',
    ...(!isEnd && { newest: 'p.newest' }),
  })
  return inOrder(
    fixedStatement(sql`
  select p.messages, ${sql.raw(steps)}, ${hasCursor ? sql`${hasBehind}, ${cursorSentAt}` : sql`null::boolean, null::bigint`}
  from (
    select ${sql.raw(packMessages())} as messages, min(m.sent_at) as oldest, max(m.sent_at) as newest
    from (${participant}) s
    cross join lateral (
      select m.*
      from messages m
      where ${ofHistory} and ${beyond}
      order by m.sent_at ${direction}, m.id ${direction}
      limit ${$.limit}
    ) m
    offset 0
  ) p`),
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
  const receivers = kind === 'user' ? [first, second] : [everyMember, viewer]
  const values = [appId, viewer, key, receivers, limit + 1]
  const [row] = await (cursor === undefined
    ? on.query<Row>(selects[affix].fromEnd, values)
    : on.query<Row>(selects[affix].fromCursor, [...values, cursor.at, cursor.id]))
  const [messages, steps, hasBehind, cursorSentAt] = row as Row
  const receipts = receiptsOf(steps, receivers)
  const found = unpackMessages(messages)
  for (const message of found) {
    const { deliveredAt, readAt } = receipts.of(message)
    message.deliveredAt = deliveredAt
    message.readAt = readAt
  }
  return {
    found: found.sort((a, b) => a.sentAt - b.sentAt || a.id - b.id),
    hasBehind: hasBehind === true,
    ownReceipts: kind === 'user' ? undefined : new Map([[key, receipts.by(viewer)]]),
    cursorSentAt: cursorSentAt ?? undefined,
  }
}
