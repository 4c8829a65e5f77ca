import type { Conversation, Group, Message, User } from '../contract.ts'
import type { Uploadable } from '../files.ts'
import type { Signal } from '../platform.ts'

/** A value that changes, in the form that React's `useSyncExternalStore` takes. A snapshot never changes, and is the same object until something does. */
export interface View<T> {
  /** Calls the listener after each change. @returns ends it */
  readonly subscribe: (listener: () => void) => () => void
  readonly getSnapshot: () => T
}

/** Whom a conversation is with: a user or a group. */
export type Peer = { readonly uid: string } | { readonly guid: string }

/** `user:<uid>` or `group:<guid>`: unique in the app, other than `conversationId`. */
export type PeerKey = string

/**
 * - `idle`: `connect` was not called, or `close` was.
 * - `connecting`: on the way to a first or a new socket.
 * - `syncing`: the socket is open, what was missed is fetched.
 * - `live`: what is shown is what the service knows.
 * - `waiting`: not connected; the next try is at `retryAt`, in milliseconds of `now()`.
 * - `stopped`: it does not try again. `reason` says why; `connect` begins again.
 */
export type ConnectionState =
  | { readonly status: 'idle' | 'connecting' | 'syncing' | 'live' }
  | { readonly status: 'waiting'; readonly retryAt: number; readonly closeCode?: number }
  | { readonly status: 'stopped'; readonly reason: StopReason; readonly error?: unknown }

/**
 * - `loggedOut`: the token is not valid, and the product's callback gave no other that is, or one of another user.
 * - `replaced`: this user has opened too many newer sockets (4409).
 * - `refused`: the service does not take this client's login for another reason, see `error`.
 */
export type StopReason = 'loggedOut' | 'replaced' | 'refused'

/**
 * How far a send is:
 * - `queued`: it waits for its turn, for the network, or for the next try.
 * - `sending`: the request is on its way.
 * - `failed`: the service refused it, see `error`. `retry` or `discard` it.
 * Once the service has it, it is a confirmed message and in this list no longer.
 */
export type SendStatus = 'queued' | 'sending' | 'failed'

/** A message of the user that the service has not confirmed yet. */
export interface PendingMessage {
  readonly muid: string
  readonly status: SendStatus
  readonly content: OutgoingMessage
  /** Of an upload: from 0 to 1. */
  readonly progress?: number
  readonly error?: unknown
  /** Tries so far. */
  readonly attempts: number
}

/** What a user sends. `text` is short for a text message with this text. */
export interface OutgoingMessage {
  readonly text?: string
  /** By default `message`. */
  readonly category?: string
  /** By default `text`, or by the first file: `image`, `video`, `audio`, `file`. */
  readonly type?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
  readonly parentId?: string
  readonly quotedMessageId?: string
  /** Uploaded first; the message is sent with them. They are not kept by the outbox's storage. */
  readonly files?: readonly Uploadable[]
}

/** A confirmed message as it is shown: what the service has, with changes of this client that it has not confirmed yet. */
export interface ShownMessage extends Message {
  /** This client's edit, deletion or reaction of it is not confirmed yet. */
  readonly changing?: boolean
}

export interface MessagesSnapshot {
  /** Confirmed messages in the order of the service, oldest first; edits and deletions are applied, not listed. */
  readonly messages: readonly ShownMessage[]
  /** In the order in which they were sent; they come after all confirmed ones. */
  readonly pending: readonly PendingMessage[]
  /** There are older (newer) messages that are not loaded. */
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  readonly isLoadingOlder: boolean
  readonly isLoadingNewer: boolean
  /** False until the first page is there. */
  readonly isLoaded: boolean
  /** What could not be loaded, for `error`: older or newer messages, or what is shown as a whole. `loadAgain` loads it. */
  readonly failed?: 'older' | 'newer' | 'newest'
  /** Why that failed, or why there is nothing any more: the user was removed from the group. */
  readonly error?: unknown
}

