import type { LockedConversation } from './plan.ts'
import type { ImportRow } from './row.ts'

/** A message with the id that it is stored under. */
export interface NumberedMessage {
  readonly row: ImportRow
  readonly conversation: LockedConversation
  readonly id: number
  readonly parentId: number | null
}

export interface Position {
  readonly sentAt: number
  readonly id: number
}

/** How a conversation stands after a batch. */
export interface MovedConversation {
  readonly conversation: LockedConversation
  readonly createdAt: number
  /** Its last message of any kind, and the last that lists show; null while there is none. */
  readonly last: Position
  readonly listed: Position | null
}

/** The marks of one user in one conversation: up to where he has received and read. */
export interface Mark {
  readonly appId: number
  readonly uid: string
  readonly conversation: number
  readonly delivered: Position
  readonly read: Position
}

/** A step of a staircase: everything up to a position was delivered (kind 1) or read (kind 2) at a time. */
export interface Step extends Position {
  readonly appId: number
  readonly uid: string
  readonly conversation: number
  readonly kind: 1 | 2
  readonly at: number
}

/** The replies that a batch adds to one thread. */
export interface GrownThread {
  readonly appId: number
  readonly parentId: number
  readonly conversation: number
  readonly replies: number
  readonly last: Position
}

const nowhere: Position = { sentAt: 0, id: 0 }

export function isBefore(a: Position, b: Position): boolean {
  return a.sentAt < b.sentAt || (a.sentAt === b.sentAt && a.id < b.id)
}

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
    let listed = listedSentAt === null || listedId === null ? null : { sentAt: listedSentAt, id: listedId }
    let { createdAt } = conversation
    for (const message of written) {
      last = later(last, positionOf(message))
      if (message.row.deletedAt === null) listed = later(listed, positionOf(message))
      if (conversation.kind === 1) createdAt = Math.min(createdAt, message.row.sentAt)
    }
    return { conversation, createdAt, last: last ?? nowhere, listed }
  })
}

/**
 * What explicit times of one-to-one messages do to the marks of their receivers, and the steps that tell messages
 * without times of their own when a mark reached them.
 */
export function markReceipts(messages: readonly NumberedMessage[]): { marks: Mark[]; steps: Step[] } {
  const marks: Mark[] = []
  const steps: Step[] = []
  const received = messages.filter(({ row }) => row.kind === 1 && row.sender !== row.receiver)
  for (const [conversation, exchanged] of groupBy(received, (message) => message.conversation)) {
    for (const [uid, toHim] of groupBy(exchanged, ({ row }) => row.receiver)) {
      const ordered = toHim.toSorted((a, b) => a.row.sentAt - b.row.sentAt || a.id - b.id)
      const side = { appId: conversation.appId, uid, conversation: conversation.key }
      const continues = isBefore(lastOf(conversation), positionOf(ordered[0] as NumberedMessage))
      const delivered = climb(ordered, (row) => row.deliveredAt, continues)
      const read = climb(ordered, (row) => row.readAt, continues)
      if (delivered.top === undefined) continue
      marks.push({ ...side, delivered: delivered.top, read: read.top ?? nowhere })
      steps.push(...delivered.steps.map((step) => ({ ...side, kind: 1 as const, ...step })))
      steps.push(...read.steps.map((step) => ({ ...side, kind: 2 as const, ...step })))
    }
  }
  return { marks, steps }
}

function lastOf({ lastSentAt, lastId }: LockedConversation): Position {
  return { sentAt: lastSentAt ?? 0, id: lastId ?? 0 }
}

/**
 * The steps that times of messages make. A step is read only by messages without a time of their own, so it is needed
 * where one lies below it: after such a message, and at the first and the last time, for what is stored before or after.
 * Where stored messages lie in between, every time makes a step.
 * @param ordered messages of one sender to one receiver, by position
 * @param continues all of them come after what the conversation had
 */
function climb(
  ordered: readonly NumberedMessage[],
  timeOf: (row: ImportRow) => number | null,
  continues: boolean,
): { steps: Array<Position & { at: number }>; top: Position | undefined } {
  const steps: Array<Position & { at: number }> = []
  let top: Position | undefined
  let at = Number.POSITIVE_INFINITY
  let isFirst = true
  const first = ordered.findIndex(({ row }) => timeOf(row) !== null)
  for (const [place, message] of [...ordered.entries()].reverse()) {
    const time = timeOf(message.row)
    if (time === null) continue
    // Who read a later message at an earlier time had read this one by then.
    at = Math.min(at, time)
    const position = positionOf(message)
    top ??= position
    const above = ordered[place - 1]
    const isNeeded = isFirst || place === first || above === undefined || timeOf(above.row) === null
    if (isNeeded || !continues) steps.push({ ...position, at })
    isFirst = false
  }
  return { steps, top }
}

/** The threads that a batch adds replies to. */
export function growThreads(messages: readonly NumberedMessage[]): GrownThread[] {
  const replies = messages.filter(({ parentId }) => parentId !== null)
  return [...groupBy(replies, ({ parentId }) => parentId as number)].map(([parentId, written]) => {
    const { conversation } = written[0] as NumberedMessage
    return {
      appId: conversation.appId,
      parentId,
      conversation: conversation.key,
      replies: written.length,
      last: written.map(positionOf).reduce((a, b) => (isBefore(a, b) ? b : a)),
    }
  })
}
