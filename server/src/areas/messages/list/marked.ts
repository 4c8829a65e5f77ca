import { sql } from 'kysely'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { allOf, statement } from '../../../store/statement.ts'
import type { Found } from '../search/find.ts'
import type { MessageFilters } from './filters.ts'
import type { Source } from './sources.ts'

const selectSaved = statement(`
  select message_id as id
  from saved_messages
  where app_id = $1
  and uid = $2`)

/** More than this are not worth reading one by one. */
const few = 5000

/**
 * The messages that a list of saved or pinned ones can hold: few in a long history, so they are read by their ids. Whether
 * each belongs to the list is for the list to tell.
 * @returns undefined where the list asks for neither, or they are many
 */
export async function findMarked(
  on: Queryable,
  source: Source,
  filters: MessageFilters,
  viewer: string | undefined,
): Promise<Found | undefined> {
  if (filters.saved === true && viewer !== undefined) {
    const saved = await on.query<{ id: number }>(selectSaved, [source.appId, viewer])
    return { are: 'few', ids: saved.map(({ id }) => id) }
  }
  if (filters.pinned !== true && filters.pinnedBy === undefined) return undefined
  const pinned = await readPinned(on, source)
  return pinned.length > few ? undefined : { are: 'few', ids: pinned }
}

async function readPinned(on: Queryable, source: Source): Promise<number[]> {
  const conditions = [sql`p.app_id = ${appKey(source.appId)}`]
  const keys = conversationsOf(source)
  if (keys !== undefined) conditions.push(sql`p.conversation = any(${keys}::bigint[])`)
  else if (source.of === 'viewer') {
    conditions.push(sql`exists (
      select from conversation_states s
      where s.app_id = p.app_id
      and s.uid = ${source.viewer}
      and s.conversation = p.conversation
    )`)
  }
  const rows = await on.run(sql<{ id: number }>`
    select p.message_id as id
    from pinned_messages p
    where ${allOf(conditions)}
    limit ${few + 1}`)
  return rows.map(({ id }) => id)
}

function conversationsOf(source: Source): readonly number[] | undefined {
  if (source.of === 'thread') return [source.conversation]
  return source.of === 'conversations' || source.of === 'viewer' ? source.conversations : undefined
}
