import type { GroupReceiptSubscriptions, RisenRow } from '../../../chat/conversations/group-receipts.ts'
import type { ConversationKind } from '../../../chat/kind.ts'
import type { ModerationRecords } from '../../../chat/moderation/records.ts'
import type { ConversationParts } from '../../../chat/naming.ts'
import type { Refusal } from '../../../chat/writing/rules.ts'
import type { Span } from '../../../tracing/tracing.ts'

/** One message on its way into the database, as the columns of the batch statement take it. */
export interface NewMessageRow {
  readonly appId: number
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
  readonly category: string
  readonly type: string
  /** JSON text, well-formed, without NUL */
  readonly data: string
  readonly muid: string | null
  readonly parentId: number | null
  readonly quotedId: number | null
  readonly tags: readonly string[] | null
  /** uids that its text mentions. */
  readonly mentioned: readonly string[] | null
  /** Keys of our own files that it uses. */
  readonly files: readonly string[] | null
  readonly traits: number
  readonly countable: boolean
  /** No rule of blocks, membership or scopes applies: the app itself sends. */
  readonly asApp: boolean
  /** Bits of the scopes whose explicit permissions refuse this message (chat/writing/denied-scopes.ts) ... */
  readonly deniedScopes: number
  /** ... judged by this version of the group's permissions. */
  readonly permissionsVersion: number
  /** What the roles of the app say about it, see chat/writing/role-rules.ts; null where they let everybody send it. */
  readonly roleRules: string | null
  /** Who hears of it. */
  readonly subscribed: SendSubscriptions
  /** That it was sent with, and so is not notified. */
  readonly device: string | undefined
  /** What moderation keeps beside it; undefined where it has nothing to say, as of nearly all. */
  readonly moderation: ModerationRecords | undefined
  /**
   * Storing it, where that is traced; the writer ends it. Every row has it, so that those that are traced have the shape of the
   * others, and code that is compiled for one fits both.
   */
  readonly span: Span | undefined
}

/** Which events of a message somebody waits for, see server/src/events. */
export interface SendSubscriptions {
  /** Bits of `eventBits`. */
  readonly bits: number
  readonly ofAll: GroupReceiptSubscriptions
}

/**
 * `message_sent`, `user_mentioned`, receipts and what rules of moderation decide are kept in the log; receipts are heard of by
 * somebody, kept or not.
 */
export const eventBits = {
  ...{ sent: 1, mentioned: 2, delivered: 4, read: 8, receipts: 16 },
  ...{ approved: 32, blocked: 64 },
} as const

/** What became of a row. `id` null without a refusal: its muid is stored already. */
export interface WrittenRow {
  readonly n: number
  readonly refusal: Refusal | null
  readonly id: number | null
  readonly sentAt: number
  /** Revisions of the sender and of the receiver (user or group), to tell whether a copy in memory is current. */
  readonly senderRevision: number
  readonly receiverRevision: number
  /** Key of the conversation. */
  readonly conversation: number | null
  /** When it was written, epoch seconds; what is said in a conversation may carry a later time. */
  readonly at: number
  /** What its sender received by sending it. */
  readonly received?: Received
  /** Staircases of its group that rose with the batch: they are published after it, the last of the batch in its group. */
  readonly risen?: readonly RisenRow[]
}

/** A sender's mark moved on by what they sent. */
export interface Received {
  readonly trigger: 'message_delivery_receipt' | 'message_read_receipt'
  /** The newest message of others that it covers. */
  readonly messageId: number
}

/** A key in memory for the conversation of a row. Identifiers have no blanks, and a guid never stands with a second part. */
export function nameOf({ appId }: Pick<NewMessageRow, 'appId'>, [first, second]: ConversationParts): string {
  return `${appId} ${first} ${second}`
}
