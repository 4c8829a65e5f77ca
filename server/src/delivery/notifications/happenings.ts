import type { NotificationCategory, NotificationTrigger } from '@parley/contract'
import { type ConversationKind, kindSql } from '../../chat/kind.ts'
import type { Happening } from '../../chat/notifications/decide.ts'
import { notHeldIn } from '../../chat/sight/participation.ts'
import type { EventTrigger } from '../../events/types.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { conversationOf } from './facts.ts'
import { logTriggerOf, memberCategoryOf, ofThemselves, plannedTriggers } from './triggers.ts'

/** A message, as far as it decides who is notified; all null where it is gone, or moderation holds it. */
export interface MessageFactsRow {
  readonly sender: string | null
  readonly sentAt: number | null
  readonly category: string | null
  readonly isNotifying: boolean
  readonly parentId: number | null
  readonly quotedId: number | null
  readonly quotedSender: string | null
  readonly mentioned: string[] | null
  readonly mentionsAll: boolean
}

/**
 * Columns of `MessageFactsRow`, of a message `m`, beside `quotedJoin`. Into what was sent is looked where that can decide: of custom
 * messages, and of those in groups.
 */
export const messageFacts = `m.sender, m.sent_at as "sentAt", m.category,
    coalesce(m.category = 'custom' and m.data ->> 'sendNotification' = 'true', false) as "isNotifying", m.parent_id as "parentId",
    m.quoted_id as "quotedId", q.sender as "quotedSender", m.mentioned,
    coalesce(m.kind = 2 and strpos(m.data ->> 'text', '<@all:') > 0, false) as "mentionsAll"`

/** Who wrote what the message `m` quotes, unless moderation holds that. @param of the alias of a row of the same app */
export function quotedJoin(of: string): string {
  return `left join lateral (
    select q.sender
    from messages q
    where m.quoted_id is not null
    and q.app_id = ${of}.app_id
    and q.id = m.quoted_id
    and ${notHeldIn('q')}
    order by q.id
    limit 1
  ) q on true`
}

/** Who did what the action message of the event `e` is about. @param of the alias of a row of the same app */
export function actedJoin(of: string): string {
  return `left join lateral (
    select a.sender
    from messages a
    where e.trigger <> 'message_sent'
    and a.app_id = ${of}.app_id
    and a.id = (e.data ->> 'actionId')::bigint
    order by a.id
    limit 1
  ) a on true`
}

/** An event of the log with what it is about, as far as that decides who is notified. */
interface PageRow extends MessageFactsRow {
  readonly id: number
  readonly trigger: EventTrigger
  readonly conversation: number
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
  readonly members: number | null
  readonly isRestricted: boolean | null
  readonly by: string | null
  readonly subjects: string[] | null
  readonly reactionId: number | null
  readonly message: number | null
  readonly trace: string | null
}

/** Of that a message was sent, which most are, the message says all: what the event holds need not be read. */
const ofOthers = (value: string) => `case when e.trigger <> 'message_sent' then ${value} end`

/** Each in its order, with a limit: so the planner takes the index of the key, whatever it knew of the table when it planned. */
const selectPage = statement(`
  select e.id, e.trigger, e.conversation, ${kindSql('c.kind')} as kind, c.first, c.second, g.members_count as members,
    g.permissions_version <> 0 as "isRestricted",
    ${ofOthers("coalesce(e.data ->> 'uid', e.data ->> 'by', a.sender)")} as by,
    case when e.trigger in (${ofThemselves.map((trigger) => `'${trigger}'`).join(', ')})
      then array(select x ->> 'uid' from json_array_elements(e.data -> 'members') x)
    end as subjects,
    ${ofOthers("(e.data ->> 'reactionId')::bigint")} as "reactionId", e.data ->> 'trace' as trace, e.message, ${messageFacts}
  from events e
  cross join lateral (${conversationOf('e')}
  ) c
  left join lateral (
    select g.members_count, g.permissions_version
    from groups g
    where c.kind = 2
    and g.app_id = e.app_id
    and g.guid = c.first
    order by g.guid
    limit 1
  ) g on true
  left join lateral (
    select m.*
    from messages m
    where m.app_id = e.app_id
    and m.id = e.message
    and not m.purged
    and ${notHeldIn('m')}
    order by m.id
    limit 1
  ) m on true
  ${actedJoin('e')}
  ${quotedJoin('m')}
  where e.app_id = $1
  and e.id >= $2
  and e.id <= $3
  and e.trigger = any($4::text[])
  order by e.id
  limit $5`)

