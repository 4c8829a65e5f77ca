import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isLeaseOver, nowMs } from '../../store/clock.ts'
import { statement } from '../../store/statement.ts'
import type { Seats } from '../outbound/seats.ts'
import type { Wakes } from '../outbound/wakes.ts'
import { addPlanJobs, planLeaseMs } from './jobs.ts'
import { type PlanOptions, planStretch, type Stretch } from './plan.ts'

export interface PlannerOptions extends PlanOptions {
  /** Wakes whoever plans for an app in this process when there is something new. */
  readonly planWakes: Pick<Wakes, 'listen'>
  /** For those who wait for more. */
  readonly seats: Seats
}

const renewMs = 2_000
/** How long to wait for more before the lease is given back: a job that begins anew costs more than looking twenty times. */
const lingerMs = 1_000
/** How often to look for what nobody in this process has heard of. */
const lookMs = 50
/** What happens within so long is planned together. */
const gatherMs = 20
/** How long one app may go on before others have their turn. */
const turnMs = 10_000

const take = statement(`
  insert into notification_planners as s (app_id, leased_by, leased_until)
  select p.app_id, $2, ${nowMs} + ${planLeaseMs}
  from notification_plans p
  join apps a on a.app_id = p.app_id
  where p.app_id = $1
  and a.paused_at is null
  on conflict (app_id) do update
  set leased_by = excluded.leased_by,
    leased_until = excluded.leased_until
  where ${isLeaseOver('s.leased_until', planLeaseMs)}
  returning app_id`)

const renew = statement(`
  update notification_planners
  set leased_until = ${nowMs} + ${planLeaseMs}
  where app_id = $1
  and leased_by = $2`)

const look = statement(`
  select p.event, p.uid, h.id as horizon, h.held_until as "heldUntil", s.asked
  from notification_planners s
  join notification_plans p on p.app_id = s.app_id
  join apps a on a.app_id = s.app_id
  cross join event_horizon h
  where s.app_id = $1
  and s.leased_by = $2
  and a.paused_at is null`)

/** Lets go, unless there is something new. */
const release = statement(`
  update notification_planners
  set leased_by = null,
    leased_until = 0
  where app_id = $1
  and leased_by = $2
  and asked = $3
  returning app_id`)

/** Lets go at once. */
const giveBack = statement(`
  update notification_planners
  set leased_by = null,
    leased_until = 0
  where app_id = $1
  and leased_by = $2`)

/** Lets go at once; a job goes on. */
const handOver = statement(`
  with released as (
    update notification_planners
    set leased_by = null,
      leased_until = 0
    where app_id = $1
    and leased_by = $2
    returning app_id
  )
  ${addPlanJobs('released')}`)

interface Seen extends Stretch {
  readonly asked: number
}

/**
 * Plans the notifications of an app up to the horizon, and what comes within a second after that, until `signal` says stop. One process does so
 * at a time.
 */
export async function planWhileAsked(options: PlannerOptions, appId: number, signal: AbortSignal): Promise<void> {
  const { database } = options
  const names = [appId, randomUUID()]
  if ((await database.query(take, names)).length === 0) return
  // What fails here is tried again, or the lease runs out.
  const renewing = setInterval(() => void database.query(renew, names).catch(() => {}), renewMs).unref()
  try {
    const isDone = await goOn(options, appId, names, signal)
    if (!isDone) await database.query(handOver, names)
  } catch (error) {
    // This job is tried again, later each time; where this fails, too, others go on once the lease has run out.
    await database.query(giveBack, names).catch(() => {})
    throw error
  } finally {
    clearInterval(renewing)
  }
}

/** @returns whether the lease is given back, or gone */
async function goOn(
  options: PlannerOptions,
  appId: number,
  names: readonly unknown[],
  signal: AbortSignal,
): Promise<boolean> {
  const { database, planWakes, seats } = options
  const turnEnds = performance.now() + turnMs
  let workedAt = performance.now()
  let leave: (() => void) | undefined
  let isNews = false
  let waiting: AbortController | undefined
  const endListening = planWakes.listen(appId, () => {
    isNews = true
    waiting?.abort()
  })
  try {
    for (let looksAt = 0; ; ) {
      const early = looksAt - performance.now()
      if (early > 0) await delay(early)
      looksAt = performance.now() + gatherMs
      isNews = false
      const [seen] = await database.query<Seen>(look, [...names])
      if (seen === undefined || signal.aborted || performance.now() > turnEnds) return false
      if (seen.event < seen.horizon || seen.uid !== '') {
        await planStretch(options, appId, seen, signal)
        workedAt = performance.now()
        continue
      }
      leave ??= performance.now() - workedAt < lingerMs ? seats.take() : undefined
      if (leave === undefined || performance.now() - workedAt >= lingerMs) {
        if ((await database.query(release, [...names, seen.asked])).length > 0) return true
        continue
      }
      if (isNews) continue
      waiting = new AbortController()
      await delay(lookMs, undefined, { signal: waiting.signal }).catch(() => {})
      waiting = undefined
    }
  } finally {
    leave?.()
    endListening()
  }
}
