import type { NotificationReason } from '@parley/contract'
import { type Gate, storedGate } from '../../chat/notifications/decide.ts'
import { dayMs } from '../../chat/usage/clock.ts'
import { countEnded } from '../../chat/usage/notification-counts.ts'
import { nowMs } from '../../store/clock.ts'
import type { Database } from '../../store/database.ts'
import { createRecordset } from '../../store/recordset.ts'
import { statement } from '../../store/statement.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import { writeAgain } from '../outbound/result-writer.ts'
import type { DueNotification } from './due.ts'

/** How one attempt went. */
export interface SendAttempt {
  /**
   * accepted; refused: for good; failed: may be tried again; postponed: was not made, `retryAfter` says until when; unfit: was
   * not made, since such a thing cannot be sent to the device
   */
  readonly outcome: 'accepted' | 'refused' | 'failed' | 'postponed' | 'unfit'
  /** HTTP status; absent where there was no answer. */
  readonly status?: number
  /** Beginning of what the provider said: its words, which may repeat what it was sent. */
  readonly text?: string
  /** In our words, with codes of the provider at most: it is kept, whatever becomes of the message. */
  readonly error?: string
  /** Seconds after which the provider wants to be asked again. */
  readonly retryAfter?: number
  /** It failed for this device alone, or for its kind of devices: the others need not wait. */
  readonly isProviderWell?: true
  readonly durationMs: number
  /** The provider knows the device no more: it is forgotten if it was registered before this time, epoch milliseconds. */
  readonly goneSince?: number
  /** The provider refuses this address for good: it is not written to until its user has another one. */
  readonly refusedAddress?: string
  /** Why it was refused, where that is more than the provider's word, or why it `mayHaveArrived` although it failed. */
  readonly reason?: NotificationReason
  /** There was no answer, and nothing by which a second one would be known as a repeat: it is tried once more, and not again. */
  readonly mayHaveArrived?: true
}

/** What becomes of a notification. */
export interface SendResult {
  readonly id: number
  readonly status: 'pending' | 'delivered' | 'failed' | 'stopped'
  readonly reason?: NotificationReason
  /** Milliseconds until the next attempt. */
  readonly dueIn?: number
  readonly attempts: number
  readonly attempt?: SendAttempt
  /** What was looked at when it was stopped; absent: as when it was planned. */
  readonly gates?: readonly Gate[]
}

/** Seconds between attempts; the last one repeats until the time to live is over. */
const delays = [2, 10, 30, 60, 120, 300]

type Undecided = Pick<DueNotification, 'id' | 'attempts' | 'expiresAt'> &
  Partial<Pick<DueNotification, 'mayHaveArrived'>>

/** Decides what becomes of a notification after an attempt. @param random from 0 to 1, so that not all come at once */
export function nextStep(
  { id, attempts, expiresAt, mayHaveArrived = false }: Undecided,
  attempt: SendAttempt,
  now: number,
  random: number,
): SendResult {
  if (attempt.outcome === 'postponed') {
    // Twice as long for some, so that not all come when it is over.
    const dueIn = (attempt.retryAfter ?? 0) * 1000 * (1 + random)
    if (now + dueIn >= expiresAt) return { id, attempts, attempt, status: 'failed', reason: 'TIMED_OUT' }
    return { id, attempts, attempt, status: 'pending', dueIn: Math.ceil(dueIn) }
  }
  if (attempt.outcome === 'unfit') return { id, attempts, attempt, status: 'stopped', reason: 'NOT_SHOWN' }
  const made = { id, attempts: attempts + 1, attempt }
  if (attempt.outcome === 'accepted') return { ...made, status: 'delivered' }
  if (attempt.outcome === 'refused') return { ...made, status: 'failed', reason: attempt.reason ?? 'PROVIDER_ERROR' }
  const lost = attempt.mayHaveArrived === true && { reason: attempt.reason ?? 'PROVIDER_ERROR' }
  if (lost && mayHaveArrived) return { ...made, ...lost, status: 'failed' }
  const seconds = delays[Math.min(attempts, delays.length - 1)] ?? 0
  const dueIn = Math.max(seconds * (0.75 + random / 2), attempt.retryAfter ?? 0) * 1000
  if (now + dueIn >= expiresAt) return { ...made, status: 'failed', reason: 'TIMED_OUT' }
  return { ...made, ...lost, status: 'pending', dueIn: Math.ceil(dueIn) }
}

/**
 * What has ended moves to the log; what waits keeps the reason for which it may have arrived. The ids are said twice, so that no
 * plan reads all deliveries of an app to find some.
 */
