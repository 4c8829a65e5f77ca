import { exitCodes, ImportFailure } from '../import/failure.ts'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import type { Remote } from './remote.ts'

/** So often a page that brings nothing new is asked for again before the run ends. */
const mostRepeats = 10
const perPage = 1000
/** Where a list takes no more. */
const perSmallPage = 100

/**
 * Reads a list that goes by page numbers, to its end. Rows that come twice, because a page was repeated or the list moved
 * while it was read, are left out.
 * @param idOf what tells a row from others
 * @param missing statuses that mean that there is no such list: it is then empty
 * @param onMissing is told of such a status
 */
export async function* readPages(
  remote: Remote,
  path: string,
  idOf: (row: JsonRecord) => unknown,
  {
    as,
    missing = [],
    onMissing,
  }: { as?: string; missing?: readonly number[]; onMissing?: (status: number) => void } = {},
): AsyncGenerator<JsonRecord[]> {
  const seen = new Set<unknown>()
  let size = perPage
  let repeats = 0
  for (let page = 1; ; ) {
    const query = `${path}${path.includes('?') ? '&' : '?'}perPage=${size}&page=${page}`
    const { status, body } = await remote.get(query, { ...(as !== undefined && { as }), expected: [400, ...missing] })
    if (missing.includes(status)) {
      onMissing?.(status)
      return
    }
    if (status === 400) {
      if (size === perSmallPage || page > 1) throw unlikeList(remote, path, `it answered 400 to ${query}`)
      size = perSmallPage
      continue
    }
    const rows = rowsOf(remote, path, body)
    const { pagination } = (body.meta ?? {}) as { pagination?: { current_page?: unknown; total_pages?: unknown } }
    const isRepeated = pagination?.current_page !== undefined && Number(pagination.current_page) !== page
    if (isRepeated) {
      repeats += 1
      if (repeats > mostRepeats) throw unlikeList(remote, path, `page ${page} is always another one`)
      continue
    }
    repeats = 0
    const fresh = rows.filter((row) => !seen.has(idOf(row)))
    for (const row of fresh) seen.add(idOf(row))
    if (fresh.length > 0) yield fresh
    const isLast = pagination?.total_pages === undefined ? rows.length < size : page >= Number(pagination.total_pages)
    if (rows.length === 0 || isLast) return
    page += 1
  }
}

/** All rows of `readPages`. */
export async function readAll(...args: Parameters<typeof readPages>): Promise<JsonRecord[]> {
  const all: JsonRecord[] = []
  for await (const rows of readPages(...args)) all.push(...rows)
  return all
}

/** One record; undefined where there is none. */
export async function readRecord(remote: Remote, path: string): Promise<JsonRecord | undefined> {
  const { status, body } = await remote.get(path, { expected: [400, 404] })
  if (status !== 200) return undefined
  if (!isJsonObject(body.data)) throw unlikeList(remote, path, 'the answer has no record')
  return body.data
}

/** The rows of an answer. @throws ImportFailure where it has none */
export function rowsOf(remote: Remote, path: string, body: JsonRecord): JsonRecord[] {
  const { data } = body
  if (!Array.isArray(data) || !data.every(isJsonObject)) throw unlikeList(remote, path, 'the answer has no rows')
  return data
}

/** Where a scan of messages stands. */
export interface Cursor {
  readonly sentAt: number
  readonly id: number
}

/** A part of the time of an app: messages from `from` to `to`, both in epoch seconds and included, after `cursor`. */
export interface Span {
  readonly from: number
  to: number
  cursor?: Cursor
  done: boolean
}

/** A page of a span: its new rows, and the cursor after them; none at the end, when there are no rows any more. */
export interface SpanPage {
  readonly rows: JsonRecord[]
  readonly next: Cursor | undefined
}

/**
 * Reads the messages of a span, a page at a time, in the order of time, until a page is empty. `span.to` may be lowered
 * between two pages.
 */
export async function* scanSpan(remote: Remote, span: Readonly<Span>, filters: string): AsyncGenerator<SpanPage> {
  let cursor = span.cursor
  let isLost = false
  for (let repeats = 0; ; ) {
    // Where the message of the cursor was deleted for good, its second is read again.
    const at = cursor === undefined ? '' : `&sentAt=${isLost ? cursor.sentAt - 1 : `${cursor.sentAt}&id=${cursor.id}`}`
    const path = `/messages?affix=append&limit=${perPage}&fromTimestamp=${span.from}&toTimestamp=${span.to}${filters}${at}`
    const { status, body } = await remote.get(path, { expected: [404] })
    if (status === 404 && (isLost || cursor === undefined)) throw unlikeList(remote, path, 'it answered 404')
    isLost = status === 404
    if (isLost) continue
    const rows = rowsOf(remote, path, body)
    const fresh = rows.filter((row) => cursor === undefined || isAfter(row, cursor))
    if (rows.length > 0 && fresh.length === 0) {
      repeats += 1
      if (repeats > mostRepeats) throw unlikeList(remote, path, 'a page is always the one before it')
      continue
    }
    repeats = 0
    // Another reader may have taken over the end of the span while this page was on its way.
    const inside = fresh.filter((row) => Number(row.sentAt) <= span.to)
    const last = inside.at(-1)
    if (last !== undefined) cursor = { sentAt: Number(last.sentAt), id: Number(last.id) }
    const isEnd = inside.length < fresh.length || rows.length === 0
    yield { rows: inside, next: isEnd ? undefined : cursor }
    if (isEnd) return
  }
}

/** `scanSpan`, where what is done with a page must be done before the next one is asked for. */
export async function readSpan(
  remote: Remote,
  span: Readonly<Span>,
  filters: string,
  take: (rows: JsonRecord[], next: Cursor | undefined) => Promise<void>,
): Promise<void> {
  for await (const { rows, next } of scanSpan(remote, span, filters)) await take(rows, next)
}

function isAfter(row: JsonRecord, cursor: Cursor): boolean {
  const sentAt = Number(row.sentAt)
  return sentAt > cursor.sentAt || (sentAt === cursor.sentAt && Number(row.id) > cursor.id)
}

/**
 * Who reacted to a message; undefined where it is gone.
 * @param expected how many the message counts: when so many are found, nothing more is asked
 */
export async function readReactions(remote: Remote, id: string, expected: number): Promise<JsonRecord[] | undefined> {
  const found = new Map<string, JsonRecord>()
  let cursor: string | undefined
  for (let repeats = 0; repeats <= mostRepeats; ) {
    const path = `/messages/${id}/reactions?affix=append&limit=${perSmallPage}${cursor === undefined ? '' : `&id=${cursor}`}`
    const { status, body } = await remote.get(path, { expected: [404] })
    if (status === 404) return undefined
    const rows = rowsOf(remote, path, body)
    const fresh = rows.filter((row) => !found.has(String(row.id)))
    for (const row of fresh) found.set(String(row.id), row)
    if (rows.length === 0 || found.size >= expected) return [...found.values()]
    if (fresh.length === 0) repeats += 1
    else cursor = String(fresh.at(-1)!.id)
  }
  throw unlikeList(remote, `/messages/${id}/reactions`, 'a page is always the one before it')
}

function unlikeList(remote: Remote, path: string, why: string): ImportFailure {
  return new ImportFailure(exitCodes.unreachable, `${remote.url}${path} does not answer as a list does: ${why}`)
}
