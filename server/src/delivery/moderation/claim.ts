import type { StoredQuestion } from '../../chat/moderation/verdict.ts'
import { clockMayDifferMs, isLeaseOver, nowMs, nowOfStatementMs } from '../../store/clock.ts'
import type { Database, Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A message that waits for engines, or one whose rules in shadow ask them, claimed by this process. */
export interface Claimed {
  readonly appId: number
  readonly appName: string
  readonly region: string
  readonly message: number
  readonly conversation: number
  readonly sender: string
  /** Which of its texts the questions are about. */
  readonly generation: number
  readonly status: 'pending' | 'approved' | 'disapproved'
  /** An edit that waits. */
  readonly waiting: { readonly data: Record<string, unknown> } | null
  readonly questions: readonly StoredQuestion[]
  /** This one among them. */
  readonly attempts: number
}

/**
 * Who asks about a message holds it for this long and renews that in time: what a killed process held is free thereafter.
 * `leased_until` is in epoch milliseconds, by the database's clock.
 */
export const leaseMs = 10_000
export const renewMs = 3_000

/** By the index on `due_at`. One second more, since clocks differ. What is of a paused app waits until that goes on. */
const claim = statement(`
  with due as materialized (
    select app_id, message
    from message_moderation m
    where due_at <= ${nowMs} / 1000 + 1
    and (leased_until is null or ${isLeaseOver('leased_until', leaseMs)})
    and app_id <> all($2::integer[])
    and not exists (
      select
      from apps a
      where a.app_id = m.app_id
      and a.paused_at is not null
    )
    order by due_at, message
    limit $1
    for update of m skip locked
  )
  update message_moderation k
  set leased_until = ${nowMs} + ${leaseMs},
    attempts = k.attempts + 1
  from due d
  join apps a on a.app_id = d.app_id
  where k.app_id = d.app_id
  and k.message = d.message
  returning k.app_id as "appId", a.name as "appName", a.region, k.message, k.conversation, k.sender, k.generation, k.status,
    k.waiting, k.questions, k.attempts`)

/**
 * Takes messages that nobody asks about, in the order in which they came.
 * @param except apps of which enough is under way
 */
export async function claimDue(database: Database, limit: number, except: readonly number[]): Promise<Claimed[]> {
  const rows = await database.query<Claimed>(claim, [limit, except])
  return rows.sort((a, b) => a.message - b.message)
}

/** By the index on `due_at`. Nothing is put off for so long: it was by a clock that was ahead. */
const hasten = statement(`
  update message_moderation
  set due_at = ${nowMs} / 1000
  where due_at > (${nowOfStatementMs} + ${clockMayDifferMs}) / 1000
  returning message`)

/** What would wait because a clock was ahead for a moment is due now. */
export async function hastenDue(database: Database): Promise<void> {
  await database.query(hasten)
}

/** By the index on conversations. What was put off for a fault of ours is not waited for. */
const earlier = statement(`
  select message
  from message_moderation
  where app_id = $1
  and conversation = $2
  and sender = $3
  and message < $4
  and status = 'pending'
  and waiting is null
  and due_at <= ${nowMs} / 1000 + 1
  limit 1`)

/** Whether something that the same sender said there before waits still, in whichever process. */
export async function hasEarlier(
  database: Database,
  { appId, conversation, sender, message }: Pick<Claimed, 'appId' | 'conversation' | 'sender' | 'message'>,
): Promise<boolean> {
  return (await database.query(earlier, [appId, conversation, sender, message])).length > 0
}

type Named = Pick<Claimed, 'appId' | 'message' | 'generation'>

const renew = statement(`
  update message_moderation k
  set leased_until = ${nowMs} + ${leaseMs}
  from unnest($1::integer[], $2::bigint[], $3::integer[]) as h(app_id, message, generation)
  where k.app_id = h.app_id
  and k.message = h.message
  and k.generation = h.generation
  and k.due_at is not null`)

export async function renewLeases(database: Database, held: readonly Named[]): Promise<void> {
  const columns = [
    held.map(({ appId }) => appId),
    held.map(({ message }) => message),
    held.map(({ generation }) => generation),
  ]
  await database.query(renew, columns)
}

const putOff = statement(`
  update message_moderation
  set due_at = ${nowMs} / 1000 + $4,
    leased_until = null
  where app_id = $1
  and message = $2
  and generation = $3
  and due_at is not null`)

/** Lets go of a message that could not be settled, for now. @param seconds until it is tried again */
export async function putOffClaimed(
  database: Database,
  { appId, message, generation }: Named,
  seconds: number,
): Promise<void> {
  await database.query(putOff, [appId, message, generation, seconds])
}

const drop = statement(`
  update message_moderation
  set questions = null,
    due_at = null,
    leased_until = null
  where app_id = $1
  and message = $2
  and generation = $3
  and due_at is not null
  returning message`)

/** Nobody is asked about a text any more. @returns whether anybody would have been */
export async function dropQuestions(on: Queryable, { appId, message, generation }: Named): Promise<boolean> {
  return (await on.query(drop, [appId, message, generation])).length > 0
}