/** Messages of a conversation, or replies of a thread. */
export interface MessageList extends View<MessagesSnapshot> {
  /** Loads the next older page; at once if there is none. Calls while it loads share the request. */
  loadOlder(signal?: Signal): Promise<void>
  /** Loads the next newer page, where the list does not reach the newest message. */
  loadNewer(signal?: Signal): Promise<void>
  /** Begins at the newest message again, as when it was opened. */
  loadNewest(signal?: Signal): Promise<void>
  /** Replaces what is loaded by messages around this one, such as one that was found by a search. */
  loadAround(messageId: string, signal?: Signal): Promise<void>
  /** Loads what could not be loaded; at once if there is nothing. The client does so by itself with each new connection. */
  loadAgain(signal?: Signal): Promise<void>
  /** Sends optimistically: it is in `pending` at once. @returns its muid */
  send(message: OutgoingMessage): string
  /** It is not on screen any more. After as many calls as there were to open it, it is not kept up to date. */
  close(): void
}

/** A conversation that is on screen. */
export interface OpenConversation extends MessageList {
  readonly peer: Peer
  readonly key: PeerKey
  /** Who is typing now. */
  readonly typing: View<readonly User[]>
  /** What the list of conversations says of it; undefined until that is known, and where there is no message. */
  readonly summary: View<ConversationSummary | undefined>
  /** Marks everything up to this message as read, by default up to the newest. Calls are batched; `close` of the client sends what is due. */
  markRead(messageId?: string): void
  /** Marks this message and all later ones as unread. */
  markUnread(messageId: string): Promise<void>
  /** Says that the user is typing; call it with each key. The end is said after five seconds without, or with the send. */
  setTyping(isTyping?: boolean): void
}

/** A thread that is on screen. */
export interface OpenThread extends MessageList {
  readonly parentId: string
  /** The message that the replies belong to. */
  readonly parent: View<ShownMessage | undefined>
}

export interface ConversationSummary {
  readonly key: PeerKey
  readonly peer: Peer
  readonly conversation: Conversation
  readonly with: User | Group
  readonly lastMessage?: ShownMessage
  /** Exact, of what the service has; what this client has just marked as read is taken off at once. */
  readonly unread: number
  readonly isPinned: boolean
}

