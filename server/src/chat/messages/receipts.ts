import { everyMember } from '../conversations/receipt-steps.ts'
import type { StoredMessage } from './rows.ts'

/** A message with the times that it has of its own, which those have that were imported with them. */
type Received = Pick<StoredMessage, 'id' | 'sentAt' | 'kind' | 'sender' | 'receiver' | 'deliveredAt' | 'readAt'>

/** Everything up to this position was delivered, or read, at that time. */
interface Step {
  readonly sentAt: number
  readonly id: number
  readonly at: number
}

/** When the messages of a page were delivered and read. */
export type Receipts = (message: Received) => { readonly deliveredAt: number | null; readonly readAt: number | null }

/** Where a page lies, as SQL: the times of its messages, and whose they are. */
interface PageOfSteps {
  readonly appId: string
  /** The key of its conversation. */
  readonly conversation: string
  /** `text[]`: whose staircases count, the two of a conversation or '' for all of a group. */
  readonly receivers: string
  /** `sent_at` of its first message. */
  readonly oldest: string
  /** `sent_at` of its last message; absent where the history ends with the page. */
  readonly newest?: string
}

/**
 * The steps of a page: of each receiver those within it, and the first one beyond. For a page that is cheaper than two looks
 * for each message, as `receiptJoins` does for single ones. `receiptsOf` reads it.
 */
export function stepsOfPage({ appId, conversation, receivers, oldest, newest }: PageOfSteps): string {
  const within = `
        select s.uid, s.kind, s.sent_at, s.id, s.at
        from receipt_steps s
        where s.app_id = ${appId}
        and s.conversation = ${conversation}
        and s.uid = any(${receivers}::text[])
        and s.kind in (1, 2)
        and s.sent_at >= ${oldest}`
  const beyond = `
        select u.uid, k.kind, t.sent_at, t.id, t.at
        from unnest(${receivers}::text[]) as u(uid)
        cross join (values (1), (2)) as k(kind)
        cross join lateral (
          select s.sent_at, s.id, s.at
          from receipt_steps s
          where s.app_id = ${appId}
          and s.conversation = ${conversation}
          and s.uid = u.uid
          and s.kind = k.kind
          and s.sent_at > ${newest}
          order by s.sent_at, s.id
          limit 1
        ) t`
  const steps = newest === undefined ? within : `${within} and s.sent_at <= ${newest}\n        union all${beyond}`
  return `(
      select string_agg(concat_ws(' ', array_position(${receivers}::text[], t.uid), t.kind, t.sent_at, t.id, t.at), ',')
      from (${steps}
      ) t
    )`
}

/** What `stepsOfPage` gives, read. */
export interface PageReceipts {
  /** As everybody sees them: of the receiver, or of a whole group. */
  readonly of: Receipts
  /** By the marks of one of the receivers alone. */
  readonly by: (receiver: string) => Receipts
}

/** @param receivers as they were given to `stepsOfPage` */
export function receiptsOf(text: string | null, receivers: readonly string[]): PageReceipts {
  const staircases = readStaircases(text, receivers.length)
  const staircaseOf = (receiver: string) => staircases[receivers.indexOf(receiver)] ?? noSteps
  return {
    of: (message) => {
      const { kind, sender, receiver, deliveredAt, readAt } = message
      if (kind === 'user' && sender === receiver) return { deliveredAt: deliveredAt ?? readAt, readAt }
      const marked = markedAt(message, staircaseOf(kind === 'group' ? everyMember : receiver))
      return { deliveredAt: deliveredAt ?? marked.deliveredAt ?? readAt, readAt: readAt ?? marked.readAt }
    },
    by: (receiver) => {
      const staircase = staircaseOf(receiver)
      return (message) => markedAt(message, staircase)
    },
  }
}

/** Whoever has read a message has received it. */
function markedAt(message: Received, { delivered, read }: Staircases): ReturnType<Receipts> {
  if (delivered.length === 0 && read.length === 0) return unmarked
  const readAt = firstAt(read, message)
  return { deliveredAt: earlier(firstAt(delivered, message), readAt), readAt }
}

const unmarked: ReturnType<Receipts> = { deliveredAt: null, readAt: null }

interface Staircases {
  readonly delivered: Step[]
  readonly read: Step[]
}

const noSteps: Staircases = { delivered: [], read: [] }

function readStaircases(text: string | null, count: number): Staircases[] {
  if (text === null) return []
  const staircases = Array.from({ length: count }, (): Staircases => ({ delivered: [], read: [] }))
  for (const step of text.split(',')) {
    const [receiver, kind, sentAt, id, at] = step.split(' ').map(Number) as [number, number, number, number, number]
    const { delivered, read } = staircases[receiver - 1] as Staircases
    ;(kind === 1 ? delivered : read).push({ sentAt, id, at })
  }
  for (const { delivered, read } of staircases) {
    delivered.sort(byPosition)
    read.sort(byPosition)
  }
  return staircases
}

function byPosition(a: Step, b: Step): number {
  return a.sentAt - b.sentAt || a.id - b.id
}

/** The time of the first step at a position or above it. */
function firstAt(steps: readonly Step[], { sentAt, id }: { sentAt: number; id: number }): number | null {
  for (const step of steps) if (step.sentAt > sentAt || (step.sentAt === sentAt && step.id >= id)) return step.at
  return null
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}
