import { limits } from '@parley/contract'
import { sql } from 'kysely'
import type { ConfirmedActor, RecalledActor } from '../../../call.ts'
import { takesPartInFew } from '../../../chat/conversations/participant-state.ts'
import { type FoundPeers, readPeers, rowsOf, selectPeers } from '../../../chat/conversations/peers.ts'
import type { OwnReceipts } from '../../../chat/messages/own-receipts.ts'
import { packMessages, unpackMessages } from '../../../chat/messages/packed.ts'
import { receiptsOf, stepsOfPage } from '../../../chat/messages/receipts.ts'
import { receiptColumns, type StoredMessage, steppedTimes } from '../../../chat/messages/rows.ts'
import { unreadReplies } from '../../../chat/messages/threads.ts'
import { hidesByRole } from '../../../chat/sight/sight.ts'
import { readTold, tellUserOf } from '../../../chat/users/rows.ts'
import type { Context } from '../../../context.ts'
import { placedLookup } from '../../../store/lookups.ts'
import { allOf, fixedStatement, inOrder } from '../../../store/statement.ts'
import { type FoundThreads, listThreads, type ThreadListRequest } from './list.ts'
import { readingOrder } from './paging.ts'
import { conditionsOf, participates, type ThreadRow } from './sources.ts'

/*
 * The first page of the threads of a user, as one fixed statement for all who ask at the same moment: most users have few
 * threads or none, and to find that out takes no more than a look into each of their conversations. It brings all that is shown of
 * them: what is asked apart takes longer than what is found.
 */

type Row = readonly [
  place: number,
  viewer: string | null,
  isOpen: boolean,
  threads: string | null,
  messages: string | null,
  steps: string | null,
  users: string | null,
  blockers: string | null,
  groups: string | null,
]

const atOnce = 8

/** What a query may say besides, since it concerns how threads are shown. */
const plain = new Set(['limit', 'withUnreadReplyCount', 'withMentionCount'])

const viewer = sql.raw('w.viewer')
const order = readingOrder({ affix: 'prepend' })
const cut = sql`order by ${order} limit w.page_limit`

/** As `threadsOf` of a viewer; most of their conversations have no thread, and need not be looked at themselves. */
const page = sql`
        select t.*, v.kind, v.first, v.second, s.uid, s.unread_sent_at, s.unread_id
        from conversation_states s
        cross join lateral (
          select t.*
          from threads t
          where t.app_id = $1
          and t.conversation = s.conversation
          and ${allOf(conditionsOf({ ofThread: [], ofParent: [] }))}
          ${cut}
        ) t
        cross join lateral (
          select v.kind, v.first, v.second
          from conversations v
          where v.app_id = $1
          and v.key = s.conversation
          and (v.kind = 1 or s.member)
          offset 0
        ) v
        where s.app_id = $1
        and s.uid = w.viewer
        ${cut}`

/** Where permissions of a group were ever set, they may hide threads. */
const mayBeHidden = `exists (
      select from group_members m
      where m.app_id = $1
      and m.uid = w.viewer
      and exists (select from groups g where g.app_id = $1 and g.guid = m.guid and g.permissions_version > 0 offset 0)
      offset 0
    )`

const isFollowed = sql`exists (
          select from thread_subscriptions f
          where f.app_id = $1
          and f.uid = w.viewer
          and f.parent_id = t.parent_id
          offset 0
        )`

/** Of the conversations of groups, the viewer's own steps, as `readOwnReceipts` reads them. */
const ownSteps = stepsOfPage({
  appId: '$1',
  conversation: 'c.conversation',
  receivers: 'array[w.viewer]',
  oldest: 'c.oldest',
  newest: 'c.newest',
})