export interface ConversationsSnapshot {
  /** Pinned ones first, then by last message, newest first. */
  readonly conversations: readonly ConversationSummary[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly isLoaded: boolean
  readonly error?: unknown
}

export interface ConversationList extends View<ConversationsSnapshot> {
  loadMore(signal?: Signal): Promise<void>
}

/** Exact over all conversations, loaded or not. */
export interface UnreadTotal {
  readonly messages: number
  readonly conversations: number
}

export interface Presence {
  readonly status: 'available' | 'offline'
  /** Epoch seconds. */
  readonly lastActiveAt?: number
}

export interface GroupMember extends User {
  readonly scope: 'admin' | 'moderator' | 'participant'
}

export interface MembersSnapshot {
  readonly members: readonly GroupMember[]
  readonly hasMore: boolean
  readonly isLoaded: boolean
  readonly error?: unknown
}

export interface MemberList extends View<MembersSnapshot> {
  loadMore(signal?: Signal): Promise<void>
  close(): void
}

/** Something that a user is told besides what the store keeps. */
export type LiveEvent =
  | { readonly type: 'message'; readonly peer: Peer; readonly message: Message; readonly isMissed: boolean }
  | { readonly type: 'transient'; readonly peer: Peer; readonly user: User; readonly data: unknown }
  | {
      readonly type: 'removed'
      readonly peer: Peer
      readonly action: 'kicked' | 'banned' | 'left'
      readonly message: Message
    }
  | { readonly type: 'refused'; readonly frame?: string; readonly code: string; readonly message: string }
  | { readonly type: 'sendFailed'; readonly peer: Peer; readonly muid: string; readonly error: unknown }

/** The live face of a user's client. */
export interface Live {
  readonly connection: View<ConnectionState>
  /** The user who is logged in; undefined until the first connection. */
  readonly me: View<User | undefined>
  readonly conversations: ConversationList
  readonly unread: View<UnreadTotal>
  /** Opens the socket and keeps it open. Begins again where it had stopped. */
  connect(): void
  /**
   * Closes the socket, ends all timers and requests. What is queued stays in the storage of the outbox. What was marked as read is still
   * sent, by requests that nobody waits for; what the service does not get that way, it gets after the next `connect`.
   */
  close(): void
  /** Puts a conversation on screen: it is loaded and kept up to date until `close`. The same conversation is the same object while it is open. */
  openConversation(peer: Peer): OpenConversation
  openThread(peer: Peer, parentId: string): OpenThread
  openMembers(guid: string): MemberList
  /** Presence of a user; asked for while somebody subscribes. */
  presence(uid: string): View<Presence | undefined>
  /** All that is not confirmed yet, in all conversations. */
  readonly outbox: View<readonly PendingMessage[]>
  /** Sends without opening the conversation. @returns the muid */
  send(peer: Peer, message: OutgoingMessage): string
  /** Sends a failed message again, with the same muid; one that waits, at once. */
  retry(muid: string): void
  /** Takes a message out of the outbox. One that is on its way may have arrived all the same, and is shown then. */
  discard(muid: string): void
  /** Shown at once, and taken back if the service refuses it. It resolves once the service has it. */
  edit(
    messageId: string,
    change: { readonly text?: string; readonly data?: Record<string, unknown>; readonly tags?: readonly string[] },
  ): Promise<void>
  delete(messageId: string, options?: { readonly permanent?: boolean }): Promise<void>
  react(messageId: string, reaction: string, isOn?: boolean): Promise<void>
  /** Sends something to connected receivers that is not stored. Nothing happens while there is no connection. */
  sendTransient(peer: Peer, data: unknown): void
  /** Hears what happens. @returns ends it */
  on(listener: (event: LiveEvent) => void): () => void
}

/** The part of a browser's WebSocket that is used. `ws` for Node.js fits. */
export interface WebSocketLike {
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number }) => void) | null
  onerror: ((event: never) => void) | null
}

export type WebSocketConstructor = new (url: string) => WebSocketLike

/** A message in the outbox, as it is stored: plain JSON. */
export interface StoredSend {
  readonly muid: string
  /** Who sends it; missing while that is not known. */
  readonly uid?: string
  readonly peer: Peer
  readonly content: Omit<OutgoingMessage, 'files'>
  /** The order of sends. */
  readonly order: number
  readonly isFailed?: boolean
}

/**
 * Where messages wait that are not confirmed, for instance IndexedDB. Tabs may share it: a message that two of them send is stored once.
 * So may users: each is given back what they wrote.
 */
export interface OutboxStorage {
  load(): Promise<readonly StoredSend[]> | readonly StoredSend[]
  save(send: StoredSend): Promise<void> | void
  remove(muid: string): Promise<void> | void
}

export interface LiveOptions {
  /** One per device or tab, by default drawn for each client. Two that share one do not hear what the other does. */
  readonly deviceId?: string
  /** By default the global one. Node.js 20 has none: pass that of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor
  readonly storage?: OutboxStorage
  /** Whose presence is sent by the service; by default `ALL_USERS`. */
  readonly presence?: 'ALL_USERS' | 'FRIENDS' | 'NONE'
  /** Rows of a page; by default 30. */
  readonly pageSize?: number
  /** Whether what arrives is marked as delivered; by default true. */
  readonly deliveryReceipts?: boolean
  /** Milliseconds between two pings, 25,000 by default, and how long an answer may take, 10,000. */
  readonly pingInterval?: number
  readonly pingTimeout?: number
  /** Bounds of the random wait before connecting again, in milliseconds: 500, then twice as much each time up to 20,000. */
  readonly backoff?: { readonly first?: number; readonly most?: number }
  /** Hears of errors that nobody waits for: a storage that fails, a listener that throws. By default they go to `console.error`. */
  readonly onError?: (error: unknown) => void
}
