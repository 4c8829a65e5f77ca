import { dayMs } from '../../chat/usage/clock.ts'
import { countEnded } from '../../chat/usage/notification-counts.ts'
import { nowMs } from '../../store/clock.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/*
 * What waits for a provider that is removed or switched off is looked at by nobody who sends. The row of who sends by it stays for as long
 * as anything is left, so that also that is found which somebody planned while it was removed.
 */

/** Providers by which nobody sends any more, and whether they are gone. */
const leftBehind = `(
      select s.app_id, s.provider, p.key is null as is_gone
      from notification_senders s
      left join notification_providers p on p.app_id = s.app_id and p.key = s.provider
      where p.enabled is not true
      and s.leased_until < ${nowMs}
    ) l`

/**
 * Windows go to the provider for which others of their channel are opened (`candidates.ts`). Not those of which something may have
 * arrived: they would be notified twice.
 */
const handOver = statement(`
  with taken as materialized (
    select d.app_id, d.id, n.key, n.kind, n.provider_id
    from ${leftBehind}
    cross join lateral (
      select distinct on (n.channel) n.channel, n.key, n.kind, n.id as provider_id
      from notification_providers n
      where n.app_id = l.app_id
      and n.channel <> 'push'
      and n.enabled
      order by n.channel, n.kind = 'smtp', n.updated_at desc, n.key desc
    ) n
    join notification_deliveries d on d.app_id = l.app_id and d.day = 0 and d.provider = l.provider and d.channel = n.channel
    where d.due_at is not null
    and d.reason is null
    for update of d skip locked
  )
  update notification_deliveries d
  set provider = t.key,
    provider_kind = t.kind,
    provider_id = t.provider_id
  from taken t
  where d.app_id = t.app_id
  and d.day = 0
  and d.id = t.id`)

/**
 * Ends what is in `lost (app_id, day, id)`, and counts it.
 * @param gate that was closed, as it is kept; explanations have it beside what was looked at before
 */
const end = (reason: string, gate: string) => `
  ended as (
    update notification_deliveries d
    set status = case when d.attempts > 0 then 'failed' else 'stopped' end,
      day = d.created_at / ${dayMs},
      reason = '${reason}',
      gates = (d.gates::jsonb || '[${gate}]'::jsonb)::json,
      due_at = null,
      ended_at = ${nowMs}
    from lost
    where d.app_id = lost.app_id
    and d.day = lost.day
    and d.id = lost.id
    and d.status = 'pending'
    returning d.app_id, d.channel, d.status, d.ended_at
  ),
  counted as (${countEnded('select * from ended')}
  )
  select count(*) as count
  from lost`
const endOfGone = end('INVALID_PUSH_PROVIDER_ID', '["provider", false, "app", false]')

const atOnce = 2_000
const lostOf = (condition: string) => `
  with lost as materialized (
    select d.app_id, d.day, d.id
    from ${leftBehind}
    join notification_deliveries d on d.app_id = l.app_id and d.day = 0 and d.provider = l.provider
    where d.due_at is not null
    and ${condition}
    limit ${atOnce}
    for update of d skip locked
  ),`

/** The devices of a provider that is gone are gone as well. A window waits for its end: another provider may be set up until then. */
const endWaiting = statement(`${lostOf(`l.is_gone and (d.channel = 'push' or d.due_at <= ${nowMs})`)}${endOfGone}`)

/** What was handed over, and of which nobody writes any more what became of it. */
const endFlights = statement(`
  with landed as (
    delete from notification_flights f
    using ${leftBehind}
    where l.is_gone
    and f.app_id = l.app_id
    and f.provider = l.provider
    returning f.app_id, f.day, f.ids
  ),
  lost as (
    select app_id, day, unnest(ids) as id
    from landed
  ),${endOfGone}`)

/** Somebody may be planning for one that is removed for so long at most. */
const graceMs = 60_000

const forgetGone = statement(`
  delete from notification_senders s
  using ${leftBehind}
  where l.is_gone
  and s.app_id = l.app_id
  and s.provider = l.provider
  and s.paused_until < ${nowMs} - ${graceMs}
  and not exists (
    select
    from notification_deliveries d
    where d.app_id = s.app_id
    and d.day = 0
    and d.provider = s.provider
  )`)

interface Counted {
  readonly count: number
}

/** Has others send what waits for providers that are removed or switched off, and ends what nobody can send. */
export async function endLeftBehind(database: Database): Promise<void> {
  await database.query(handOver)
  let count = atOnce
  while (count === atOnce) count = (await database.query<Counted>(endWaiting))[0]?.count ?? 0
  await database.query(endFlights)
  await database.query(forgetGone)
}

const endLate = statement(`${lostOf('d.expires_at < $1')}${end('TIMED_OUT', '["timeToLive", false, "chat", false]')}`)

/**
 * Ends some of what waits for a provider that is switched off, and is too late by now.
 * @param now epoch milliseconds
 * @returns how much
 */
export async function endSomeLate(database: Database, now: number): Promise<number> {
  return (await database.query<Counted>(endLate, [now]))[0]?.count ?? 0
}
