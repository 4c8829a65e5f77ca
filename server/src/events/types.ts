import type { Conversation, Message } from '@parley/contract'
import type { ConversationKind } from '../chat/kind.ts'

/**
 * What happened, one type for each kind of event (the triggers of contract/src/events.ts). Events name users, groups and messages by id:
 * their entities are joined when an event is shown, so names are fresh and what was deleted does not live on in a log.
 * What can no longer be read by then (a deleted group) is kept with the event.
 */
export type ChatEvent = Traceable &
  (
    | MessageSent
    | UserMentioned
    | MessageChanged
    | Receipt
    | ReceiptOfAll
    | Reacted
    | Blocked
    | ConnectionChanged
    | GroupChanged
    | MembersChanged
    | MessageJudged
    | MessageReleased
    | EngineFailed
  )

/** What leads back to the request that it came from, where that is traced. */
export interface Traceable {
  /** Its `traceparent`. */
  readonly trace?: string
}

/** Where something was said: a conversation by its surrogate key and its parts. */
export interface Place {
  /** Key of the conversation. */
  readonly conversation: number
  readonly kind: ConversationKind
  /** The two uids in byte order, or the guid and ''. */
  readonly first: string
  readonly second: string
}

/** A message was sent, or a group event left an action message. */
export interface MessageSent {
  readonly trigger: 'message_sent'
  readonly place: Place
  readonly messageId: number
  /** As answered; only in the process where it happened and on its way to sockets, never stored. */
  readonly message?: Message
  /** The device that it was done on (header `resource`), which knows already; only on its way to sockets, never stored. */
  readonly device?: string | undefined
  /** Revision of the group when the message was written, which changes with its members; only on its way to sockets. */
  readonly groupRevision?: number
}

export interface UserMentioned {
  readonly trigger: 'user_mentioned'
  readonly place: Place
  readonly messageId: number
}

export interface MessageChanged {
  readonly trigger: 'message_edited' | 'message_deleted'
  readonly place: Place
  /** The message that was changed. */
  readonly messageId: number
  /** The action message about it; it names the message by id. */
  readonly actionId: number
  /** The action message as answered; never stored. */
  readonly message?: Message
  /** uid of the one user who is not notified: the sender of a message that moderation blocked still has it. Only on its way to sockets, never stored. */
  readonly exceptFor?: string
  /** As in `MessageSent`. */
  readonly device?: string | undefined
}

/** A mark of one user moved on. */
export interface Receipt {
  readonly trigger: 'message_delivery_receipt' | 'message_read_receipt'
  readonly place: Place
  /** The newest message that the mark covers. */
  readonly messageId: number
  /** Whose mark it is. */
  readonly uid: string
  /** Epoch seconds. */
  readonly at: number
  /** It came by a socket, not by a request. */
  readonly viaSocket?: boolean
  /** As in `MessageSent`. */
  readonly device?: string | undefined
}

/** Everybody else in a group has got or read everything up to a message. */
export interface ReceiptOfAll {
  readonly trigger: 'message_delivered_to_all' | 'message_read_by_all'
  readonly place: Place
  readonly messageId: number
  readonly at: number
}

export interface Reacted {
  readonly trigger: 'message_reaction_added' | 'message_reaction_removed'
  readonly place: Place
  readonly messageId: number
  readonly parentId?: number
  readonly reactionId: number
  readonly reaction: string
  readonly uid: string
  /** Epoch seconds. */
  readonly reactedAt: number
  /** As in `MessageSent`. */
  readonly device?: string | undefined
}

export interface Blocked {
  readonly trigger: 'user_blocked' | 'user_unblocked'
  readonly by: string
  readonly uids: readonly string[]
}

/** A user opened their first connection, or closed their last one. */
export interface ConnectionChanged {
  readonly trigger: 'user_connection_status_changed'
  readonly uid: string
  readonly status: 'online' | 'offline'
  /** Epoch milliseconds. */
  readonly timestamp: number
  readonly connection: {
    readonly action: 'connected' | 'disconnected'
    readonly deviceId: string
    /** Of this connection; absent: that of the device. */
    readonly sessionId?: string
    readonly platform?: string
    readonly userAgent?: string
    readonly appInfo?: Readonly<Record<string, unknown>>
    /** Epoch milliseconds. */
    readonly connectedAt: number
  }
}

export interface GroupChanged {
  readonly trigger: 'group_created' | 'group_updated' | 'group_deleted' | 'group_owner_transferred'
  readonly guid: string
  /** Key of its conversation. */
  readonly conversation: number
  /** Of a new group: its members, the owner among them. Of a deleted one: who was in it. */
  readonly uids?: readonly string[]
  /** Of a new group; of one that was passed on: its owner from then on, and the one before. */
  readonly owner?: string
  readonly oldOwner?: string
  /** Of a deleted group: what it was, as answers show it. */
  readonly group?: object
}

