import { sql } from 'kysely'
import { dayMs } from '../../chat/usage/clock.ts'
import { isLockTimeout } from '../../store/connection.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** Where days that many keep for longer than some are looked through for what those keep no more. */
interface Kept {
  /** Days that the log of an app is kept, at least and at most over all apps. */
  readonly shortest: number
  readonly longest: number
}

const selectKept = statement(`
  select coalesce(min(k.days), $1::bigint) as shortest, coalesce(max(k.days), $1::bigint) as longest
  from (
    select coalesce((settings ->> 'notificationLogDays')::bigint, $1::bigint) as days
    from apps
  ) k`)

/** @param days that apps keep their logs where they have not set it */
export async function readKept(database: Database, days: number): Promise<Kept> {
  const [kept] = await database.query<Kept>(selectKept, [days])
  return kept as Kept
}

/** Something else has the table. A failure of its own: what only met a lock would be tried again until it has it. */
class InTheWayError extends Error {}

/** Any constant will do, as long as every version of the service uses the same. */
const lock = statement('select pg_try_advisory_xact_lock(7206951011) as locked')

const selectDays = statement(`
  select substring(c.relname from 5)::integer as day
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'notification_deliveries'::regclass
  and c.relname ~ '^day_[0-9]+$'
  order by 1`)

async function readDays(database: Pick<Database, 'query'>): Promise<number[]> {
  return (await database.query<{ day: number }>(selectDays)).map(({ day }) => day)
}

/**
 * Makes the parts of today and tomorrow, and drops those that nobody keeps any longer. Whatever stands in the way, such as a
 * long read, is left alone: there is time until the next round.
 * @param now epoch milliseconds
 */
export async function keepDays(database: Database, now: number, { longest }: Pick<Kept, 'longest'>): Promise<void> {
  const today = Math.floor(now / dayMs)
  const days = await readDays(database)
  const wanted = [today, today + 1].filter((day) => !days.includes(day))
  const over = days.filter((day) => day < today - longest)
  if (wanted.length + over.length === 0) return
  const change = async (tx: Transaction) => {
    const there = await readDays(tx)
    for (const day of wanted)
      if (!there.includes(day)) for (const text of creationOfDay(day)) await tx.run(sql.raw(text))
    for (const day of over) await tx.run(sql.raw(`drop table if exists ${tableOf(day)}`))
  }
  const changing = database.transaction(async (tx) => {
    const [row] = await tx.query<{ locked: boolean }>(lock)
    if (row?.locked !== true) return
    await tx.run(sql`set local lock_timeout = '2s'`)
    await change(tx).catch((error) => {
      throw isLockTimeout(error) ? new InTheWayError() : error
    })
  })
  await changing.catch((error) => {
    if (!(error instanceof InTheWayError)) throw error
  })
}

const tableOf = (day: number) => `notification_days.day_${day}`

/**
 * Statements that make the part of a day: as what waits, but for what only that needs. What came on this day before goes along. Pages keep
 * room for what becomes of pushes that are written before they are sent, which then touches no index.
 */
export function creationOfDay(day: number): string[] {
  const table = tableOf(day)
  return [
    `create table ${table} (like notification_deliveries including defaults) with (fillfactor = 70)`,
    `alter table ${table} add primary key (app_id, id)`,
    // why somebody was notified of a message or was not; what goes with a message
    `create index on ${table} (app_id, message) where message is not null`,
    // what goes with a user, and the logs of one
    `create index on ${table} (app_id, uid, id)`,
    // what goes with a group beside its messages
    `create index on ${table} (app_id, conversation) where message is null`,
    // what was sent to a user on a day, and of a conversation at last
    `create index on ${table} (app_id, uid, channel, closed_at) where closed_at is not null`,
    // what was taken back before on the devices of a user
    `create index on ${table} (app_id, uid, id) where trigger = 'messages_read'`,
    'lock table notification_days.other in access exclusive mode',
    `with moved as (
      delete from notification_days.other
      where day = ${day}
      returning *
    )
    insert into ${table}
    select *
    from moved`,
    `alter table notification_deliveries attach partition ${table} for values in (${day})`,
  ]
}

/** What is in no part of a day. */
const loose = ['notification_days.waiting', 'notification_days.other', 'notification_days.before']

/** What each app keeps, in small batches; what waits goes too, once it is past its time to live. */
const removal = (table: string) =>
  statement(`
  delete from ${table}
  where ctid in (
    select d.ctid
    from ${table} d
    join apps a on a.app_id = d.app_id
    where d.created_at < $1
    and (d.due_at is null or d.expires_at < $2)
    and d.created_at < $2 - coalesce((a.settings ->> 'notificationLogDays')::bigint, $3) * ${dayMs}
    limit 2000
    for update of d skip locked
  )
  returning id`)

const removalsOfLoose = loose.map(removal)

/** Nothing is kept for less than a day. */
const values = (now: number, days: number) => [now - dayMs, now, days]

/** Removes some of what is too old and in no part of a day. @returns how much */
export async function removeLoose(database: Database, now: number, days: number): Promise<number> {
  let count = 0
  for (const each of removalsOfLoose) count += (await database.query(each, values(now, days))).length
  return count
}

/** Removes some of what some apps keep no more, of days that others keep. @returns how much */
export async function removeOfDays(
  database: Database,
  now: number,
  days: number,
  { shortest, longest }: Kept,
): Promise<number> {
  if (shortest === longest) return 0
  const first = Math.floor(now / dayMs) - shortest
  let count = 0
  for (const day of await readDays(database)) {
    if (day <= first) count += (await database.query(removal(tableOf(day)), values(now, days))).length
  }
  return count
}
