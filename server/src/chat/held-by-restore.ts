import { nowMs } from '../store/clock.ts'
import type { Queryable } from '../store/database.ts'
import { statement } from '../store/statement.ts'

/**
 * What was due before the moment of a backup that was restored. Most of it has been sent since, by the service that was lost,
 * so nothing of it goes out by itself. It stands where it stood, pending, but without a time at which it is due: until an operator has it sent.
 */
export const heldKinds = ['webhooks', 'notifications', 'questions'] as const
export type HeldKind = (typeof heldKinds)[number]

/** `now`, `seconds`: SQL for a time at which it is due, and for when it came. */
interface HeldTable {
  readonly table: string
  readonly isPending: string
  readonly now: string
  readonly seconds: string
}

const heldTables = {
  // Deliveries to webhooks.
  webhooks: { table: 'webhook_deliveries', isPending: `status = 'pending'`, now: nowMs, seconds: 'created_at' },
  // Pushes, e-mails and SMS.
  notifications: {
    ...{ table: 'notification_days.waiting', isPending: `status = 'pending'` },
    ...{ now: nowMs, seconds: 'created_at / 1000' },
  },
  // What engines of moderation outside are to be asked about messages.
  questions: {
    ...{ table: 'message_moderation', isPending: 'questions is not null' },
    ...{ now: `${nowMs} / 1000`, seconds: 'created_at' },
  },
} as const satisfies Record<HeldKind, HeldTable>

const holds = Object.values(heldTables).map(({ table, isPending }) =>
  statement(`
  update ${table}
  set due_at = null
  where due_at is not null
  and ${isPending}`),
)

/** What was being sent and had never waited stands in the log. */
const holdFlights = statement(`
  with ended as (
    delete from notification_flights
    returning app_id, day, ids
  )
  update notification_deliveries d
  set day = 0,
    due_at = null
  from (
    select e.app_id, e.day, unnest(e.ids) as id
    from ended e
  ) x
  where d.app_id = x.app_id
  and d.day = x.day
  and d.id = x.id
  and d.status = 'pending'`)

const endLeases = statement(`
  update message_moderation
  set leased_until = null
  where leased_until is not null`)

/** Holds all that is due. For a restore, before anybody serves. */
export async function hold(on: Queryable): Promise<void> {
  for (const each of holds) await on.query(each)
  await on.query(holdFlights)
  await on.query(endLeases)
}

/** How much of a kind is held in an app, and since when it has waited at most, in epoch seconds. */
export interface Held {
  readonly app: string
  readonly kind: HeldKind
  readonly count: number
  readonly oldest: number
}

const selectHeld = statement(
  heldKinds
    .map(
      (kind) => `
  select a.name as app, '${kind}' as kind, count(*) as count, min(d.${heldTables[kind].seconds}) as oldest
  from ${heldTables[kind].table} d
  join apps a on a.app_id = d.app_id
  where d.due_at is null
  and d.${heldTables[kind].isPending}
  group by a.name`,
    )
    .join('\n  union all'),
)

/** What is held, by app and kind. It looks through what waits, and through the log of deliveries to webhooks. */
export async function readHeld(on: Queryable): Promise<Held[]> {
  return (await on.query<Held>(selectHeld)).sort((one, other) =>
    `${one.app} ${one.kind}`.localeCompare(`${other.app} ${other.kind}`),
  )
}

const selectRestored = statement('select held_until > 0 as "isRestored" from event_horizon')

/** How much is held in all, where this database was ever restored: else nothing is looked through. */
export async function countHeld(on: Queryable): Promise<number> {
  const [row] = await on.query<{ isRestored: boolean }>(selectRestored)
  if (row?.isRestored !== true) return 0
  return (await on.query<Held>(selectHeld)).reduce((sum, { count }) => sum + count, 0)
}

const atOnce = 2_000

/** A window of unread messages that was opened meanwhile takes the place of one that is held. */
const dropReplaced = statement(`
  delete from notification_days.waiting h
  using apps a, notification_days.waiting o
  where a.app_id = h.app_id
  and ($1::text is null or a.name = $1)
  and h.due_at is null
  and h.status = 'pending'
  and h.channel <> 'push'
  and o.app_id = h.app_id
  and o.uid = h.uid
  and o.channel = h.channel
  and o.conversation = h.conversation
  and o.id <> h.id
  and ((o.due_at is not null and o.closed_at is null) or (o.due_at is null and o.status = 'pending' and o.id < h.id))`)

const releases = Object.fromEntries(
  heldKinds.map((kind) => [
    kind,
    statement(`
  update ${heldTables[kind].table} d
  set due_at = ${heldTables[kind].now}
  where d.ctid in (
    select h.ctid
    from ${heldTables[kind].table} h
    join apps a on a.app_id = h.app_id
    where ($1::text is null or a.name = $1)
    and h.due_at is null
    and h.${heldTables[kind].isPending}
    limit ${atOnce}
  )
  returning d.app_id`),
  ]),
) as Readonly<Record<HeldKind, ReturnType<typeof statement>>>

/**
 * Has what is held sent after all; the service notices within some seconds. What is too old by then is not sent, as ever.
 * @param app undefined: of all apps
 * @returns how much there was
 */
export async function release(on: Queryable, kind: HeldKind, app: string | undefined): Promise<number> {
  if (kind === 'notifications') await on.query(dropReplaced, [app ?? null])
  let count = 0
  for (;;) {
    const released = await on.query(releases[kind], [app ?? null])
    count += released.length
    if (released.length < atOnce) return count
  }
}