const selectFirstPages = placedLookup<Row>(
  inOrder(
    fixedStatement(sql`
  select w.place::int, ${sql.raw(tellUserOf('$1', 'w.viewer', 'w.known'))}, p.is_open, f.*
  from unnest($2::text[], $3::bigint[], $4::int[], $5::boolean[]) with ordinality as w(viewer, known, page_limit, with_users, place)
  cross join lateral (
    select case when ${sql.raw(takesPartInFew('$1', 'w.viewer'))} then not ${sql.raw(mayBeHidden)} else false end as is_open
    offset 0
  ) p
  left join lateral (
    with page as materialized (${page}
    ),
    last as materialized (
      select m.*, ${sql.raw(receiptColumns)}
      from messages m
      where m.app_id = $1
      and m.id = any(array(select t.parent_id from page t union all select t.last_reply_id from page t))
      and not m.purged
    )
    select (
      select string_agg(
        concat_ws(
          ' ', t.parent_id, t.reply_count, t.last_reply_id, t.updated_at, (${sql.raw(unreadReplies('$1', 'w.viewer', 't'))}
          ), ${participates(viewer)}, ${isFollowed}
        ), ',' order by ${order}
      )
      from page t
    ) as threads,
    (
      select ${sql.raw(packMessages(steppedTimes))}
      from last m
    ) as messages,
    (
      select string_agg(concat_ws(':', c.conversation, ${sql.raw(ownSteps)}), ';')
      from (
        select m.conversation, min(m.sent_at) as oldest, max(m.sent_at) as newest
        from last m
        where m.kind = 2
        and m.sender <> w.viewer
        group by m.conversation
      ) c
    ) as steps,
    ${selectPeers(sql.raw('$1'), viewer, sql.raw('w.with_users'))}
    where p.is_open
  ) f on true`),
  ),
  ([place]) => place,
  atOnce,
)

/**
 * Lists the first page of a user's threads, and reads who they are with it, where that is not remembered.
 * @returns undefined where they may not ask for it, where something may be hidden from them, where they take part in much, or
 *   where more is asked for
 */
export async function recallThreads(
  context: Pick<Context, 'database' | 'messages'>,
  { app, query }: Pick<ThreadListRequest, 'app' | 'query'>,
  actor: RecalledActor,
): Promise<Awaited<ReturnType<typeof listThreads>> | undefined> {
  const { database, messages } = context
  const { uid, revision } = actor
  if (!Object.keys(query).every((name) => plain.has(name)) || hidesByRole(actor)) return undefined
  const limit = query.limit ?? limits.threadLimit.default
  const key = [uid, revision, limit + 1, messages.entities.missesMany]
  const [row] = await database.query<Row>(selectFirstPages, [app.appId, ...key.map((part) => [part])])
  const [, told, isOpen] = row as Row
  const confirmed = await actor.confirm(told === null ? undefined : readTold(told))
  if (!isOpen || confirmed === undefined) return undefined
  const { policy } = confirmed
  if (hidesByRole({ uid, policy })) return undefined
  const source = { of: 'viewer', appId: app.appId, viewer: uid, conversations: undefined } as const
  const found = await readFound(context, app.appId, confirmed, row as Row)
  return listThreads(database, { app, viewer: uid, policy, source, query, found })
}

async function readFound(
  { messages: { entities } }: Pick<Context, 'messages'>,
  appId: number,
  { row: { uid }, known }: ConfirmedActor,
  [, , , threads, messages, steps, ...others]: Row,
): Promise<FoundThreads> {
  const lines = threads?.split(',').map((line) => readThread(line.split(' '))) ?? []
  const [users, blockers, groups] = others
  const found: FoundPeers = { users, blockers, groups }
  const peers = await readPeers(entities, appId, uid, found, known)
  const parentsOf = (those: typeof lines) => those.map(({ row: { parentId } }) => parentId)
  return {
    rows: lines.map(({ row }) => row),
    messages: new Map(unpackMessages(messages).map((message) => [message.id, parsed(message)])),
    participated: new Set(parentsOf(lines.filter(({ isParticipant }) => isParticipant))),
    shownWith: {
      known: {
        users: [...rowsOf(peers.users).values()],
        groups: [...rowsOf(peers.groups).values()],
        away: peers.blockers,
        written: peers,
      },
      ownReceipts: readSteps(steps, uid),
      along: {
        threads: lines.map(({ row: { parentId, replyCount }, unreadCount }) => ({ parentId, replyCount, unreadCount })),
        followed: parentsOf(lines.filter(({ isFollower }) => isFollower)),
      },
    },
  }
}

function readThread(words: readonly string[]) {
  const [parentId, replyCount, lastReplyId, updatedAt, unreadCount] = words.slice(0, 5).map(Number) as [
    ...[number, number, number, number, number],
  ]
  const row: ThreadRow = { parentId, replyCount, lastReplyId, updatedAt }
  return { row, unreadCount, isParticipant: words[5] === 't', isFollower: words[6] === 't' }
}

function parsed(message: ReturnType<typeof unpackMessages>[number]): StoredMessage {
  return { ...message, data: JSON.parse(message.data) }
}

function readSteps(text: string | null, viewer: string): OwnReceipts {
  return new Map(
    text?.split(';').map((line) => {
      const [conversation, steps = null] = line.split(':')
      return [Number(conversation), receiptsOf(steps, [viewer]).by(viewer)] as const
    }),
  )
}
