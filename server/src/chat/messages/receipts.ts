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

/**
 * The steps of a page: of each receiver those within it, and the first one at its end or beyond. For a page that is cheaper
 * than two looks for each message, as `receiptJoins` does for single ones. `receiptsOf` reads it.
 * @param page a relation with the positions of the page
 * @param conversation its key
 * @param receivers `text[]`: whose staircases count, the two of a conversation or '' for all of a group
 */
export function stepsOfPage(page: string, appId: string, conversation: string, receivers: string): string {
  const steps = (range: string) => `
        select s.sent_at, s.id, s.at
        from receipt_steps s
        where s.app_id = ${appId}
        and s.conversation = ${conversation}
        and s.uid = u.uid
        and s.kind = k.kind
        and ${range}`
  return `(
    select string_agg(concat_ws(' ', u.n, k.kind, t.sent_at, t.id, t.at), ',')
    from (select p.sent_at, p.id from ${page} p order by p.sent_at, p.id limit 1) oldest
    cross join (select p.sent_at, p.id from ${page} p order by p.sent_at desc, p.id desc limit 1) newest
    cross join unnest(${receivers}::text[]) with ordinality as u(uid, n)
    cross join (values (1), (2)) as k(kind)
    cross join lateral (
      (${steps('(s.sent_at, s.id) >= (oldest.sent_at, oldest.id) and (s.sent_at, s.id) < (newest.sent_at, newest.id)')}
      )
      union all
      (${steps('(s.sent_at, s.id) >= (newest.sent_at, newest.id)')}
        order by s.sent_at, s.id
        limit 1
      )
    ) t
  )`
}

/**
 * Reads what `stepsOfPage` gives.
 * @param receivers as they were given to it
 */
export function receiptsOf(text: string | null, receivers: readonly string[]): Receipts {
  const staircases = readStaircases(text, receivers.length)
  return (message) => {
    const { kind, sender, receiver, deliveredAt, readAt } = message
    if (kind === 1 && sender === receiver) return { deliveredAt: deliveredAt ?? readAt, readAt }
    const { delivered, read } = staircases[kind === 2 ? 0 : receivers.indexOf(receiver)] ?? noSteps
    const [wasDelivered, wasRead] = [firstAt(delivered, message), firstAt(read, message)]
    return { deliveredAt: deliveredAt ?? earlier(wasDelivered, wasRead) ?? readAt, readAt: readAt ?? wasRead }
  }
}

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
