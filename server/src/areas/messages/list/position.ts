import { sql } from 'kysely'
import { wasThereFor } from '../../../chat/sight/participation.ts'
import type { Queryable } from '../../../store/database.ts'
import { lookup } from '../../../store/lookups.ts'
import { type Fragment, statement } from '../../../store/statement.ts'
import { unknownCursor } from '../errors.ts'

/** A place in a history: messages are ordered by time, then id. In lists by change the time is that of the change. */
export interface Cursor {
  readonly at: number
  readonly id: number
}

export type Affix = 'append' | 'prepend'

/** Where a page of a history begins and in which direction it goes; without a cursor from the very end or beginning. */
export interface Paging {
  readonly affix: Affix
  readonly cursor: Cursor | undefined
  /** The second that a list by change goes on from, where the cursor is a time alone. */
  readonly second?: number | undefined
  readonly limit: number
  /** The column that orders the list: `sent_at`, or `updated_at` for clients that sync what changed. */
  readonly by: 'sent_at' | 'updated_at'
}

interface CursorQuery {
  readonly affix?: Affix
  readonly id?: string
  readonly sentAt?: number
  readonly updatedAt?: number
}

const lastId = Number.MAX_SAFE_INTEGER

interface Times {
  readonly id: number
  readonly sentAt: number
  readonly updatedAt: number
}

const selectTimes = lookup<Times>(
  statement(`
  select id, sent_at as "sentAt", updated_at as "updatedAt"
  from messages
  where app_id = $1
  and id = any($2::bigint[])`),
  ({ id }) => [id],
)

/** Is a user one of those in the conversation `c`? */
export function isAmongThem(uid: string): string {
  return `case
    when c.kind = 1 then ${uid} in (c.first, c.second)
    else exists (select from group_members g where g.app_id = c.app_id and g.guid = c.first and g.uid = ${uid})
  end`
}

/**
 * The same where a user takes part in the conversation; what is said elsewhere is as if it were not, and so is what moderation has
 * held from the beginning. All else works, whether the user sees it by now or not: a client that goes on from what it was shown
 * must not be refused since a role, a reset or moderation has hidden that meanwhile. Whoever tries ids finds out that something
 * is hidden, and where it stands, but not what it is or whose. What is removed for good leaves its conversation, so that pages go
 * on from there.
 */
const selectTimesFor = lookup<Times & { readonly uid: string }>(
  statement(`
  select m.id, w.uid, m.sent_at as "sentAt", m.updated_at as "updatedAt"
  from unnest($2::bigint[], $3::text[]) as w(id, uid)
  join messages m on m.app_id = $1 and m.id = w.id
  join conversations c on c.app_id = m.app_id and c.key = m.conversation
  where ${isAmongThem('w.uid')}
  and ${wasThereFor('w.uid')}`),
  ({ id, uid }) => [id, uid],
)

/** Whose list it is; the app's own where there is no viewer. */
export interface Asker {
  readonly appId: number
  readonly viewer: string | undefined
}

/**
 * The page that a query says by itself; undefined where an id alone says where it begins. It is the right one unless the
 * message of its id was sent at another time than it says.
 */
export function givenPaging({ affix = 'append', id, sentAt }: CursorQuery, limit: number): Paging | undefined {
  if (id !== undefined && sentAt === undefined) return undefined
  const cursor =
    id === undefined || sentAt === undefined ? ofTime(affix, sentAt, 'sent_at') : { at: sentAt, id: Number(id) }
  return { affix, cursor, limit, by: 'sent_at' }
}

/**
 * Reads `affix`, `id`, `sentAt` and `updatedAt` of a query. Clients send the smallest id and the smallest time of a
 * page, which may belong to two messages: then the page goes on from the later of both positions for `prepend`, from
 * the earlier for `append`, so that rows may repeat but never vanish.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` for an id alone that the viewer cannot have come by
 */
export async function readPaging(on: Queryable, asker: Asker, query: CursorQuery, limit: number): Promise<Paging> {
  const by = query.updatedAt === undefined ? 'sent_at' : 'updated_at'
  const affix = query.affix ?? 'append'
  const time = query.updatedAt ?? query.sentAt
  if (query.id === undefined) {
    return { affix, cursor: ofTime(affix, time, by), second: query.updatedAt, limit, by }
  }
  const cursor = await ofId(on, asker, { affix, time, by, id: Number(query.id) })
  return { affix, cursor, limit, by }
}

/**
 * A time alone: what was sent after the whole second, or before it. A list by change includes that second, as those of users,
 * groups and threads do: whoever goes on from the last change that they saw may have seen it before the second was over.
 */
function ofTime(affix: Affix, time: number | undefined, by: Paging['by']): Cursor | undefined {
  if (time === undefined) return undefined
  const [begin, end] = by === 'updated_at' ? [0, lastId] : [lastId, 0]
  return { at: time, id: affix === 'append' ? begin : end }
}

async function ofId(
  on: Queryable,
  { appId, viewer }: Asker,
  { affix, time, by, id }: { affix: Affix; time: number | undefined; by: Paging['by']; id: number },
): Promise<Cursor> {
  const [row] = await (viewer === undefined
    ? on.query<Times>(selectTimes, [appId, [id]])
    : on.query<Times>(selectTimesFor, [appId, [id], [viewer]]))
  const at = by === 'sent_at' ? row?.sentAt : row?.updatedAt
  if (at === undefined && time === undefined) throw unknownCursor(id)
  if (at === undefined || time === undefined || at === time) return { at: at ?? (time as number), id }
  if (affix === 'prepend') return at > time ? { at, id } : { at: time, id: lastId }
  return at < time ? { at, id } : { at: time, id: 0 }
}

/** `m` lies beyond the cursor, in the direction of the page. @param by the column that orders what is read */
export function beyond({ affix, cursor, by: own }: Paging, by = own): Fragment | undefined {
  return cursor && comparedTo(cursor, affix === 'append' ? '>' : '<', by)
}

/** `m` lies on the other side of the cursor, where the page comes from. */
export function behind({ affix, cursor, by: own }: Paging, by = own): Fragment | undefined {
  return cursor && comparedTo(cursor, affix === 'append' ? '<=' : '>=', by)
}

function comparedTo(cursor: Cursor, operator: string, by: Paging['by']): Fragment {
  return sql`(m.${sql.raw(by)}, m.id) ${sql.raw(operator)} (${cursor.at}::bigint, ${cursor.id}::bigint)`
}

/** The order in which a page is read: ascending going on, descending going back. @param by as for `beyond` */
export function readingOrder({ affix, by: own }: Paging, by = own): Fragment {
  const direction = affix === 'append' ? 'asc' : 'desc'
  return sql.raw(`m.${by} ${direction}, m.id ${direction}`)
}

/** The order in which a page is answered: always ascending. */
export function answerOrder({ by }: Paging): Fragment {
  return sql.raw(`m.${by}, m.id`)
}

/** The place of a message in a list, as its cursor gives it. */
export function pointTo({ by }: Paging, row: { id: number; sentAt: number; updatedAt: number }) {
  return { ...(by === 'updated_at' ? { updatedAt: row.updatedAt } : { sentAt: row.sentAt }), id: String(row.id) }
}
