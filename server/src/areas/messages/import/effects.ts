import { type StepKind, stepKinds } from '../../../chat/conversations/receipt-steps.ts'
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

export interface Position {
  readonly sentAt: number
  readonly id: number
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

/** A step of a staircase: everything up to a position was delivered or read at a time. */
export interface Step extends Position {
  readonly appId: number
  readonly uid: string
  readonly conversation: number
  readonly kind: StepKind
  readonly at: number
  /** Only if the message of this sender right below has no time of its own; null: whatever lies below. */
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
    let timedSentAt: number | null = null
    for (const message of written) {
      const { sentAt, deliveredAt, readAt } = message.row
      if (deliveredAt !== null || readAt !== null) timedSentAt = Math.max(timedSentAt ?? 0, sentAt)
      last = later(last, positionOf(message))
      // What tells of an edit or a deletion moves no conversation in lists. What was deleted had moved it when it was sent.
      if (message.row.subjectMuid === null) listed = later(listed, positionOf(message))
      if (conversation.kind === 'user') createdAt = Math.min(createdAt, message.row.sentAt)
    }
    return { conversation, createdAt, last: last ?? nowhere, listed, timedSentAt }
  })
}

/**
 * What explicit times of one-to-one messages do to the marks of their receivers, and the steps that tell messages
 * without times of their own when a mark reached them.
 */
export function markReceipts(messages: readonly NumberedMessage[]): { marks: Mark[]; steps: Step[]; gaps: Gap[] } {
  const marks: Mark[] = []
  const steps: Step[] = []
  const gaps: Gap[] = []
  const received = messages.filter(({ row }) => row.kind === 'user' && row.sender !== row.receiver)
  for (const [conversation, exchanged] of groupBy(received, (message) => message.conversation)) {
    const { appId, key } = conversation
    for (const [uid, toHim] of groupBy(exchanged, ({ row }) => row.receiver)) {
      const ordered = toHim.toSorted((a, b) => a.row.sentAt - b.row.sentAt || a.id - b.id)
      const past = pastOf(conversation, ordered[0] as NumberedMessage)
      const [delivered, read] = [stepKinds.delivered, stepKinds.read].map((kind) => {
        const climbed = climb(ordered, timesOf[kind], past)
        for (const { row, id, at, isSure } of climbed.steps) {
          const ifUntimedBelowOf = isSure ? null : row.sender
          steps.push({ appId, uid, conversation: key, kind, sentAt: row.sentAt, id, at, ifUntimedBelowOf })
        }
        for (const { row, id } of climbed.gaps) {
          gaps.push({ appId, uid, conversation: key, kind, sender: row.sender, sentAt: row.sentAt, id })
        }
        return climbed.top
      })
      // Who has read has received, so there is no mark of reading alone.
      if (delivered !== undefined) marks.push({ appId, uid, conversation: key, delivered, read: read ?? nowhere })
    }
  }
  return { marks, steps, gaps }
}

const timesOf = {
  [stepKinds.delivered]: (row: ImportRow) => row.deliveredAt,
  [stepKinds.read]: (row: ImportRow) => row.readAt,
}

/** What a conversation had before a batch: nothing, messages that all lie below those of the batch, or others too. */
type Past = 'none' | 'below' | 'between'

function pastOf({ lastSentAt, lastId }: LockedConversation, lowest: NumberedMessage): Past {
  if (lastSentAt === null || lastId === null) return 'none'
  return isBefore({ sentAt: lastSentAt, id: lastId }, positionOf(lowest)) ? 'below' : 'between'
}

/** A step that a message makes; where what lies below is not in the batch, the database decides. */
interface Climbed {
  readonly row: ImportRow
  readonly id: number
  readonly at: number
  readonly isSure: boolean
}

/**
 * The steps that times of messages make. A step is read only by messages without a time of their own, so a message makes
 * one only where the message right below has none. Messages without a time among stored ones are gaps. Times rise with
 * positions; where those of a batch do not, the earliest above counts.
 * @param ordered messages of one sender to one receiver, by position
 */
function climb(
  ordered: readonly NumberedMessage[],
  timeOf: (row: ImportRow) => number | null,
  past: Past,
): { steps: readonly Climbed[]; gaps: readonly NumberedMessage[]; top: Position | undefined } {
  const steps: Climbed[] = []
  let top: Position | undefined
  let at = Number.POSITIVE_INFINITY
  for (let place = ordered.length - 1; place >= 0; place--) {
    const { row, id } = ordered[place] as NumberedMessage
    const time = timeOf(row)
    if (time === null) continue
    top ??= { sentAt: row.sentAt, id }
    // Who read a later message at an earlier time had read all below by then.
    at = Math.min(at, time)
    const below = ordered[place - 1]
    if (past === 'between' || (below === undefined && past === 'below')) steps.push({ row, id, at, isSure: false })
    else if (below !== undefined && timeOf(below.row) === null) steps.push({ row, id, at, isSure: true })
  }
  return { steps, gaps: past === 'between' ? ordered.filter(({ row }) => timeOf(row) === null) : [], top }
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
