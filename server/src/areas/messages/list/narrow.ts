import { sql } from 'kysely'
import { appKey } from '../../../store/app-key.ts'
import type { Fragment } from '../../../store/statement.ts'
import type { MessageFilters } from './filters.ts'
import type { Paging } from './position.ts'
import type { Source, ViewerSource } from './sources.ts'

/**
 * A source whose states are narrowed to those that can hold what the filters ask for. Who takes part in thousands of
 * conversations has few with something unread, or in which they are mentioned, and the others need not be looked into. Of
 * conversations that are named, all are: what moderation holds of the viewer lies beyond the ends that everybody sees.
 */
export function narrowSource(source: Source, filters: MessageFilters): Source {
  if (source.of !== 'viewer') return source
  const own =
    source.conversations === undefined ? [...statesSince(filters, source), ...statesThatMention(filters, source)] : []
  return { ...source, narrowed: [...statesThatGoOn(filters), ...own] }
}

function statesThatGoOn(filters: MessageFilters): Fragment[] {
  const conditions: Fragment[] = []
  if (filters.unread === true) conditions.push(endsAfter(sql`(s.unread_sent_at, s.unread_id)`))
  if (filters.undelivered === true) conditions.push(endsAfter(sql`(s.delivered_sent_at, s.delivered_id)`))
  return conditions
}

function statesSince(filters: MessageFilters, source: ViewerSource): Fragment[] {
  const since = Math.max(filters['sentAt[from]'] ?? 0, filters.fromTimestamp ?? 0)
  return since > 0 ? [sql`(s.last_sent_at >= ${since} or ${holdsOwn(source)})`] : []
}

/** Moderation may hold something of the viewer there, which lies beyond the end that everybody sees. */
function holdsOwn({ appId, viewer }: ViewerSource): Fragment {
  return sql`s.conversation = any(array(
      select h.conversation
      from message_moderation h
      where h.app_id = ${appKey(appId)}
      and h.sender = ${viewer}
      and h.status <> 'approved'
    ))`
}

function statesThatMention(filters: MessageFilters, { appId, viewer }: ViewerSource): Fragment[] {
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
export function statesBeyond(source: Source, { affix, cursor, by }: Paging): Fragment[] {
  if (source.of !== 'viewer' || source.conversations !== undefined) return []
  if (affix !== 'append' || cursor === undefined || by !== 'sent_at') return []
  const goesOn = sql`(s.last_sent_at, s.last_id) >= (${cursor.at}::bigint, ${cursor.id}::bigint)`
  return [sql`(${goesOn} or ${holdsOwn(source)})`]
}

function endsAfter(position: Fragment): Fragment {
  return sql`(s.last_sent_at, s.last_id) > ${position}`
}
