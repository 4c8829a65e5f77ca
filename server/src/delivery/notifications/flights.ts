import { dayMs } from '../../chat/usage/clock.ts'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import { addJobsOfAsked, addSendJobs, askSenders } from './jobs.ts'

/*
 * Most pushes are sent as soon as they are planned: they never wait, and nobody has to look for them. Whoever plans writes them to the log,
 * pending, and hands them to whoever sends by their provider in the same process. What is handed over together is a flight, a row of ids: where
 * that process is killed, others make of them what waits.
 */

/** Pushes that were handed over together. */
export interface Flight {
  /** The lowest of their ids. */
  readonly first: number
  /** The part of the log that they are in. */
  readonly day: number
  /** Of how many it is not written yet what became of them. */
  left: number
}

/** The part of the log in which a push is that is planned now. @param now epoch milliseconds */
export const dayOf = (now: number): number => Math.floor(now / dayMs)

/** @param condition which flights `f`, beside the app and the provider */
const leave = (condition: string) =>
  statement(`
  with ended as (
    delete from notification_flights f
    where f.app_id = $1
    and f.provider = $2
    and ${condition}
    returning f.day, f.ids
  ),
  waiting as (
    update notification_deliveries d
    set day = 0,
      due_at = ${nowMs}
    from (
      select e.day, unnest(e.ids) as id
      from ended e
    ) x
    where d.app_id = $1
    and d.day = x.day
    and d.id = x.id
    and d.status = 'pending'
    returning d.app_id, d.provider
  ),
  asked as (${askSenders('waiting')}
  )
  ${addJobsOfAsked}`)

const selectOfOthers = statement(`
  select first
  from notification_flights
  where app_id = $1
  and provider = $2
  and holder <> $3
  limit 1`)

const leaveOfOthers = leave('f.holder <> $3')
const leaveOne = leave('f.holder = $3 and f.first = $4')

/** What others who sent by a provider left behind waits from now on. Only the holder of the lease may call it. */
export async function takeOverFlights(on: Queryable, { appId, endpoint }: EndpointKey, holder: string): Promise<void> {
  const values = [appId, endpoint, holder]
  if ((await on.query(selectOfOthers, values)).length > 0) await on.query(leaveOfOthers, values)
}

/**
 * What could not be handed over any more waits from now on. What else its holder has is left to them: they are still sending it, or are about
 * to write what became of it.
 * @param holder whom it was meant for
 */
export async function leaveToOthers(
  on: Queryable,
  { appId, endpoint }: EndpointKey,
  holder: string,
  { first }: Pick<Flight, 'first'>,
): Promise<void> {
  await on.query(leaveOne, [appId, endpoint, holder, first])
}

const rescue = statement(
  addSendJobs(`(
    select distinct f.app_id, f.provider, 0::bigint as run_at
    from notification_flights f
    join notification_senders s on s.app_id = f.app_id and s.provider = f.provider
    join notification_providers p on p.app_id = f.app_id and p.key = f.provider
    join apps a on a.app_id = f.app_id
    where p.enabled
    and a.paused_at is null
    and s.leased_until < ${nowMs}
    and s.paused_until < ${nowMs} - 2000
  ) f`),
)

/** Finds what a killed process was sending, where nobody sends by that provider. */
export async function rescueFlights(on: Queryable): Promise<void> {
  await on.query(rescue)
}
