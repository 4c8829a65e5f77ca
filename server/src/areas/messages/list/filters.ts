import { fileKinds } from '@parley/contract'
import { sql } from 'kysely'
import { storedKind } from '../../../chat/kind.ts'
import { type AttachmentKind, traits } from '../../../chat/messages/traits.ts'
import { notBlockedSql } from '../../../chat/sight/blocks.ts'
import { isThereSql } from '../../../chat/sight/participation.ts'
import type { Fragment } from '../../../store/statement.ts'
import { needsActingUser } from '../errors.ts'
import { mentionsAnybody, mentionsAnyOf } from '../mentions/filters.ts'
import { hasChanged } from './sources.ts'

/** The filters of the message lists, as their queries give them. */
export interface MessageFilters {
  readonly category?: string
  readonly categories?: string[]
  readonly type?: string
  readonly types?: string[]
  readonly sender?: string
  readonly senders?: string[]
  readonly receiverType?: 'user' | 'group'
  readonly tags?: string[]
  readonly hasAttachments?: boolean
  readonly attachmentTypes?: AttachmentKind[]
  readonly hasLinks?: boolean
  readonly hasMentions?: boolean
  readonly mentionedUids?: string[]
  readonly myMentionsOnly?: boolean
  readonly hasReactions?: boolean
  readonly hideReplies?: boolean
  readonly hideDeleted?: boolean
  readonly onlyDeleted?: boolean
  readonly onlyUpdates?: boolean
  readonly fromTimestamp?: number
  readonly toTimestamp?: number
  readonly pinned?: boolean
  readonly pinnedBy?: string
  readonly saved?: boolean
  readonly hideMessagesFromBlockedUsers?: boolean
  readonly unread?: boolean
  readonly undelivered?: boolean
  readonly 'sentAt[from]'?: number
  readonly 'sentAt[to]'?: number
  readonly 'updatedAt[from]'?: number
  readonly 'updatedAt[to]'?: number
  readonly 'editedAt[from]'?: number
  readonly 'editedAt[to]'?: number
}

/** Those of the conditions that few messages of an app meet, which an index of the app has in their order. */
export function rareConditions({ category, type }: MessageFilters): Fragment[] {
  if (category !== undefined && category !== 'message') return [sql`m.category = ${category}`]
  return type === undefined || type === 'text' ? [] : [sql`m.type = ${type}`]
}

/** Whether all messages that the conditions leave have changed since they were sent. */
export function asksForChanges(filters: MessageFilters): boolean {
  return filters.onlyUpdates === true || (filters['updatedAt[from]'] ?? filters['updatedAt[to]']) !== undefined
}

/** What every message of a list is: there at all, and for whoever looks. */
export function present(viewer: string | undefined): Fragment {
  return sql`not m.purged and ${isThereSql(viewer === undefined ? undefined : sql`${viewer}`)}`
}

/**
 * The conditions on messages `m` that a query asks for, after the one that all lists have.
 * @param ofApp of the whole app: what few messages have is looked up. Else they are read from their conversations' ends,
 * without weighing that against an index of all that the app has of it
 * @throws 400 when what only a user has (unread, undelivered, saved) is asked without one
 */
