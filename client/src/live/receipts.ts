import type { Message } from '../contract.ts'
import type { Frame } from './connection.ts'
import type { Conversations } from './conversations.ts'
import type { LiveOptions, PeerKey } from './interface.ts'
import { createMarks, type MarksParts } from './marks.ts'
import type { MessageAsker } from './message-asker.ts'
import { pathOf } from './peers.ts'
import { isOutOfSight } from './port.ts'
import type { Persist } from './retries.ts'
import type { Screens } from './screens.ts'
import type { Session } from './session.ts'
import { isHeld, type Timeline } from './timeline.ts'
import type { Unread } from './unread.ts'

/** How far messages were received and read: those of the user by others, and those of others by the user. */
export interface Receipts {
  /** Somebody has received or read: another, or the user on another device. */
  heard(key: PeerKey, frame: Frame): void
  /** The user's messages up to this one are delivered, or read. */
  markOwn(key: PeerKey, upTo: number, isRead: boolean, timestamp: number): void
  /** The last message that somebody else has received. */
  last(key: PeerKey): number
  /** A message has come: if it is of somebody else, and the service has not heard that it came, it hears so. */
  deliver(key: PeerKey, message: Message): void
  /** Marks as read up to a message, by default up to the newest. */
  markRead(key: PeerKey, timeline: Timeline, messageId: string | undefined): void
  markUnread(key: PeerKey, messageId: string): Promise<void>
  start(): void
  stop(): void
}

export interface ReceiptsParts extends Omit<MarksParts, 'onRead' | 'onRefused'> {
  readonly session: Session
  readonly persist: Persist
  readonly screens: Screens
  readonly asker: MessageAsker
  readonly conversations: Conversations
  readonly unread: Unread
  readonly options: LiveOptions
  countChanged(key: PeerKey): void
  onError(error: unknown): void
}

export function createReceipts(parts: ReceiptsParts): Receipts {
  const { session, screens, asker, conversations, unread, countChanged } = parts
  const received = new Map<PeerKey, number>()
  const last = (key: PeerKey) => received.get(key) ?? 0

  const lastMessageOf = (key: PeerKey) => conversations.summary(key).getSnapshot()?.conversation.lastMessage

  const noteRead = (key: PeerKey, upTo: number) => {
    conversations.outdate(key)
    if (!unread.read(key, upTo)) conversations.ask(key)
    countChanged(key)
    for (const { timeline } of screens.of(key)) {
      for (const { id, unreadRepliesCount = 0 } of timeline.messages) if (unreadRepliesCount > 0) asker.ask(id)
    }
  }
  const { start, stop, ...marks } = createMarks({
    ...parts,
    onRead: noteRead,
    onRefused(key, error) {
      unread.unexpect(key)
      countChanged(key)
      if (!isOutOfSight(error)) parts.onError(error)
    },
  })

  const markOwn = (key: PeerKey, upTo: number, isRead: boolean, timestamp: number) => {
    received.set(key, Math.max(upTo, last(key)))
    const mark = (message: Message): Message =>
      message.sender !== session.uid || Number(message.id) > upTo || message.category === 'action'
        ? message
        : {
            ...message,
            deliveredAt: message.deliveredAt ?? timestamp,
            ...(isRead && { readAt: message.readAt ?? timestamp }),
          }
    for (const { timeline } of screens.of(key)) {
      timeline.twice(() => {
        for (const { id, readAt, deliveredAt } of timeline.awaited()) {
          if (Number(id) <= upTo && (isRead ? readAt : deliveredAt) === undefined) timeline.change(id, mark)
        }
      })
    }
    const newest = lastMessageOf(key)
    if (newest !== undefined) conversations.change(key, newest.id, mark)
    asker.touch()
  }
  return {
    heard(key, { sender, receiverType, body }) {
      const { action, messageId, timestamp } = body
      const upTo = Number(messageId)
      if (sender === session.uid) {
        if (action === 'read') noteRead(key, upTo)
        return
      }
      if (receiverType === 'group' && !action.endsWith('All')) return
      markOwn(key, upTo, action.startsWith('read'), timestamp)
    },
    markOwn,
    last,
    deliver(key, { id, sender, deliveredToMeAt }) {
      if (parts.options.deliveryReceipts === false || sender === session.uid || deliveredToMeAt !== undefined) return
      marks.delivered(key, Number(id), sender)
    },
    markRead(key, timeline, messageId) {
      const listed = lastMessageOf(key)?.id ?? 0
      let upTo = Number(messageId ?? Math.max(Number(listed), Number(timeline.messages.at(-1)?.id ?? 0)))
      const newest = timeline.find(String(upTo))
      if (newest !== undefined && isHeld(newest)) {
        upTo = Number(timeline.messages.findLast((message) => !isHeld(message) && Number(message.id) < upTo)?.id ?? 0)
      }
      if (upTo === 0) return
      unread.expectRead(key, upTo)
      countChanged(key)
      marks.read(key, upTo)
    },
    async markUnread(key, messageId) {
      await marks.unread(key, () => {
        unread.unexpect(key)
        return parts.persist((signal) =>
          parts.port.call('DELETE', `${pathOf(key)}/conversation/read`, { body: { messageId }, signal }),
        )
      })
      conversations.ask(key)
    },
    start,
    stop,
  }
}