export interface MembersChanged {
  readonly trigger:
    | 'group_member_joined'
    | 'group_member_left'
    | 'group_member_added'
    | 'group_member_kicked'
    | 'group_member_banned'
    | 'group_member_unbanned'
    | 'group_member_scope_changed'
  readonly guid: string
  /** Key of the group's conversation. */
  readonly conversation: number
  /** Who did it; absent where members act on themselves (joined, left). */
  readonly by?: string
  readonly members: ReadonlyArray<{ readonly uid: string; readonly scope?: string; readonly oldScope?: string }>
  /** The action message, where the group or the member was sent one, stored or not; the event itself is about no message. */
  readonly actionId?: number
}

/** Moderation decided about a message, without a reviewer. */
export interface MessageJudged {
  readonly trigger: 'moderation_engine_approved' | 'moderation_engine_blocked'
  readonly place: Place
  readonly messageId: number
}

/** A reviewer approved a message that moderation had blocked or held. */
export interface MessageReleased {
  readonly trigger: 'moderation_manual_approved'
  readonly place: Place
  readonly messageId: number
  /** Why it had been blocked; what the rules said then, and nothing of the message itself. */
  readonly hits: readonly EventHit[]
}

/** A condition that a message met, and its rule, as an event names them. */
export interface EventHit {
  /** As answers show conditions. */
  readonly condition: object
  readonly rule: {
    readonly id: string
    readonly name: string
    readonly revisionId: string
    readonly action: readonly string[]
    /** Epoch seconds, a dot, the id of the message with 15 digits. */
    readonly blockedAt: string
  }
}

/** An engine outside could not be asked about a message, or gave no answer of use: one event for each pass. */
export interface EngineFailed {
  readonly trigger: 'moderation_engine_failed'
  readonly place: Place
  readonly messageId: number
  readonly contentType: 'text' | 'image' | 'video' | 'audio' | 'file'
  /** What was decided in spite of it. */
  readonly outcome: 'approved' | 'disapproved'
  /** Epoch seconds. */
  readonly completedAt: number
  readonly failures: readonly EngineFailure[]
}

/** Why an engine gave no answer. Members that are not known are left out. */
export interface EngineFailure {
  readonly category: 'http_4xx' | 'http_5xx' | 'timeout' | 'connection_error' | 'invalid_response' | 'not_configured'
  readonly errorMessage: string
  /** Epoch seconds. */
  readonly failedAt: number
  readonly responseBodyTruncated: boolean
  readonly httpStatus?: number
  /** 2 KB at most. It may quote the message, so it goes out of the log when that is edited or deleted. */
  readonly responseBody?: string
  readonly timeoutMs?: number
  readonly validationErrors?: readonly string[]
  /** Engine, setting, rule, condition, request. */
  readonly context: object
}

/** Sockets that must be closed: all of a user, or those of one token. */
export interface SessionsEnded {
  readonly control: 'sessions_ended'
  readonly uid: string
  /** HMAC digests (base64) of the tokens that stopped working; absent: all of the user's. */
  readonly tokens?: readonly string[]
  /** And all that the app's own issuer has signed. */
  readonly jwts?: true
}

/**
 * Something may have been stored of which nobody was notified: the database was lost before it said so. Whoever is connected may
 * lack it. Of all apps: on the bus it has the app 0.
 */
export interface InDoubt {
  readonly control: 'in_doubt'
}

/** What one client sends to others who are connected, in one conversation; never stored. */
export interface Signal extends Omit<Place, 'conversation'> {
  readonly signal: 'typing_indicator' | 'transient_message'
  readonly uid: string
  /** The device that it came from. */
  readonly device: string
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * An action message for one user alone, whether a member or not: who was removed from a group, or left, hears so as the last
 * thing from it, who is among the first members of one hears so as the first; who changed what moderation holds hears so on their
 * other devices. Only on its way to sockets, never stored.
 */
export interface Notice {
  readonly notice: Message
  readonly place: Place
  readonly to: string
  /** As in `MessageSent`. */
  readonly device?: string | undefined
}

/** What a user marked, for front ends to show as it happens. Only on its way to sockets, never stored. */
export interface Marked {
  readonly mark: 'message_pin' | 'message_save' | 'conversation_pin'
  readonly place: Place
  readonly uid: string
  readonly device?: string | undefined
  /** It goes to the user's other devices alone. */
  readonly isPrivate: boolean
  readonly body: {
    readonly action: 'pinned' | 'unpinned' | 'saved' | 'unsaved'
    readonly message?: Message
    readonly conversation?: Conversation
  }
}

/** A user did with an interactive message all that it asks for (its goal). Only on its way to sockets, never stored. */
export interface GoalReached {
  readonly goalOf: number
  readonly place: Place
  readonly messageSender: string
  readonly uid: string
  readonly device?: string | undefined
  readonly interactions: ReadonlyArray<{ readonly elementId: string; readonly interactedAt: number }>
}

/**
 * Moderation decided about a message, or about an edit of it that waited: its sender alone hears of it. Only on its way to sockets,
 * never stored.
 */
export interface StatusChanged {
  /** The message. */
  readonly statusOf: number
  readonly place: Place
  readonly sender: string
}

/** What travels on the bus. */
export type BusEvent =
  | ChatEvent
  | (Traceable & (SessionsEnded | InDoubt | Signal | Notice | Marked | GoalReached | StatusChanged))

export type EventTrigger = ChatEvent['trigger']
