import { sql } from 'kysely'
import { appKey } from '../../../store/app-key.ts'
import type { Fragment } from '../../../store/statement.ts'
import type { MessageFilters } from './filters.ts'
import type { Paging } from './position.ts'
import type { Source, ViewerSource } from './sources.ts'

/**
 * A source whose sides are narrowed to those that can hold what the filters ask for. Who takes part in thousands of
 * conversations has few with something unread, or in which they are mentioned, and the others need not be looked into.
 */
export function narrowSource(source: Source, filters: MessageFilters): Source {
  if (source.of !== 'viewer') return source
  const mentions = source.conversations === undefined ? sidesThatMention(filters, source) : []
  return { ...source, narrowed: [...sidesThatGoOn(filters), ...mentions] }
}

function sidesThatGoOn(filters: MessageFilters): Fragment[] {
  const conditions: Fragment[] = []
  if (filters.unread === true) conditions.push(endsAfter(sql`(s.unread_sent_at, s.unread_id)`))
  if (filters.undelivered === true) conditions.push(endsAfter(sql`(s.delivered_sent_at, s.delivered_id)`))
  const since = Math.max(filters['sentAt[from]'] ?? 0, filters.fromTimestamp ?? 0)
  if (since > 0) conditions.push(sql`s.last_sent_at >= ${since}`)
  return conditions
}

function sidesThatMention(filters: MessageFilters, { appId, viewer }: ViewerSource): Fragment[] {
  const mentioned = [
    ...(filters.myMentionsOnly === true ? [viewer] : []),
    ...(filters.mentionedUids ?? []).map((uid) => uid.toLowerCase()),
  ]
  if (mentioned.length === 0) return []
  return [
    sql`s.conversation in (
      select m.conversation
      from messages m
      where m.app_id = ${appKey(appId)}
      and m.mentioned && ${mentioned}::text[]
    )`,
  ]
}

/** Sides whose conversations go on from the cursor of a page, or end at it, towards newer messages. */
export function sidesBeyond({ affix, cursor, by }: Paging): Fragment[] {
  if (affix !== 'append' || cursor === undefined || by !== 'sent_at') return []
  return [sql`(s.last_sent_at, s.last_id) >= (${cursor.at}::bigint, ${cursor.id}::bigint)`]
}

function endsAfter(position: Fragment): Fragment {
  return sql`(s.last_sent_at, s.last_id) > ${position}`
}