const ended = createRecordset<SendResult>(
  [
    ['id', 'bigint', ({ id }) => id],
    ['status', 'text', ({ status }) => status],
    ['reason', 'text', ({ reason }) => reason ?? null],
    ['attempts', 'smallint', ({ attempts }) => attempts],
    ['due_in', 'bigint', ({ dueIn }) => (dueIn === undefined ? null : Math.round(dueIn))],
    ['error', 'text', ({ attempt }) => attempt?.error ?? null],
    ['answer_status', 'smallint', ({ attempt }) => attempt?.status ?? null],
    // What a provider says to a success is not kept.
    ['answer', 'text', ({ attempt }) => (attempt?.outcome === 'accepted' ? null : attempt?.text || null)],
    ['duration_ms', 'int', ({ attempt }) => (attempt === undefined ? null : Math.round(attempt.durationMs))],
    ['gone_since', 'bigint', ({ attempt }) => attempt?.goneSince ?? null],
    ['refused', 'text', ({ attempt }) => attempt?.refusedAddress ?? null],
    ['gates', 'text', ({ gates }) => (gates === undefined ? null : JSON.stringify(gates.map(storedGate)))],
  ],
  { first: 5 },
)

/**
 * An answer may repeat what was sent, and is forgotten with what the message said (`forgetAnswersAbout`). So none is kept where the message
 * was ever changed, or is being changed: which text of it was sent is not known here. The lock on the message has whoever changes it
 * next see the answer; nobody is waited for with it, since messages that are locked are passed over. That one was deleted says nothing of it.
 */
const write = statement(`
  with r as materialized (
    select *
    from ${ended.sql}
  ),
  answered as materialized (
    select d.id, d.message, d.trigger
    from r
    join notification_deliveries d on d.app_id = $1 and d.day = $2 and d.id = r.id
    where r.answer is not null
    for update of d
  ),
  kept as materialized (
    select a.id
    from answered a
    where a.message is null
    or a.trigger = 'message_deleted'
    union all
    select u.id
    from (
      select a.id
      from answered a
      cross join lateral (
        select m.id
        from messages m
        where m.app_id = $1
        and m.id = a.message
        and m.edited_at is null
        and m.deleted_at is null
        and not m.purged
        order by m.id
        limit 1
        for share of m skip locked
      ) m
      where a.trigger <> 'message_deleted'
    ) u
  ),
  gone as (
    delete from push_tokens t
    using r, notification_deliveries d
    where r.gone_since is not null
    and d.app_id = $1
    and d.day = $2
    and d.id = r.id
    and t.app_id = d.app_id
    and t.provider = d.provider
    and t.digest = d.digest
    and t.updated_at <= r.gone_since
  ),
  refused as (
    update notification_contacts k
    set refused_email = case d.channel when 'email' then r.refused else k.refused_email end,
      refused_phone = case d.channel when 'sms' then r.refused else k.refused_phone end
    from r, notification_deliveries d
    where r.refused is not null
    and d.app_id = $1
    and d.day = $2
    and d.id = r.id
    and k.app_id = d.app_id
    and k.uid = d.uid
  ),
  ended as (
    update notification_deliveries d
    set status = r.status,
      day = case when r.status = 'pending' then 0 else d.created_at / ${dayMs} end,
      reason = case r.status when 'pending' then coalesce(r.reason, d.reason) else r.reason end,
      attempts = r.attempts,
      due_at = ${nowMs} + r.due_in,
      ended_at = case when r.status <> 'pending' then ${nowMs} end,
      answer_status = r.answer_status,
      answer = case when exists (select from kept k where k.id = r.id) then r.answer end,
      error = r.error,
      duration_ms = r.duration_ms,
      gates = coalesce(r.gates::json, d.gates)
    from r
    where d.app_id = $1
    and d.day = $2
    and d.id = r.id
    and d.status = 'pending'
    returning d.app_id, d.channel, d.status, d.ended_at
  ),
  landed as (
    delete from notification_flights
    where app_id = $1
    and provider = $3
    and first = any($4::bigint[])
  )
  ${countEnded('select * from ended')}`)

const hasten = statement(`
  update notification_deliveries
  set due_at = ${nowMs}
  where app_id = $1
  and day = 0
  and provider = $2
  and due_at > ${nowMs}
  and attempts > 0`)

/** The provider is back: what it refused while it was away is due now. */
export async function hastenRetries(database: Database, { appId, endpoint }: EndpointKey): Promise<void> {
  await database.query(hasten, [appId, endpoint])
}

/** Where results belong to. */
export interface PlaceOfResults {
  /** The part of the log where the notifications were handed over; 0: where they waited. */
  readonly day: number
  /** Flights of which nothing else is under way. */
  readonly landed: readonly number[]
}

/** Writes what became of notifications of one provider. */
export async function writeResults(
  database: Database,
  { appId, endpoint }: EndpointKey,
  { day, landed }: PlaceOfResults,
  results: readonly SendResult[],
): Promise<void> {
  const values = [appId, day, endpoint, landed, ...ended.values(results)]
  await writeAgain(() => database.query(write, values))
}
