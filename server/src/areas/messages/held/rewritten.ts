import type { Outcome } from '../../../chat/moderation/model.ts'
import { openReview } from '../../../chat/moderation/queue.ts'
import { moderationTraits, storedQuestion, traitsOfStatus } from '../../../chat/moderation/verdict.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'

const makePending = `
  update messages
    set traits = traits & ~${moderationTraits} | ${traitsOfStatus('pending')}
    where app_id = $1
    and id = $2`

const ask = statement(`
  with pending as (${makePending}
  )
  update message_moderation
  set status = 'pending',
    generation = generation + 1,
    questions = $3::json,
    due_at = $4,
    attempts = 0,
    leased_until = null,
    rule_id = null, rule_name = null, rule_revision = null, condition = null, list_id = null, list_revision = null,
    match = null, confidence = null, reason = null, actions = null,
    lane = 'one',
    took = $5,
    updated_at = $4
  where app_id = $1
  and message = $2`)

/** A held message has a new text, and engines are to be asked about that. */
export async function keepPending(
  tx: Transaction,
  appId: number,
  id: number,
  { questions, took }: Outcome,
  now: number,
): Promise<void> {
  await tx.query(ask, [appId, id, JSON.stringify(questions.map(storedQuestion)), now, took])
}

const repeat = statement(`
  update message_moderation
  set generation = generation + 1,
    due_at = case when due_at is not null then $3::bigint end,
    attempts = 0,
    leased_until = null,
    updated_at = $3
  where app_id = $1
  and message = $2`)

/** A held message has a new text that no rule was asked about: it stays as it is, and engines are asked about the new one. */
export async function askAgain(tx: Transaction, appId: number, id: number, now: number): Promise<void> {
  await tx.query(repeat, [appId, id, now])
}

const review = statement(`
  with pending as (${makePending}
  )
  update message_moderation
  set status = 'pending',
    generation = generation + 1,
    questions = null,
    due_at = null,
    leased_until = null,
    reason = $4,
    review_status = null,
    reviewed_at = null,
    reviewed_by = null,
    lane = 'manual',
    updated_at = $3
  where app_id = $1
  and message = $2`)

/** A held message has a new text, and a reviewer is to decide about it. @param reason why it could not be released */
export async function keepForReview(
  tx: Transaction,
  appId: number,
  id: number,
  now: number,
  reason: string | null = null,
): Promise<void> {
  await tx.query(review, [appId, id, now, reason])
  await openReview(tx, appId, id, { isNew: true }, now)
}
