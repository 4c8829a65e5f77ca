import { type CountMeta, type CursorMeta, limits, type Message, type MessageCount } from '@parley/contract'
import { type RecalledActor, Serialized } from '../../../call.ts'
import type { App } from '../../../chat/identity.ts'
import { type JsonText, writeList } from '../../../chat/json.ts'
import type { KnownEntities } from '../../../chat/messages/entities.ts'
import type { OwnReceipts } from '../../../chat/messages/own-receipts.ts'
import { type StoredMessage, selectStored } from '../../../chat/messages/rows.ts'
import { type ReadAlong, type ShowOptions, writeMessages } from '../../../chat/messages/show.ts'
import { conversationId } from '../../../chat/naming.ts'
import type { RolePolicy } from '../../../chat/roles/policies.ts'
import { hidesByRole } from '../../../chat/sight/sight.ts'
import type { Context } from '../../../context.ts'
import { cursorMeta, passSecond } from '../../../paging.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { type CountRow, type Counts, countHits } from '../search/counts.ts'
import { seekMessages } from '../search/find.ts'
import { foldText } from '../search/fold.ts'
import { type Selection, selectAll, selectFound } from '../search/hits.ts'
import { asksForChanges, filterConditions, type MessageFilters, rareConditions, viewerConditions } from './filters.ts'
import { type HistoryOf, type HistoryPage, isPlain, readHistoryPage } from './history.ts'
import { findMarked } from './marked.ts'
import { narrowSource } from './narrow.ts'
import { knownParties, nobodyWanted, recallParties } from './parties.ts'
import { answerOrder, givenPaging, type Paging, pointTo, readPaging } from './position.ts'
import { type Reading, readCut } from './reading.ts'
import type { Source } from './sources.ts'

/** The query of a message list, as its declaration types it. */
export interface ListQuery extends MessageFilters {
  readonly affix?: 'append' | 'prepend'
  readonly id?: string
  readonly sentAt?: number
  readonly updatedAt?: number
  readonly count?: boolean
  readonly searchKey?: string
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
  /** What is set on the viewer's role. */
  readonly policy?: RolePolicy | undefined
  /** Further conditions on `m`: what is hidden from the viewer. */
  readonly conditions?: readonly Fragment[]
  /** Users and groups that were read on the way here. */
  readonly known?: KnownEntities
}

export type ListAnswer = { data: Array<Message | MessageCount>; meta?: CursorMeta | CountMeta }

/** Answers a message list: a page of messages, or with `count` the number of them in each conversation. */
export async function listMessages(
  { database, search }: Pick<Context, 'database' | 'search'>,
  request: ListRequest,
): Promise<ListAnswer | Serialized<ListAnswer>> {
  const { query, viewer } = request
  const source = narrowSource(request.source, query)
  // Of blanks alone nothing is left to look for, as of an empty parameter.
  const text = foldText(query.searchKey ?? '')
  const on = text === '' ? database : search.reader(database)
  const sought = text === '' ? undefined : await seekMessages(on, source, text)
  const marked = sought === undefined ? await findMarked(on, source, query, viewer) : undefined
  const select = async (): Promise<Selection> => {
    const found = sought === undefined ? marked : await sought.find()
    return found === undefined ? selectAll(source) : selectFound(source, found)
  }
  const conditions = [
    ...filterConditions(query, viewer, { ofApp: source.of === 'app' }),
    ...(viewer === undefined ? [] : viewerConditions(query, viewer)),
    ...(request.conditions ?? []),
  ]
  if (query.count === true) {
    const counts =
      sought === undefined
        ? { rows: await on.run((await select()).counts(conditions) as Fragment<CountRow>), isMore: false }
        : await countHits(on, source, sought, conditions)
    return showCounts(request, counts)
  }
  const isWhole = sought === undefined && marked === undefined
  const onlyChanged = asksForChanges(query)
  const rare = rareConditions(query)
  const page = await readPage(on, request, { source, select, sought, isWhole, conditions, rare, onlyChanged })
  return writePage(on, request, page)
}

/** A page of one history as a participant sees it from whom nothing is hidden, without filters (`isPlain`). */
export type HistoryRequest = Pick<ListRequest, 'app' | 'query' | 'limit' | 'policy'> & { readonly viewer: string }

/**
 * Answers a page of a history.
 * @param knowing reads the users and groups of the history, which is done at the same time
 * @throws what `knowing` throws, before all else
 */
export async function listHistory(
  { database }: Pick<Context, 'database'>,
  request: HistoryRequest,
  history: HistoryOf,
  knowing: Promise<KnownEntities>,
): Promise<Serialized<ListAnswer>> {
  const given = givenPaging(request.query, request.limit)
  const [known, first] = await Promise.all([
    knowing,
    given && readHistoryPage(database, request.app.appId, request.viewer, history, given, nobodyWanted),
  ])
  const isRight = first !== undefined && isRightPage(request, first)
  const page = isRight ? pageOf(given as Paging, first) : await readFromCursor(database, request, history)
  return writePage(database, { ...request, known }, page)
}

/**
 * As `listHistory`, by one statement: who looks and who is seen comes out of memory, or with the page where it says that they are
 * not as they are remembered.
 * @returns undefined where more has to be asked, or the page refused
 */
