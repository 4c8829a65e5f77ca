import { nowMs } from '../../store/clock.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Attempt } from './attempt.ts'
import type { DueDelivery } from './due.ts'
import type { Health, WebhookKey } from './lease.ts'

/** What becomes of a delivery after an attempt. */
export interface Result {
  readonly id: number
  readonly status: 'pending' | 'delivered' | 'failed'
  /** Milliseconds until the next attempt; null when there is none. */
  readonly dueIn: number | null
  readonly step: number
  readonly attempt: Attempt
}

/** An endpoint may put itself off by `Retry-After`, but not for longer. */
export const maxRetryAfterSeconds = 3600

/**
 * Decides what becomes of a delivery.
 * @param delays seconds between attempts
 */
export function nextStep(
  delivery: Pick<DueDelivery, 'id' | 'step'>,
  attempt: Attempt,
  { retryOnFailure, delays }: { readonly retryOnFailure: boolean; readonly delays: readonly number[] },
): Result {
  const { id, step } = delivery
  if (attempt.succeeded) return { id, status: 'delivered', dueIn: null, step, attempt }
  const delay = delays[step]
  if (!retryOnFailure || delay === undefined || attempt.status === 410) {
    return { id, status: 'failed', dueIn: null, step, attempt }
  }
  const asked = Math.min(attempt.retryAfter ?? 0, maxRetryAfterSeconds)
  return { id, status: 'pending', dueIn: Math.max(delay, asked) * 1000, step: step + 1, attempt }
}

/** The ids are said twice, so that no plan reads all deliveries of a webhook to find some. */
const write = statement(`
  update webhook_deliveries d
  set status = r.status,
    attempts = d.attempts + 1,
    step = r.step,
    due_at = ${nowMs} + r.due_in,
    attempted_at = ${nowMs} / 1000,
    answer_status = r.answer_status,
    answer = r.answer,
    error = r.error,
    duration_ms = r.duration_ms
  from unnest($3::bigint[], $4::text[], $5::bigint[], $6::smallint[], $7::smallint[], $8::text[], $9::text[],
    $10::integer[]) as r(id, status, due_in, step, answer_status, answer, error, duration_ms)
  where d.app_id = $1
  and d.webhook = $2
  and d.id = any($3::bigint[])
  and d.id = r.id`)

const writeHealth = statement(`
  update webhook_states
  set failures = $3,
    failing_since = $4
  where app_id = $1
  and webhook = $2
  and (failures, coalesce(failing_since, 0)) is distinct from ($3::integer, coalesce($4::bigint, 0))`)

/** Writes results in batches, one batch at a time. */
export interface ResultWriter {
  add(result: Result): void
  /** Resolves when everything is written. @throws what went wrong with a batch, also with an earlier one */
  flush(): Promise<void>
}

const batchMs = 20

export function createResultWriter(database: Database, key: WebhookKey, health: () => Health): ResultWriter {
  let waiting: Result[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let failure: Error | undefined

  const begin = () => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(async () => {
      const batch = waiting
      waiting = []
      if (batch.length === 0 || failure !== undefined) return
      try {
        await writeResults(database, key, batch)
        const { failures, failingSince } = health()
        await database.query(writeHealth, [key.appId, key.webhook, failures, failingSince])
      } catch (error) {
        failure = error as Error
      }
    })
  }
  return {
    add(result) {
      waiting.push(result)
      timer ??= setTimeout(begin, batchMs)
    },
    async flush() {
      begin()
      await writing
      if (failure !== undefined) throw failure
    },
  }
}

/** Writes what became of deliveries. Excerpts of answers are kept of failures only. */
export async function writeResults(
  database: Pick<Database, 'query'>,
  { appId, webhook }: WebhookKey,
  results: readonly Result[],
): Promise<void> {
  await database.query(write, [
    appId,
    webhook,
    results.map(({ id }) => id),
    results.map(({ status }) => status),
    results.map(({ dueIn }) => (dueIn === null ? null : Math.ceil(dueIn))),
    results.map(({ step }) => step),
    results.map(({ attempt }) => attempt.status ?? null),
    results.map(({ attempt }) => (attempt.succeeded ? null : attempt.text || null)),
    results.map(({ attempt }) => attempt.error ?? null),
    results.map(({ attempt }) => attempt.durationMs),
  ])
}
