import type { ChatEvent, EventTrigger, Place } from '../../events/types.ts'
import { type ConversationKind, readKind, storedKind } from '../kind.ts'

const parts = ['kind', 'first', 'second'] as const

const change = [...parts, 'actionId'] as const
const receipt = [...parts, 'uid', 'at', 'viaSocket'] as const
const receiptOfAll = [...parts, 'at'] as const
const reaction = [...parts, 'parentId', 'reactionId', 'reaction', 'uid', 'reactedAt'] as const
const block = ['by', 'uids'] as const
const group = ['guid', 'uids', 'owner', 'oldOwner'] as const
const failure = [...parts, 'contentType', 'outcome', 'completedAt', 'failures'] as const
const members = ['guid', 'by', 'members', 'actionId'] as const

/**
 * What the log keeps of each kind of event in `data`, besides its conversation and its message: members of its type, those
 * of its place among them. Never a message or a text, but for what an engine answered (`forgetModerationEvents`). What writes the log and what reads it both use this table.
 */
const kept = {
  message_sent: [],
  user_mentioned: [],
  message_edited: change,
  message_deleted: change,
  message_delivery_receipt: receipt,
  message_read_receipt: receipt,
  message_delivered_to_all: receiptOfAll,
  message_read_by_all: receiptOfAll,
  message_reaction_added: reaction,
  message_reaction_removed: reaction,
  user_blocked: block,
  user_unblocked: block,
  user_connection_status_changed: ['uid', 'status', 'timestamp', 'connection'],
  group_created: group,
  group_updated: group,
  group_owner_transferred: group,
  group_deleted: ['guid', 'group'],
  group_member_joined: members,
  group_member_left: members,
  group_member_added: members,
  group_member_kicked: members,
  group_member_banned: members,
  group_member_unbanned: members,
  group_member_scope_changed: members,
  moderation_engine_approved: [],
  moderation_engine_blocked: [],
  moderation_manual_approved: ['hits'],
  moderation_engine_failed: failure,
} as const satisfies { readonly [Trigger in EventTrigger]: ReadonlyArray<keyof Flat<Trigger>> }

type EventOf<Trigger extends EventTrigger, Event = ChatEvent> = Event extends { readonly trigger: infer Triggers }
  ? Trigger extends Triggers
    ? Event
    : never
  : never

/** An event with the members of its place among its own. */
type Flat<Trigger extends EventTrigger> =
  EventOf<Trigger> extends { readonly place: Place } ? Omit<EventOf<Trigger>, 'place'> & Parts : EventOf<Trigger>

/** Where it happened: the two uids in byte order, or the guid and ''. */
export type Parts = Omit<Place, 'conversation'>

/** What the log keeps of one kind of event. */
export type StoredData<Trigger extends EventTrigger> = Pick<Flat<Trigger>, KeptOf<Trigger>>

type KeptOf<Trigger extends EventTrigger> = (typeof kept)[Trigger][number] & keyof Flat<Trigger>

/** Members that every event of a kind has. */
type RequiredOf<Trigger extends EventTrigger> = {
  [Member in KeptOf<Trigger>]: undefined extends StoredData<Trigger>[Member] ? never : Member
}[KeptOf<Trigger>]

/** A reaction is taken out when its message, or its user, is removed for good. */
type AsFound<Data> = Data extends { readonly reaction: string }
  ? Omit<Data, 'reaction'> & { readonly reaction?: string }
  : Data

type Stored<Trigger extends EventTrigger> = AsFound<StoredData<Trigger>> & {
  readonly trigger: Trigger
} & (EventOf<Trigger> extends {
    readonly messageId: number
  }
    ? { readonly messageId: number }
    : unknown)

/** An event as it is read from the log. */
export type StoredEvent = { readonly [Trigger in EventTrigger]: Stored<Trigger> }[EventTrigger]

/** `data` of an event, as JSON text. */
export function storedDataOf(event: ChatEvent): string {
  const flat: Readonly<Record<string, unknown>> = 'place' in event ? { ...event, ...event.place } : { ...event }
  return textOf(event.trigger, flat)
}

/** `data` of an event that is written by a statement of its own, as JSON text. */
export function storedData<Trigger extends EventTrigger>(trigger: Trigger, data: StoredData<Trigger>): string {
  return textOf(trigger, data)
}

function textOf(trigger: EventTrigger, flat: object): string {
  const values = flat as Readonly<Record<string, unknown>>
  const members = kept[trigger].map((member) => [member, storedOf(member, values[member])])
  const { trace } = values
  return JSON.stringify({ ...Object.fromEntries(members), ...(trace !== undefined && { trace }) })
}

/** The log keeps kinds as tables do. */
function storedOf(member: string, value: unknown): unknown {
  return member === 'kind' ? storedKind(value as ConversationKind) : value
}

/** `data` of an event that is written by a statement of its own, as SQL: each member with the expression that gives it. */
export function storedDataSql<Trigger extends EventTrigger>(
  trigger: Trigger,
  expressions: Readonly<Record<RequiredOf<Trigger>, string>>,
): string {
  const values = expressions as Readonly<Record<string, string>>
  const members = kept[trigger].filter((member) => member in values)
  return `json_build_object(${members.map((member) => `'${member}', ${values[member]}`).join(', ')})`
}

/** What leads from an event of the log to the request that it came from; undefined where that was not traced. */
export function traceOf(data: Readonly<Record<string, unknown>>): string | undefined {
  return typeof data.trace === 'string' ? data.trace : undefined
}

/** Begins a statement that writes events, whose ids are drawn as they are inserted. */
export const insertIntoEvents = 'insert into events (app_id, trigger, conversation, message, data, created_at)'

/** An event out of the log, with the members that are kept of its kind. */
export function readStored(row: {
  readonly trigger: EventTrigger
  readonly message: number | null
  readonly data: Readonly<Record<string, unknown>>
}): StoredEvent {
  const members = kept[row.trigger]
    .filter((member) => member in row.data)
    .map((member) => [member, member === 'kind' ? readKind(row.data[member]) : row.data[member]])
  return { ...Object.fromEntries(members), trigger: row.trigger, messageId: row.message } as StoredEvent
}
