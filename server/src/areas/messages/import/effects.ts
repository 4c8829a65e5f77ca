import { type StepKind, stepKinds } from '../../../chat/conversations/receipt-steps.ts'
import { isBefore, type Position } from '../../../chat/sight/condition.ts'
import type { LockedConversation } from './plan.ts'
import type { ImportRow } from './row.ts'

/** A message with the id that it is stored under. */
export interface NumberedMessage {
  readonly row: ImportRow
  readonly conversation: LockedConversation
  readonly id: number
  readonly parentId: number | null
  readonly subjectId: number | null
  readonly quotedId: number | null
}

/** How a conversation stands after a batch. */
export interface MovedConversation {
  readonly conversation: LockedConversation
  readonly createdAt: number
  /** Its last message of any kind, and the last by which it is listed; null while there is none. */
  readonly last: Position
  readonly listed: Position | null
  /** Time of the newest message of the batch that says when it was received or read. */
  readonly timedSentAt: number | null
}

/** The marks of one user in one conversation: up to where they have received and read it. */
export interface Mark {
  readonly appId: number
  readonly uid: string
  readonly conversation: number
  readonly delivered: Position
  readonly read: Position
}

/** Steps of staircases at one position: when everything up to there was delivered and read; null: there is none. */
export interface Steps extends Position {
  readonly appId: number
  readonly uid: string
  readonly conversation: number
  readonly deliveredAt: number | null
  readonly readAt: number | null
  /** Only as far as the message of this sender right below has no time of its own; null: whatever lies below. */
  readonly ifUntimedBelowOf: string | null
}

/** A message without a time of its own that landed among others: what is stored above it may say when it was reached. */
export interface Gap extends Position {
  readonly appId: number
  readonly uid: string
  readonly conversation: number
  readonly kind: StepKind
  readonly sender: string
}

const nowhere: Position = { sentAt: 0, id: 0 }

const positionOf = ({ row, id }: NumberedMessage): Position => ({ sentAt: row.sentAt, id })

function later(a: Position | null, b: Position | null): Position | null {
  if (a === null || b === null) return a ?? b
  return isBefore(a, b) ? b : a
}

function groupBy<Key>(
  messages: readonly NumberedMessage[],
  keyOf: (message: NumberedMessage) => Key,
): Map<Key, NumberedMessage[]> {
  const groups = new Map<Key, NumberedMessage[]>()
  for (const message of messages) {
    const key = keyOf(message)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [message])
    else group.push(message)
  }
  return groups
}

/** Where the conversations of a batch end then. A one-to-one conversation is as old as its oldest message. */
export function moveConversations(messages: readonly NumberedMessage[]): MovedConversation[] {
  return [...groupBy(messages, ({ conversation }) => conversation)].map(([conversation, written]) => {
    const { lastSentAt, lastId, listedSentAt, listedId } = conversation
    let last = lastSentAt === null || lastId === null ? null : { sentAt: lastSentAt, id: lastId }
    const place = listedSentAt === null || listedId === null ? null : { sentAt: listedSentAt, id: listedId }
    // A place that has no message is that of a friendship, which any message takes, however old.
    let listed = place?.id === 0 ? null : place
    let { createdAt } = conversation
    let timedSentAt: number | null = null
    for (const message of written) {
      const { sentAt, deliveredAt, readAt } = message.row
      if (deliveredAt !== null || readAt !== null) timedSentAt = Math.max(timedSentAt ?? 0, sentAt)
      last = later(last, positionOf(message))
      // An action message of an edit or a deletion moves no conversation in lists. What was deleted had moved it when it was sent.
      if (message.row.subjectMuid === null) listed = later(listed, positionOf(message))
      if (conversation.kind === 'user') createdAt = Math.min(createdAt, message.row.sentAt)
    }
    return { conversation, createdAt, last: last ?? nowhere, listed: listed ?? place, timedSentAt }
  })
}

/**
 * What explicit times of one-to-one messages do to the marks of their receivers, and the steps that tell messages
 * without times of their own when a mark reached them.
 */
