import { sql } from 'kysely'
import { everyMember } from '../../../chat/conversations/receipt-steps.ts'
import type { JsonText } from '../../../chat/json.ts'
import { type ConversationKind, storedKind } from '../../../chat/kind.ts'
import type { OwnReceipts } from '../../../chat/messages/own-receipts.ts'
import { packMessages, unpackMessages } from '../../../chat/messages/packed.ts'
import { packReactions, unpackReactions } from '../../../chat/messages/reactions.ts'
import { receiptsOf, stepsOfPage } from '../../../chat/messages/receipts.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import type { ReadAlong } from '../../../chat/messages/show.ts'
import { packThreadCounts, unpackThreadCounts } from '../../../chat/messages/threads.ts'
import { traits } from '../../../chat/messages/traits.ts'
import { isThereSql, notClearedSql, takesPartSql, wasThereFor } from '../../../chat/sight/participation.ts'
import type { Queryable } from '../../../store/database.ts'
import { type Lookup, pageLookup } from '../../../store/lookups.ts'
import { type Fragment, fixedStatement, inOrder } from '../../../store/statement.ts'
import { type FoundParties, type KnownParties, readParties, selectParties } from './parties.ts'
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
  /** Who looks, and what they look at. */
  readonly parties: FoundParties
  /** The messages once more, and what hangs on them. */
  readonly along: ReadAlong
}

/** What is found for a page. */
type Row = readonly [
  place: number,
  messages: string | null,
  steps: string | null,
  parties: string,
  reactions: string | null,
  threads: string | null,
  hasBehind?: true | null,
  cursorSentAt?: number | null,
]

/** Few at once: while the database reads the next ones, the service writes the first. */
const atOnce = 8

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
const wanted = (hasCursor: boolean): Fragment => {
  const types = ['text', 'text', 'text', 'int', 'bigint', 'bigint', ...(hasCursor ? ['bigint', 'bigint'] : [])]
  const lists = types.map((type, i) => `$${i + 2}::${type}[]`).join(', ')
  const known = ['viewer_known', 'other_known']
  const names = [
    'viewer',
    'first',
    'second',
    'page_limit',
    ...known,
    ...(hasCursor ? ['cursor_sent_at', 'cursor_id'] : []),
  ]
  return sql.raw(`unnest(${lists}) with ordinality as w(${names.join(', ')}, place)`)
}

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

/** The ids of messages `m` on which something hangs; null where it is none. */
const idsWith = (bits: number) => sql.raw(`array_agg(m.id) filter (where m.traits & ${bits} <> 0)`)

const attached = sql.raw(
  `${packReactions('$1', 'p.reacted', 'w.viewer')}, ${packThreadCounts('$1', 'p.replied', 'w.viewer')}`,
)

/** Whose marks tell when messages of the page were received, in the order of `receiversOf`. */
const receivers = {
  user: 'array[w.first, w.second]',
  group: `array['${everyMember}', w.viewer]`,
}

function selectPage(kind: ConversationKind, affix: Affix, hasCursor: boolean): Lookup<Row> {
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
  // Mostly the message of the cursor itself lies behind it, which was read to know when it was sent. Else not by `exists`,
  // for which the planner drops the order.
  const hasBehind = sql`coalesce(k.is_behind, (select true from messages m where ${ofHistory} and ${behind} limit 1))`
  const ofCursor = sql`
  left join lateral (
    select m.sent_at, case
        when not m.purged and ${isThereSql($.viewer)} and ${notClearedSql} and m.sent_at = ${$.cursorSentAt} then true
      end as is_behind
    from messages m
    where m.app_id = ${$.appId} and m.id = ${$.cursorId} and m.conversation = s.conversation
    and ${sql.raw(wasThereFor('w.viewer'))}
  ) k on true`
  const isEnd = affix === 'prepend' && !hasCursor
  const steps = stepsOfPage({
    appId: '$1',
    conversation: 'p.conversation',
    receivers: 'p.receivers',
    oldest: 'p.oldest',
    ...(!isEnd && { newest: 'p.newest' }),
  })
  const text = sql`
  select w.place::int, p.messages, ${sql.raw(steps)}, ${selectParties(kind)}, ${attached}${hasCursor ? sql`, ${hasBehind}, k.sent_at` : sql``}
  from ${wanted(hasCursor)}
  left join lateral (
    select s.conversation, s.cleared_sent_at, s.cleared_id, s.unread_sent_at, s.unread_id, ${sql.raw(receivers[kind])} as receivers
    from (
      select s.*, c.kind
      from conversations c
      join conversation_states s on s.app_id = c.app_id and s.uid = ${$.viewer} and s.conversation = c.key
      where c.app_id = ${$.appId} and c.kind = ${sql.raw(String(storedKind(kind)))} and c.first = w.first and c.second = w.second
    ) s
    where ${takesPartSql}
  ) s on true${hasCursor ? ofCursor : sql``}
  cross join lateral (
    select s.conversation, s.receivers, ${sql.raw(packMessages())} as messages, min(m.sent_at) as oldest,
      max(m.sent_at) as newest, ${idsWith(traits.reactions)} as reacted, ${idsWith(traits.replies | traits.followed)} as replied${kind === 'group' ? sql`, array_agg(m.sender) as senders` : sql``}
    from (
      select m.*
      from messages m
      where ${ofHistory} and ${beyond}
      order by m.sent_at ${direction}, m.id ${direction}
      limit w.page_limit
    ) m
  ) p`
  return pageLookup<Row>(inOrder(fixedStatement(text)), ([place]) => place, atOnce)
}

const selectsOf = (kind: ConversationKind) => ({
  append: { fromEnd: selectPage(kind, 'append', false), fromCursor: selectPage(kind, 'append', true) },
  prepend: { fromEnd: selectPage(kind, 'prepend', false), fromCursor: selectPage(kind, 'prepend', true) },
})

const selects = { user: selectsOf('user'), group: selectsOf('group') }

const receiversOf = ({ kind, first, second }: HistoryOf, viewer: string): readonly [string, string] =>
  kind === 'user' ? [first, second] : [everyMember, viewer]

/**
 * Reads a page of a history as the viewer sees it to whom nothing but resets hides anything; of what is none, an empty one.
 * @param known what is remembered of the parties, of which the page returns the rest
 */
export async function readHistoryPage(
  on: Queryable,
  appId: number,
  viewer: string,
  history: HistoryOf,
  { affix, cursor, limit }: Paging,
  known: KnownParties,
): Promise<HistoryPage> {
  const { kind, first, second } = history
  const page = [viewer, first, second, limit + 1, known.viewer, known.other]
  const key = cursor === undefined ? page : [...page, cursor.at, cursor.id]
  const select = cursor === undefined ? selects[kind][affix].fromEnd : selects[kind][affix].fromCursor
  const [row] = await on.query<Row>(select, [appId, ...key.map((part) => [part])])
  const [, messages, steps, parties, reactions, threads, hasBehind, cursorSentAt] = row as Row
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
    parties: readParties(parties),
    along: { messages: found, reactions: unpackReactions(reactions), threads: unpackThreadCounts(threads) },
  }
}