export async function recallHistory(
  { database, messages: { entities } }: Pick<Context, 'database' | 'messages'>,
  { app, query, limit }: Pick<HistoryRequest, 'app' | 'query' | 'limit'>,
  history: HistoryOf,
  actor: RecalledActor,
): Promise<Serialized<ListAnswer> | undefined> {
  const paging = givenPaging(query, limit)
  if (paging === undefined || !isPlain(query, limit) || hidesByRole(actor)) return undefined
  const parties = knownParties(entities, app.appId, actor, history)
  const page = await readHistoryPage(database, app.appId, actor.uid, history, paging, parties)
  const viewer = await actor.confirm(page.parties.viewer)
  if (viewer === undefined) return undefined
  const request = { app, query, limit, viewer: actor.uid, policy: viewer.policy }
  if (hidesByRole({ uid: actor.uid, policy: viewer.policy }) || !isRightPage(request, page)) return undefined
  const known = await recallParties(entities, app.appId, viewer, history, page.parties)
  return known && writePage(database, { ...request, known }, pageOf(paging, page))
}

/** Cursors mostly come from a page before, so they are right; the page itself tells when one is not. */
function isRightPage({ query }: HistoryRequest, { cursorSentAt }: HistoryPage): boolean {
  return query.id === undefined || cursorSentAt === undefined || cursorSentAt === query.sentAt
}

async function readFromCursor(
  on: Queryable,
  { app: { appId }, viewer, query, limit }: HistoryRequest,
  history: HistoryOf,
): Promise<Page> {
  const paging = await readPaging(on, { appId, viewer }, query, limit)
  return pageOf(paging, await readHistoryPage(on, appId, viewer, history, paging, nobodyWanted))
}

/** One row more than asked for was read, at the far end, to know whether anything lies beyond. */
function pageOf(paging: Paging, { found, hasBehind, ownReceipts, along }: HistoryPage): Page {
  const hasBeyond = found.length > paging.limit
  const rows = !hasBeyond ? found : paging.affix === 'append' ? found.slice(0, paging.limit) : found.slice(1)
  return { paging, rows, hasBeyond, hasBehind, ownReceipts, along }
}

async function writePage(
  on: Queryable,
  request: Omit<ListRequest, 'source'>,
  { paging, rows, hasBeyond, hasBehind, ownReceipts, along }: Page,
): Promise<Serialized<ListAnswer>> {
  const { app, query } = request
  const options: ShowOptions = {
    viewer: request.viewer,
    withTags: query.withTags === true,
    withQuoted: query.hideQuotedMessages !== true,
    policy: request.policy,
    withThreadSubscribed: query.withThreadSubscribed === true,
    withMentionTags: query.mentionsWithTagInfo === true,
    withMentionBlocks: query.mentionsWithBlockedInfo === true,
    hidesBlocked: query.hideMessagesFromBlockedUsers === true,
    ...(request.known && { known: request.known }),
    ownReceipts,
    along,
  }
  const messages = await writeMessages(on, app.appId, rows, options)
  const meta = cursorMeta(paging, rows, { beyond: hasBeyond, behind: hasBehind }, (row) => pointTo(paging, row))
  return new Serialized(writeList(messages, meta) as JsonText<ListAnswer>)
}

interface Page {
  readonly paging: Paging
  /** From the oldest to the newest. */
  readonly rows: ReadonlyArray<StoredMessage<JsonText>>
  readonly hasBeyond: boolean
  readonly hasBehind: boolean
  readonly ownReceipts?: OwnReceipts | undefined
  readonly along?: ReadAlong
}

async function readPage(on: Queryable, request: ListRequest, reading: Reading): Promise<Page> {
  const { app, query, viewer, limit } = request
  const paging = await readPaging(on, { appId: app.appId, viewer }, query, limit)
  const show = (page: Fragment) => selectStored(page, answerOrder(paging))
  const inDirection = <Row>(rows: readonly Row[]) => (paging.affix === 'append' ? rows : rows.toReversed())
  const readUpTo = async (most: number) =>
    inDirection(await readCut<StoredMessage<JsonText>>(on, reading, paging, 'beyond', most, show))
  const [found, rowsBehind] = await Promise.all([
    readUpTo(paging.limit + 1),
    paging.cursor === undefined ? [] : readCut(on, reading, paging, 'behind', 1, (page) => page),
  ])
  const { rows, isMore } = await passSecond(
    found,
    { ...paging, bound: limits.limit.max },
    ({ updatedAt }) => updatedAt,
    readUpTo,
  )
  return { paging, rows: inDirection(rows), hasBeyond: isMore, hasBehind: rowsBehind.length > 0 }
}

/** How many messages each conversation has, as the one who asked sees them. */
export function showCounts({ viewer }: Pick<ListRequest, 'viewer'>, { rows, isMore }: Counts): ListAnswer {
  const meta = isMore && { meta: { countAtLeast: true } }
  if (viewer === undefined) {
    return {
      ...meta,
      data: rows.map((row) => ({ conversationId: conversationId(row.kind, row.first, row.second), count: row.count })),
    }
  }
  return {
    ...meta,
    data: rows.map(({ kind, first, second, count }) =>
      kind === 'group'
        ? { entityId: first, entityType: 'group' as const, count }
        : { entityId: first === viewer ? second : first, entityType: 'user' as const, count },
    ),
  }
}