export function filterConditions(
  filters: MessageFilters,
  viewer: string | undefined,
  { ofApp = false } = {},
): Fragment[] {
  const personal = (['unread', 'undelivered', 'saved', 'myMentionsOnly'] as const).find(
    (name) => filters[name] === true,
  )
  if (personal !== undefined && viewer === undefined) throw needsActingUser(personal)
  // What counts as unread is never held, nor removed for good; an index alone tells what counts.
  const counts = filters.unread === true || filters.undelivered === true
  const conditions: Fragment[] = counts ? [] : [present(viewer)]
  const add = (value: unknown, condition: () => Fragment) => {
    if (value !== undefined && value !== false) conditions.push(condition())
  }
  const lower = (ids: string[]) => ids.map((id) => id.toLowerCase())

  add(filters.category, () => sql`m.category = ${filters.category}`)
  add(filters.categories, () => sql`m.category = any(${filters.categories}::text[])`)
  add(filters.type, () => sql`m.type = ${filters.type}`)
  add(filters.types, () => sql`m.type = any(${filters.types}::text[])`)
  add(filters.sender, () => sql`m.sender = ${filters.sender?.toLowerCase()}`)
  add(filters.senders, () => sql`m.sender = any(${lower(filters.senders ?? [])}::text[])`)
  if (filters.receiverType !== undefined) conditions.push(sql`m.kind = ${storedKind(filters.receiverType)}`)
  const looked = (condition: Fragment) => (ofApp ? condition : sql`(${condition}) is true`)
  add(filters.tags, () => looked(sql`m.tags && ${filters.tags}::text[]`))
  add(filters.hasAttachments, () => hasFiles(fileKinds))
  add(filters.attachmentTypes, () => hasFiles(filters.attachmentTypes ?? []))
  add(filters.hasLinks, () => hasTraits(traits.links))
  add(filters.hasMentions, mentionsAnybody)
  add(filters.mentionedUids, () => looked(mentionsAnyOf(lower(filters.mentionedUids ?? []))))
  add(filters.myMentionsOnly, () => looked(mentionsAnyOf(viewer === undefined ? [] : [viewer])))
  add(filters.hasReactions, hasReactions)
  add(filters.pinned, () => sql`${hasTraits(traits.pinned)} and ${isPinned(undefined)}`)
  add(filters.pinnedBy, () => sql`${hasTraits(traits.pinned)} and ${isPinned(filters.pinnedBy?.toLowerCase())}`)
  add(
    filters.saved,
    () => sql`${hasTraits(traits.saved)} and exists (
      select from saved_messages v
      where v.app_id = m.app_id and v.uid = ${viewer} and v.message_id = m.id
      offset 0
    )`,
  )
  if (filters.hideMessagesFromBlockedUsers === true && viewer !== undefined) {
    conditions.push(notBlockedSql(viewer))
  }
  add(filters.hideReplies, () => sql`m.parent_id is null`)
  add(filters.hideDeleted, () => sql`m.deleted_at is null`)
  add(filters.onlyDeleted, () => sql`m.deleted_at is not null`)
  add(filters.onlyUpdates, () => hasChanged)
  add(filters.fromTimestamp, () => sql`m.sent_at >= ${filters.fromTimestamp}`)
  if (filters.fromTimestamp !== undefined) add(filters.toTimestamp, () => sql`m.sent_at <= ${filters.toTimestamp}`)
  add(filters['sentAt[from]'], () => sql`m.sent_at >= ${filters['sentAt[from]']}`)
  add(filters['sentAt[to]'], () => sql`m.sent_at <= ${filters['sentAt[to]']}`)
  add(filters['updatedAt[from]'], () => changed('>=', filters['updatedAt[from]']))
  add(filters['updatedAt[to]'], () => changed('<=', filters['updatedAt[to]']))
  add(filters['editedAt[from]'], () => sql`m.edited_at >= ${filters['editedAt[from]']}`)
  add(filters['editedAt[to]'], () => sql`m.edited_at <= ${filters['editedAt[to]']}`)
  return conditions
}

/** Any of these bits. */
function hasTraits(bits: number): Fragment {
  return sql`m.traits & ${bits}::int <> 0`
}

/**
 * A file of one of these kinds. A message of files may name its file by `data.url` alone: no bit tells of that, and of what
 * kind it is, the type of the message tells.
 */
function hasFiles(kinds: readonly AttachmentKind[]): Fragment {
  const bits = kinds.reduce((sum, kind) => sum | traits[kind], 0)
  return sql`(${hasTraits(bits)} or (
    m.traits & ${traits.attachments}::int = 0
    and m.category = 'message'
    and m.type = any(${kinds}::text[])
    and json_typeof(m.data->'url') = 'string'
  ))`
}

/** Pinned in its conversation, by a certain user or by anybody. The offset: see `hasReactions`. */
function isPinned(by: string | undefined): Fragment {
  return sql`exists (
    select from pinned_messages p
    where p.app_id = m.app_id and p.conversation = m.conversation and p.message_id = m.id
    and (${by ?? null}::text is null or p.pinned_by = ${by ?? null})
    offset 0
  )`
}

/**
 * Reactions also go with the users who gave them, so the bit alone does not tell. The offset keeps it a look by key for
 * each message that has the bit; the planner would join, and read the whole table for it.
 */
function hasReactions(): Fragment {
  return sql`${hasTraits(traits.reactions)} and exists (
    select from reaction_counts c
    where c.app_id = m.app_id
    and c.message_id = m.id
    offset 0
  )`
}

/** Only messages that really changed since they were sent. */
function changed(operator: '>=' | '<=', time: number | undefined): Fragment {
  return sql`${hasChanged} and m.updated_at ${sql.raw(operator)} ${time}`
}

/** What a user has not read, or not received: messages of others, beyond their state `s` in the conversation. */
export function viewerConditions(filters: MessageFilters, viewer: string): Fragment[] {
  const conditions: Fragment[] = []
  if (filters.unread === true) {
    conditions.push(sql`m.countable and m.sender <> ${viewer} and (m.sent_at, m.id) > (s.unread_sent_at, s.unread_id)`)
  }
  if (filters.undelivered === true) {
    conditions.push(
      sql`m.countable and m.sender <> ${viewer} and m.delivered_at is null
        and (m.sent_at, m.id) > (s.delivered_sent_at, s.delivered_id)`,
    )
  }
  return conditions
}
