import {
  type CursorMeta,
  limits,
  type Message,
  type listThreads as operation,
  type QueryOf,
  type Thread,
} from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../../chat/identity.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import type { RolePolicy } from '../../../chat/roles/policies.ts'
import { isThere } from '../../../chat/sight/participation.ts'
import { readVisible } from '../../../chat/sight/sight.ts'
import { cursorMeta, passSecond } from '../../../paging.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { needsActingUser } from '../errors.ts'
import { isFull, takesPartInMuch } from '../list/reading.ts'
import type { Cut } from '../list/sources.ts'
import { readMentionCounts } from '../mentions/counts.ts'
import { beyond, pointTo, readingOrder, readThreadPaging, turned } from './paging.ts'
import {
  nextThreadsOfApp,
  participates,
  type ThreadConditions,
  type ThreadRow,
  type ThreadSource,
  threadsIn,
  threadsOf,
} from './sources.ts'

export interface ThreadListRequest {
  readonly app: App
  /** The acting user; absent when the app asks. */
  readonly viewer: string | undefined
  readonly source: ThreadSource
  readonly query: QueryOf<typeof operation>
  /** What is set on the viewer's role. */
  readonly policy?: RolePolicy | undefined
  /** What is hidden from the viewer of parents: conditions on `m`. */
  readonly conditions?: readonly Fragment[]
  /** The rows of the page and one more, where there is one, if they were read already. */
  readonly found?: readonly ThreadRow[]
}

/** A page of threads, the one with the newest reply first. @throws 400 for `participatedByMe` without a user */
export async function listThreads(
  on: Queryable,
  request: ThreadListRequest,
): Promise<{ data: Thread[]; meta: CursorMeta }> {
  const { app, viewer, source, query } = request
  const ofParent = request.conditions ?? []
  const ofThread: Fragment[] = []
  if (query.participatedByMe === true) {
    if (viewer === undefined) {
      throw needsActingUser('participatedByMe')
    }
    ofThread.push(participates(viewer))
  }
  const limit = query.limit ?? limits.threadLimit.default
  const paging = await readThreadPaging(on, { appId: app.appId, viewer }, query, limit)
  const back = turned(paging)
  const readUpTo = (most: number) =>
    readThreads(on, source, beyond(paging), { ofThread, ofParent }, { order: readingOrder(paging), limit: most })
  const [found, behind] = await Promise.all([
    request.found ?? readUpTo(limit + 1),
    paging.cursor === undefined
      ? []
      : readThreads(
          on,
          source,
          beyond(back, { inclusive: true }),
          { ofThread, ofParent },
          { order: readingOrder(back), limit: 1 },
        ),
  ])
  const { rows, isMore } = await passSecond(found, paging, ({ updatedAt }) => updatedAt, readUpTo)
  if (paging.affix === 'append') rows.reverse()
  return {
    data: await showThreads(on, request, rows),
    meta: cursorMeta(paging, rows.toReversed(), { beyond: isMore, behind: behind.length > 0 }, pointTo),
  }
}

/** Threads of the app that are looked at for users with many conversations: few first, which mostly fill a page. */
const nearby = [200, 2000]

async function readThreads(
  on: Queryable,
  source: ThreadSource,
  from: readonly Fragment[],
  { ofThread, ofParent }: ThreadConditions,
  cut: Cut,
): Promise<ThreadRow[]> {
  const conditions = { ofThread: [...from, ...ofThread], ofParent }
  if (source.of === 'viewer' && (await takesPartInMuch(on, source))) {
    for (const most of nearby) {
      const next = nextThreadsOfApp(source.appId, from, { ...cut, limit: most })
      const rows = await on.run(threadsIn(next, source, conditions, cut))
      if (rows.length === cut.limit || !(await isFull(on, { next, most }))) return rows
    }
  }
  return on.run(threadsOf(source, conditions, cut))
}

async function showThreads(on: Queryable, request: ThreadListRequest, rows: readonly ThreadRow[]): Promise<Thread[]> {
  const { app, viewer, policy, query } = request
  const asksMentions = query.withMentionCount === true && viewer !== undefined
  const parentIds = rows.map((row) => row.parentId)
  const [parents, lastReplies, participated, mentions] = await Promise.all([
    readMessages(on, app.appId, parentIds),
    readLastReplies(on, request, rows),
    viewer === undefined ? undefined : readParticipated(on, app.appId, viewer, rows),
    asksMentions ? readMentionCounts(on, app.appId, viewer, parentIds, request.conditions ?? []) : undefined,
  ])
  // A parent removed for good since the page was read takes its thread along.
  const threads = rows.flatMap((row) => parents.get(row.parentId) ?? [])
  const options = { viewer, policy, withTags: true }
  const [shownParents, shownReplies] = await Promise.all([
    showMessages(on, app.appId, threads, { ...options, withThreadSubscribed: true }),
    showMessages(on, app.appId, lastReplies, options),
  ])
  const shown = new Map(shownParents.map((message) => [Number(message.id), message]))
  const replies = new Map(shownReplies.map((message) => [Number(message.id), message]))
  return rows.flatMap((row) => {
    const parent = shown.get(row.parentId)
    if (parent === undefined) return []
    const lastReply = replies.get(row.lastReplyId)
    return [
      {
        ...parent,
        updatedAt: row.updatedAt,
        replyCount: parent.replyCount ?? row.replyCount,
        ...(lastReply && { lastReply }),
        ...(viewer !== undefined && personal(parent)),
      },
    ]
  })

  function personal({ id, threadSubscribed = false, unreadRepliesCount }: Message) {
    return {
      ...(query.withUnreadReplyCount === true && { unreadReplyCount: unreadRepliesCount ?? 0 }),
      ...(mentions && { mentionCount: mentions.get(Number(id)) ?? 0 }),
      subscribed: threadSubscribed,
      participatedByMe: participated?.has(Number(id)) === true,
    }
  }
}

/** The last replies, but for those that the viewer does not see. */
async function readLastReplies(
  on: Queryable,
  { app, viewer, policy, conditions = [] }: ThreadListRequest,
  rows: readonly ThreadRow[],
): Promise<StoredMessage[]> {
  const found = await readMessages(
    on,
    app.appId,
    rows.map((row) => row.lastReplyId),
  )
  const replies = [...found.values()].filter((reply) => isThere(viewer, reply))
  // They come after their parents, which the viewer has not cleared: only what is set can hide them.
  if (viewer === undefined || conditions.length === 0) return replies
  const visible = await readVisible(on, app.appId, { uid: viewer, policy }, replies)
  return replies.filter(({ id }) => visible.has(id))
}

async function readParticipated(
  on: Queryable,
  appId: number,
  viewer: string,
  rows: readonly ThreadRow[],
): Promise<Set<number>> {
  if (rows.length === 0) return new Set()
  const found = await on.run(sql<{ id: number }>`
    select t.parent_id as id
    from threads t
    where t.app_id = ${appKey(appId)}
    and t.parent_id = any(${rows.map((row) => row.parentId)}::bigint[])
    and ${participates(viewer)}`)
  return new Set(found.map(({ id }) => id))
}