export function markReceipts(messages: readonly NumberedMessage[]): { marks: Mark[]; steps: Steps[]; gaps: Gap[] } {
  const marks: Mark[] = []
  const steps: Steps[] = []
  const gaps: Gap[] = []
  const received = messages.filter(({ row }) => row.kind === 'user' && row.sender !== row.receiver)
  for (const [conversation, exchanged] of groupBy(received, (message) => message.conversation)) {
    const { appId, key } = conversation
    for (const [uid, toHim] of groupBy(exchanged, ({ row }) => row.receiver)) {
      const ordered = toHim.length === 1 ? toHim : toHim.toSorted((a, b) => a.row.sentAt - b.row.sentAt || a.id - b.id)
      const past = pastOf(conversation, ordered[0] as NumberedMessage)
      const climbed = climb(ordered, past)
      for (const step of climbed.steps) steps.push({ appId, uid, conversation: key, ...step })
      if (past === 'between') {
        for (const { row, id } of ordered) {
          const gap = { appId, uid, conversation: key, sender: row.sender, sentAt: row.sentAt, id }
          if (row.deliveredAt === null) gaps.push({ ...gap, kind: stepKinds.delivered })
          if (row.readAt === null) gaps.push({ ...gap, kind: stepKinds.read })
        }
      }
      // Who has read has received, so there is no mark of reading alone.
      const { delivered, read } = climbed
      if (delivered !== undefined) marks.push({ appId, uid, conversation: key, delivered, read: read ?? nowhere })
    }
  }
  return { marks, steps, gaps }
}

/** What a conversation had before a batch: nothing, messages that all lie below those of the batch, or others too. */
type Past = 'none' | 'below' | 'between'

function pastOf({ lastSentAt, lastId }: LockedConversation, lowest: NumberedMessage): Past {
  if (lastSentAt === null || lastId === null) return 'none'
  return isBefore({ sentAt: lastSentAt, id: lastId }, positionOf(lowest)) ? 'below' : 'between'
}

/** What is found going down from the newest message: steps, and up to where all was delivered and read. */
interface Climbed {
  readonly steps: ReadonlyArray<Omit<Steps, 'appId' | 'uid' | 'conversation'>>
  readonly delivered: Position | undefined
  readonly read: Position | undefined
}

/**
 * The steps that times of messages make. A step is read only by messages without a time of their own, so a message makes
 * one only where the message right below has none; where what lies below is not in the batch, the database decides. Times rise
 * with positions; where those of a batch do not, the earliest above counts.
 * @param ordered messages of one sender to one receiver, by position
 */
function climb(ordered: readonly NumberedMessage[], past: Past): Climbed {
  const steps: Array<Climbed['steps'][number]> = []
  let delivered: Position | undefined
  let read: Position | undefined
  let deliveredAt = Number.POSITIVE_INFINITY
  let readAt = Number.POSITIVE_INFINITY
  for (let place = ordered.length - 1; place >= 0; place--) {
    const { row, id } = ordered[place] as NumberedMessage
    if (row.deliveredAt === null && row.readAt === null) continue
    // Who read a later message at an earlier time had read all below by then.
    if (row.deliveredAt !== null) {
      delivered ??= { sentAt: row.sentAt, id }
      deliveredAt = Math.min(deliveredAt, row.deliveredAt)
    }
    if (row.readAt !== null) {
      read ??= { sentAt: row.sentAt, id }
      readAt = Math.min(readAt, row.readAt)
    }
    const below = ordered[place - 1]?.row
    const isUnsure = past === 'between' || (below === undefined && past === 'below')
    const isDelivered = row.deliveredAt !== null && (isUnsure || below?.deliveredAt === null)
    const isRead = row.readAt !== null && (isUnsure || below?.readAt === null)
    if (!isDelivered && !isRead) continue
    steps.push({
      ...{ sentAt: row.sentAt, id },
      ...{ deliveredAt: isDelivered ? deliveredAt : null, readAt: isRead ? readAt : null },
      ifUntimedBelowOf: isUnsure ? row.sender : null,
    })
  }
  return { steps, delivered, read }
}

/** The messages that a batch has replies to, by app. */
export function parentsOf(messages: readonly NumberedMessage[]): Map<number, number[]> {
  const replies = groupBy(
    messages.filter(({ parentId }) => parentId !== null),
    ({ row }) => row.appId,
  )
  return new Map(
    [...replies].map(([appId, written]) => [appId, [...new Set(written.map(({ parentId }) => parentId as number))]]),
  )
}
