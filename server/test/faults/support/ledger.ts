import type { Outcome } from './line.ts'

/** What a sender is about to send: written down before, so that nothing that is found later can be a surprise. */
export interface Attempt {
  readonly muid: string
  readonly talkId: string
  readonly sender: string
  readonly text: string
}

/** A message that was answered. */
export interface Acknowledged {
  readonly id: string
  /** The line it was sent on and its place there: one line waits for each answer before it sends on. */
  readonly line: number
  readonly turn: number
}

export type MarkKind = 'delivered' | 'read'

/** What the clients know: what they sent, and what they were answered. */
export interface Ledger {
  readonly attempts: Map<string, Attempt>
  readonly acknowledged: Map<string, Acknowledged>
  /** The newest message of each conversation that was answered. */
  readonly newest: Map<string, number>
  /** Up to which message a user's mark must have risen, by user, conversation and kind. */
  readonly marks: Map<string, { uid: string; talkId: string; kind: MarkKind; id: number }>
  /** How often the service could not answer: refused with 503, or the connection was cut. */
  readonly counts: { refused: number; cut: number; marks: number; repeats: number }
  /** What must not happen: other refusals, changed answers. Empty in the end. */
  readonly faults: string[]
}

export function createLedger(): Ledger {
  return {
    attempts: new Map(),
    acknowledged: new Map(),
    newest: new Map(),
    marks: new Map(),
    counts: { refused: 0, cut: 0, marks: 0, repeats: 0 },
    faults: [],
  }
}

/** Writes down how a send was answered. @returns whether it is settled; else it may be sent again */
export function noteSend(ledger: Ledger, attempt: Attempt, at: { line: number; turn: number }, outcome: Outcome) {
  if (!isAnswer(ledger, `send of ${attempt.muid}`, outcome)) return false
  const { id, muid, data, conversationId } = outcome.body.data
  if (muid !== attempt.muid || data.text !== attempt.text || conversationId !== attempt.talkId) {
    ledger.faults.push(`${attempt.muid} was answered with another message: ${JSON.stringify(outcome.body.data)}`)
  }
  const known = ledger.acknowledged.get(attempt.muid)
  if (known !== undefined && known.id !== id) {
    ledger.faults.push(`${attempt.muid} was answered as message ${known.id}, when repeated as ${id}`)
  }
  if (known === undefined) ledger.acknowledged.set(attempt.muid, { id, ...at })
  ledger.newest.set(attempt.talkId, Math.max(ledger.newest.get(attempt.talkId) ?? 0, Number(id)))
  return true
}

/** Writes down how a mark was answered that was to reach at least the message `id`. */
export function noteMark(
  ledger: Ledger,
  mark: { uid: string; talkId: string; kind: MarkKind; id: number },
  outcome: Outcome,
): void {
  if (!isAnswer(ledger, `${mark.kind} of ${mark.uid} in ${mark.talkId}`, outcome)) return
  ledger.counts.marks++
  const key = `${mark.uid} ${mark.talkId} ${mark.kind}`
  if ((ledger.marks.get(key)?.id ?? 0) < mark.id) ledger.marks.set(key, mark)
}

/** Is it a success? A 503 must say when to try again; any other refusal is a fault. */
export function isAnswer(
  ledger: Ledger,
  what: string,
  outcome: Outcome,
): outcome is Extract<Outcome, { kind: 'answered' }> {
  if (outcome.kind === 'cut') {
    ledger.counts.cut++
    return false
  }
  if (outcome.status === 200) return true
  ledger.counts.refused++
  const isAway = outcome.status === 503 && outcome.body?.error?.code === 'ERR_MISSION_FAILED'
  if (!isAway || outcome.headers['retry-after'] === undefined) {
    ledger.faults.push(`${what}: status ${outcome.status} ${JSON.stringify(outcome.body)}`)
  }
  return false
}