/** Something that happened in a conversation, and who shall not be notified, since they did it. */
export interface Happened extends Happening {
  readonly event: number
  readonly trigger: NotificationTrigger
  readonly conversation: number
  readonly first: string
  readonly second: string
  readonly members: number
  /** Permissions are set in the group. */
  readonly isRestricted: boolean
  readonly actors: readonly string[]
  readonly message: number | null
  readonly reaction: number | null
  readonly sentAt: number | null
  readonly parentId: number | null
  /** Leads to the request that it came from, where that is traced. */
  readonly trace: string | null
}

/** Whether it replaces or takes back what is shown of a message. */
export function isChange(one: Pick<Happened, 'category'> | undefined): boolean {
  return one?.category === 'messageEdited' || one?.category === 'messageDeleted'
}

export interface Page {
  readonly happened: readonly Happened[]
  /** The last event that was looked at; undefined where there is none left up to the end. */
  readonly last: number | undefined
}

/** Reads what happened in an app. @param from, to ids of events, both among them */
export async function readHappenings(
  on: Queryable,
  appId: number,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<Page> {
  const rows = await on.query<PageRow>(selectPage, [appId, from, to, plannedTriggers, limit])
  return {
    happened: rows.flatMap((row) => happenedOf(row) ?? []),
    last: rows.length < limit ? undefined : rows.at(-1)?.id,
  }
}

/** @returns undefined for what nobody is notified of */
function happenedOf(row: PageRow): Happened | undefined {
  const category = categoryOf(row)
  if (category === undefined) return undefined
  const happening = happeningOf(row, row.kind, category)
  // One literal, since there are thousands a second.
  return {
    kind: happening.kind,
    category,
    mentioned: happening.mentioned,
    mentionsAll: happening.mentionsAll,
    author: happening.author,
    quoted: happening.quoted,
    event: row.id,
    trigger: logTriggerOf(row.trigger),
    conversation: row.conversation,
    first: row.first,
    second: row.second,
    members: row.members ?? 2,
    isRestricted: row.isRestricted ?? false,
    actors: actorsOf(row),
    message: row.message,
    reaction: row.reactionId,
    sentAt: row.sentAt,
    parentId: row.parentId,
    trace: row.trace,
  }
}

function happeningOf(row: MessageFactsRow, kind: ConversationKind, category: NotificationCategory): Happening {
  return {
    category,
    kind: kind === 'group' ? 'group' : 'oneOnOne',
    mentioned: row.mentioned ?? [],
    mentionsAll: kind === 'group' && row.mentionsAll,
    author: row.sender ?? undefined,
    quoted: row.quotedSender ?? undefined,
  }
}

/** That a message was sent. @returns undefined for what nobody is notified of */
export function sendingOf(row: MessageFactsRow, kind: ConversationKind): Happening | undefined {
  return happeningBy('message_sent', row, kind)
}

/** What an event means, by what is known of its message now. @returns undefined for what nobody is notified of */
export function happeningBy(
  trigger: EventTrigger,
  row: MessageFactsRow,
  kind: ConversationKind,
): Happening | undefined {
  const category = categoryOf({ ...row, trigger })
  return category && happeningOf(row, kind, category)
}

function categoryOf(row: MessageFactsRow & Pick<PageRow, 'trigger'>): NotificationCategory | undefined {
  const { trigger, category } = row
  const ofMembers = memberCategoryOf(trigger)
  if (ofMembers !== undefined) return ofMembers
  if (trigger === 'message_deleted') return 'messageDeleted'
  // What happened to a message that is gone by now is covered by its deletion.
  if (category === null || category === 'action' || category === 'call') return undefined
  if (category === 'custom' && !row.isNotifying) return undefined
  if (trigger === 'message_edited') return 'messageEdited'
  if (trigger === 'message_reaction_added') return 'reactions'
  if (row.parentId !== null) return 'replies'
  return row.quotedId !== null ? 'quotedReplies' : 'messages'
}

/** Nobody is notified of what they did themselves; members who joined or left did so. */
function actorsOf({ trigger, sender, by, subjects }: PageRow): string[] {
  if (trigger === 'message_sent') return sender === null ? [] : [sender]
  if (ofThemselves.includes(trigger)) return subjects ?? []
  return by === null ? [] : [by]
}
