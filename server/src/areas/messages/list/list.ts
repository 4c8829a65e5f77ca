import type { CursorMeta, Message, MessageCount } from '@parley/contract'
import type { App } from '../../../call.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { conversationId } from '../../conversations/index.ts'
import { type StoredMessage, selectStored } from '../rows.ts'
import { type ShowOptions, showMessages } from '../show.ts'
import { filterConditions, type MessageFilters, viewerConditions } from './filters.ts'
import { answerOrder, behind, beyond, cursorMeta, readingOrder, readPaging } from './position.ts'
import { countsOf, messagesOf, type Source } from './sources.ts'

/** The query of a message list, as its declaration types it. */
export interface ListQuery extends MessageFilters {
  readonly affix?: 'append' | 'prepend'
  readonly id?: string
  readonly sentAt?: number
  readonly updatedAt?: number
  readonly count?: boolean
  readonly withTags?: boolean
  readonly hideQuotedMessages?: boolean
  readonly withThreadSubscribed?: boolean
  readonly mentionsWithTagInfo?: boolean
  readonly mentionsWithBlockedInfo?: boolean
}

export interface ListRequest {
  readonly app: App
  /** The acting user; absent when the app asks. */
  readonly viewer: string | undefined
  readonly source: Source
  readonly query: ListQuery
  readonly limit: number
  /** Further conditions on `m`, such as what a scope may see. */
  readonly limits?: readonly Fragment[]
}

export type ListAnswer = { data: Array<Message | MessageCount>; meta?: CursorMeta }

/** Answers a message list: a page of messages, or with `count` the number of them in each conversation. */
export async function listMessages(on: Queryable, request: ListRequest): Promise<ListAnswer> {
  const { query, viewer } = request
  const conditions = [
    ...filterConditions(query, viewer),
    ...(viewer === undefined ? [] : viewerConditions(query, viewer)),
    ...(request.limits ?? []),
  ]
  return query.count === true ? countMessages(on, request, conditions) : pageOfMessages(on, request, conditions)
}

async function pageOfMessages(on: Queryable, request: ListRequest, conditions: Fragment[]): Promise<ListAnswer> {
  const { app, source, query, limit } = request
  const paging = await readPaging(on, app.appId, query, limit)
  const isBeyond = beyond(paging)
  const isBehind = behind(paging)

  const pageConditions = isBeyond === undefined ? conditions : [...conditions, isBeyond]
  const page = messagesOf(source, pageConditions, { order: readingOrder(paging), limit: limit + 1 })
  const [found, rowsBehind] = await Promise.all([
    on.run<StoredMessage>(selectStored(page, answerOrder(paging))),
    isBehind === undefined
      ? []
      : on.run(
          messagesOf(source, [...conditions, isBehind], {
            order: readingOrder({ ...paging, affix: paging.affix === 'append' ? 'prepend' : 'append' }),
            limit: 1,
          }),
        ),
  ])
  // One row more than asked for was read, at the far end, to know whether anything lies beyond.
  const hasMore = found.length > limit
  const rows = !hasMore ? found : paging.affix === 'append' ? found.slice(0, limit) : found.slice(1)
  const options: ShowOptions = {
    viewer: request.viewer,
    withTags: query.withTags === true,
    withQuoted: query.hideQuotedMessages !== true,
    withThreadSubscribed: query.withThreadSubscribed === true,
    withMentionTags: query.mentionsWithTagInfo === true,
    withMentionBlocks: query.mentionsWithBlockedInfo === true,
  }
  return {
    data: await showMessages(on, app.appId, rows, options),
    meta: cursorMeta(paging, rows, { beyond: hasMore, behind: rowsBehind.length > 0 }),
  }
}

async function countMessages(on: Queryable, request: ListRequest, conditions: Fragment[]): Promise<ListAnswer> {
  const { source, viewer } = request
  const rows = await on.run<{ kind: 1 | 2; first: string; second: string; count: number }>(
    countsOf(source, conditions) as Fragment<{ kind: 1 | 2; first: string; second: string; count: number }>,
  )
  if (viewer === undefined) {
    return {
      data: rows.map((row) => ({ conversationId: conversationId(row.kind, row.first, row.second), count: row.count })),
    }
  }
  return {
    data: rows.map(({ kind, first, second, count }) =>
      kind === 2
        ? { entityId: first, entityType: 'group' as const, count }
        : { entityId: first === viewer ? second : first, entityType: 'user' as const, count },
    ),
  }
}
