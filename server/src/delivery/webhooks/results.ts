import { nowMs } from '../../store/clock.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import { writeAgain } from '../outbound/result-writer.ts'
import type { Attempt } from './attempt.ts'
import type { DueDelivery } from './due.ts'
import { maxRetryAfterSeconds } from './endpoints.ts'
import { contentSql, type SentContent } from './render.ts'

/** What becomes of a delivery after an attempt. */
export interface Result {
  readonly id: number
  /** When it was due, as it was read. */
  readonly wasDueAt: number
  readonly status: 'pending' | 'delivered' | 'failed'
  /** Milliseconds until the next attempt; null when there is none. */
  readonly dueIn: number | null
  readonly step: number
  readonly attempt: Attempt
  /** What was sent of a message: the answer may repeat it. */
  readonly sent?: SentContent | undefined
}

/**
 * Decides what becomes of a delivery.
 * @param delays seconds between attempts
 */
export function nextStep(
  delivery: Pick<DueDelivery, 'id' | 'step' | 'dueAt'>,
  attempt: Attempt,
  { retryOnFailure, delays }: { readonly retryOnFailure: boolean; readonly delays: readonly number[] },
): Result {
  const { id, step, dueAt: wasDueAt } = delivery
  if (attempt.succeeded) return { id, wasDueAt, status: 'delivered', dueIn: null, step, attempt }
  const delay = delays[step]
  if (!retryOnFailure || delay === undefined || attempt.status === 410) {
    return { id, wasDueAt, status: 'failed', dueIn: null, step, attempt }
  }
  const asked = Math.min(attempt.retryAfter ?? 0, maxRetryAfterSeconds)
  return { id, wasDueAt, status: 'pending', dueIn: Math.max(delay, asked) * 1000, step: step + 1, attempt }
}

/**
 * The ids are said twice, so that no plan reads all deliveries of a webhook to find some. One that somebody asked for again while the attempt
 * was under way stays due as they asked, whatever became of the attempt.
 *
 * An answer may repeat the message that it is about, and is forgotten with what that said (`forgetAnswersAbout`). So none is kept where the
 * message says something else by now, or is being changed, or quotes another one, with which nobody would find the answer. The lock has
 * whoever changes the message next see the answer.
 */
const write = statement(`
  with unchanged as (
    select t.message, t.content
    from unnest($12::bigint[], $13::integer[]) as t(message, content)
    join messages m on m.app_id = $1 and m.id = t.message
    where m.id = any($12::bigint[])
    and ${contentSql} = t.content
    and m.quoted_id is null
    and not m.purged
    for share of m skip locked
  )
  update webhook_deliveries d
  set status = case when d.due_at = r.was_due_at then r.status else d.status end,
    attempts = d.attempts + 1,
    step = case when d.due_at = r.was_due_at then r.step else d.step end,
    due_at = case when d.due_at = r.was_due_at then ${nowMs} + r.due_in else d.due_at end,
    attempted_at = ${nowMs} / 1000,
    answer_status = r.answer_status,
    answer = case when r.message is null
      or exists (select from unchanged u where u.message = r.message and u.content = r.content) then r.answer end,
    message = r.message,
    error = r.error,
    duration_ms = r.duration_ms
  from unnest($3::bigint[], $4::text[], $5::bigint[], $6::smallint[], $7::smallint[], $8::text[], $9::text[],
    $10::integer[], $11::bigint[], $12::bigint[], $13::integer[])
    as r(id, status, due_in, step, answer_status, answer, error, duration_ms, was_due_at, message, content)
  where d.app_id = $1
  and d.webhook = $2
  and d.id = any($3::bigint[])
  and d.id = r.id`)

/** Writes what became of deliveries. Excerpts of answers are kept of failures only. */
export async function writeResults(
  database: Database,
  { appId, endpoint }: EndpointKey,
  results: readonly Result[],
): Promise<void> {
  const answerOf = ({ attempt }: Result) => (attempt.succeeded ? null : attempt.text || null)
  const sentContentOf = (result: Result) => (answerOf(result) === null ? undefined : result.sent)
  const values = [
    appId,
    endpoint,
    results.map(({ id }) => id),
    results.map(({ status }) => status),
    results.map(({ dueIn }) => (dueIn === null ? null : Math.ceil(dueIn))),
    results.map(({ step }) => step),
    results.map(({ attempt }) => attempt.status ?? null),
    results.map(answerOf),
    results.map(({ attempt }) => attempt.error ?? null),
    results.map(({ attempt }) => attempt.durationMs),
    results.map(({ wasDueAt }) => wasDueAt),
    results.map((result) => sentContentOf(result)?.message ?? null),
    results.map((result) => sentContentOf(result)?.content ?? null),
  ]
  await writeAgain(() => database.query(write, values))
}
