import { sql } from 'kysely'
import { unknownMessage } from '../../../chat/messages/read.ts'
import type { Queryable } from '../../../store/database.ts'
import { type Fragment, statement } from '../../../store/statement.ts'
import { type Affix, type Asker, isAmongThem } from '../list/position.ts'

/** The place of a thread in lists: by the time of its last reply, then by its parent. */
interface ThreadPosition {
  readonly at: number
  readonly id: number
}

/**
 * Where a page of threads begins and in which direction it goes. As in every list, `prepend` goes towards older ones and
 * `append` towards newer ones; but lists of threads start with the newest, so `prepend` is what they do unless asked.
 */
export interface ThreadPaging {
  readonly affix: Affix
  /** The second that the page goes on from, where the cursor is a time alone. */
  readonly second?: number | undefined
  readonly cursor: ThreadPosition | undefined
  readonly limit: number
}

const lastId = Number.MAX_SAFE_INTEGER

const selectTime = statement(`
  select t.updated_at as "updatedAt"
  from threads t
  join conversations c on c.app_id = t.app_id and c.key = t.conversation
  where t.app_id = $1
  and t.parent_id = $2
  and ($3::text is null or ${isAmongThem('$3')})`)

/**
 * Reads `affix`, `updatedAt` and `id`. A thread moves up with each reply, so that both together are taken as they are,
 * even when the thread is elsewhere by now; a time alone includes its whole second, which may hold more threads than a page.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` for an id alone that is no thread where the viewer takes part
 */
export async function readThreadPaging(
  on: Queryable,
  { appId, viewer }: Asker,
  query: { readonly affix?: Affix; readonly updatedAt?: number; readonly id?: string },
  limit: number,
): Promise<ThreadPaging> {
  const { affix = 'prepend', updatedAt } = query
  if (query.id === undefined) {
    const cursor = updatedAt === undefined ? undefined : { at: updatedAt, id: affix === 'append' ? 0 : lastId }
    return { affix, second: updatedAt, cursor, limit }
  }
  const id = Number(query.id)
  if (updatedAt !== undefined) return { affix, cursor: { at: updatedAt, id }, limit }
  const [thread] = await on.query<{ updatedAt: number }>(selectTime, [appId, id, viewer ?? null])
  if (thread === undefined) throw unknownMessage(id)
  return { affix, cursor: { at: thread.updatedAt, id }, limit }
}

/** The same place, looking the other way. */
export function turned(paging: ThreadPaging): ThreadPaging {
  return { ...paging, affix: paging.affix === 'append' ? 'prepend' : 'append' }
}

/** The thread `t` lies beyond the cursor; with `inclusive` also at it. */
export function beyond({ affix, cursor }: ThreadPaging, { inclusive = false } = {}): Fragment[] {
  if (cursor === undefined) return []
  const operator = sql.raw(`${affix === 'append' ? '>' : '<'}${inclusive ? '=' : ''}`)
  return [sql`(t.updated_at, t.parent_id) ${operator} (${cursor.at}::bigint, ${cursor.id}::bigint)`]
}

export function readingOrder({ affix }: Pick<ThreadPaging, 'affix'>): Fragment {
  const direction = affix === 'append' ? 'asc' : 'desc'
  return sql.raw(`t.updated_at ${direction}, t.parent_id ${direction}`)
}

/** The place of a thread in a list, as its cursor gives it. */
export function pointTo({ updatedAt, parentId }: { readonly updatedAt: number; readonly parentId: number }) {
  return { updatedAt, id: String(parentId) }
}
