import type { Message, UnreadChannel } from '@parley/contract'

interface Person {
  readonly uid: string
  readonly name: string
  readonly avatar?: string
}

/** One message, as it is listed. */
export interface ListedMessage {
  readonly sender: Person
  /** What its template says. */
  readonly message: string
  /** Names of files. */
  readonly attachments?: readonly string[]
  /** Epoch milliseconds. */
  readonly sentAt: number
  readonly messageObject?: Partial<Message>
}

/** What an e-mail or an SMS says to one user, before it takes the form of a provider. */
export interface UnreadNotification {
  readonly channel: UnreadChannel
  /** Without an address where the provider finds users by itself. */
  readonly to: Person & { readonly address?: string }
  /** Oldest first. */
  readonly messages: readonly ListedMessage[]
  /** How many are unread, listed or not. */
  readonly unread: number
  /** Of a one-to-one conversation: who wrote last. */
  readonly senderDetails?: Person
  readonly groupDetails?: { readonly guid: string; readonly name: string; readonly icon?: string }
  /** Of an e-mail. */
  readonly subject?: string
  /** Of an SMS: its text. */
  readonly smsContent?: string
  readonly unsubscribeLink?: string
  /** Where a reply goes to. */
  readonly replyTo?: string
}

/** It with the names of the contract, as the app's own providers and templates of SendGrid are given it. */
export function detailsOfUnread(notification: UnreadNotification): Record<string, unknown> {
  const { channel, to, messages, unread, replyTo: _, ...rest } = notification
  const { address, ...person } = to
  return {
    to: { ...person, ...(address !== undefined && { [channel === 'email' ? 'email' : 'phno']: address }) },
    messages,
    unreadMessageCount: String(unread),
    ...rest,
  }
}
