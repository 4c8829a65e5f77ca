import { limits } from '@parley/contract'
import { sql } from 'kysely'
import type { RecalledActor } from '../../../call.ts'
import { takesPartInFew } from '../../../chat/conversations/participant-state.ts'
import { takesPartIn } from '../../../chat/sight/participation.ts'
import { hidesByRole } from '../../../chat/sight/sight.ts'
import { readRevised, revisedUserOfSql } from '../../../chat/users/rows.ts'
import type { Context } from '../../../context.ts'
import { pageLookup } from '../../../store/lookups.ts'
import { allOf, fixedStatement, inOrder } from '../../../store/statement.ts'
import { listThreads, type ThreadListRequest } from './list.ts'
import { readingOrder } from './paging.ts'
import { conditionsOf, type ThreadRow } from './sources.ts'

/*
 * The first page of the threads of a user, as one fixed statement for all who ask at the same moment: most users have few
 * threads or none, and to find that out takes no more than a look into each of their conversations.
 */

type Row = readonly [place: number, viewer: string | null, isOpen: boolean, threads: string | null]

const atOnce = 8

/** What a query may say besides, since it concerns how threads are shown. */
const plain = new Set(['limit', 'withUnreadReplyCount', 'withMentionCount'])

const order = readingOrder({ affix: 'prepend' })
const page = sql`order by ${order} limit w.page_limit`

/** As `threadsOf` of a viewer; most of their conversations have no thread, and need not be looked at themselves. */
const threads = sql`
        select t.*
        from conversation_states s
        cross join lateral (
          select t.*
          from threads t
          where t.app_id = $1
          and t.conversation = s.conversation
          and ${allOf(conditionsOf({ ofThread: [], ofParent: [] }))}
          ${page}
        ) t
        cross join lateral (
          select
          from conversations v
          where v.app_id = $1
          and v.key = s.conversation
          and ${sql.raw(takesPartIn('v'))}
          offset 0
        ) v
        where s.app_id = $1
        and s.uid = w.viewer
        ${page}`

/** Where permissions of a group were ever set, they may hide threads. */
const mayBeHidden = `exists (
      select from group_members m
      where m.app_id = $1
      and m.uid = w.viewer
      and exists (select from groups g where g.app_id = $1 and g.guid = m.guid and g.permissions_version > 0 offset 0)
      offset 0
    )`

const selectFirstPages = pageLookup<Row>(
  inOrder(
    fixedStatement(sql`
  select w.place::int, ${sql.raw(revisedUserOfSql('$1', 'w.viewer', 'w.known'))}, p.is_open,
    case when p.is_open then (
      select string_agg(
        concat_ws(' ', t.parent_id, t.reply_count, t.last_reply_id, t.updated_at), ',' order by ${order}
      )
      from (${threads}
      ) t
    ) end
  from unnest($2::text[], $3::bigint[], $4::int[]) with ordinality as w(viewer, known, page_limit, place)
  cross join lateral (
    select case when ${sql.raw(takesPartInFew('$1', 'w.viewer'))} then not ${sql.raw(mayBeHidden)} else false end as is_open
    offset 0
  ) p`),
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
  { database }: Pick<Context, 'database'>,
  { app, query }: Pick<ThreadListRequest, 'app' | 'query'>,
  actor: RecalledActor,
): Promise<Awaited<ReturnType<typeof listThreads>> | undefined> {
  const { uid, revision } = actor
  if (!Object.keys(query).every((name) => plain.has(name)) || hidesByRole(actor)) return undefined
  const limit = query.limit ?? limits.threadLimit.default
  const [row] = await database.query<Row>(selectFirstPages, [app.appId, [uid], [revision], [limit + 1]])
  const [, viewerText, isOpen, threads] = row as Row
  const confirmed = await actor.confirm(viewerText === null ? undefined : readRevised(viewerText))
  if (!isOpen || confirmed === undefined) return undefined
  const { policy } = confirmed
  if (hidesByRole({ uid, policy })) return undefined
  const source = { of: 'viewer', appId: app.appId, viewer: uid, conversations: undefined } as const
  return listThreads(database, { app, viewer: uid, policy, source, query, found: readRows(threads) })
}

function readRows(threads: string | null): ThreadRow[] {
  if (threads === null) return []
  return threads.split(',').map((line) => {
    const [parentId, replyCount, lastReplyId, updatedAt] = line.split(' ').map(Number) as [
      number,
      number,
      number,
      number,
    ]
    return { parentId, replyCount, lastReplyId, updatedAt }
  })
}
