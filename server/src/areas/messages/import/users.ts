import { plainArray, textArray } from '../../../store/arrays.ts'
import type { Channel } from '../../../store/channel.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { ImportRow } from './row.ts'

/** In the order of everybody who locks users. Whoever is erased at this moment is waited for, and is not among them then. */
const lock = statement(`
  select u.app_id as "appId", u.uid
  from (
    select distinct r.app_id, r.uid
    from unnest($1::int[], $2::text[]) as r(app_id, uid)
    order by r.app_id, r.uid
  ) w
  cross join lateral (
    select app_id, uid
    from users
    where app_id = w.app_id
    and uid = w.uid
    for key share
  ) u`)

/** Waits for nobody itself. Gives places, from 1. */
const findHeld = statement(`
  select w.n::int as place
  from unnest($1::int[], $2::text[]) with ordinality as w(app_id, uid, n)
  where exists (
    select
    from users u
    where u.app_id = w.app_id
    and u.uid = w.uid
    and not exists (
      select
      from (
        select v.uid
        from users v
        where v.app_id = u.app_id
        and v.uid = u.uid
        for key share skip locked
      ) free
    )
  )`)

interface NamedUser {
  readonly appId: number
  readonly uid: string
}

/** Who of those whom rows name is there, and held. */
export interface HeldUsers {
  has(appId: number, uid: string): boolean
  /** Whether all are there whom a row cannot do without. */
  admits(row: ImportRow): boolean
}

/**
 * Holds everybody whom rows name until the transaction ends, before it locks anything else: nobody erases them meanwhile, and
 * who was erased since the rows were admitted does not come back with them.
 */
export async function holdNamed(tx: Transaction, rows: readonly ImportRow[]): Promise<HeldUsers> {
  const found = await tx.query<NamedUser>(lock, columnsOf([...namedIn(rows).values()]))
  const present = new Set(found.map(nameOf))
  const has = (appId: number, uid: string) => present.has(nameOf({ appId, uid }))
  return { has, admits: (row) => uidsOf(row).every((uid) => has(row.appId, uid)) }
}

/** Whom of those that rows name somebody has locked, so that `holdNamed` would wait. @returns whether a row names one */
export async function findHeldNamed(
  channel: Channel,
  rows: readonly ImportRow[],
): Promise<(row: ImportRow) => boolean> {
  const named = [...namedIn(rows).values()]
  const { rows: places } = await channel.query({ ...findHeld, values: columnsOf(named) })
  const held = new Set(places.map(({ place }) => nameOf(named[place - 1] as NamedUser)))
  return (row) => held.size > 0 && everyoneIn(row).some((uid) => held.has(nameOf({ appId: row.appId, uid })))
}

function namedIn(rows: readonly ImportRow[]): ReadonlyMap<string, NamedUser> {
  const named = new Map<string, NamedUser>()
  for (const row of rows) {
    for (const uid of everyoneIn(row)) named.set(nameOf({ appId: row.appId, uid }), { appId: row.appId, uid })
  }
  return named
}

/** Sender, receiver, and who reacted or saved it: those without whom a record is not admitted. */
function uidsOf({ sender, kind, receiver, reactions, saves }: ImportRow): string[] {
  const uids = kind === 'user' ? [sender, receiver] : [sender]
  for (const { uid } of reactions) uids.push(uid)
  for (const { uid } of saves) uids.push(uid)
  return uids
}

function everyoneIn(row: ImportRow): string[] {
  return row.hands.length === 0 ? uidsOf(row) : [...uidsOf(row), ...row.hands]
}

function nameOf({ appId, uid }: NamedUser): string {
  return `${appId} ${uid}`
}

function columnsOf(named: readonly NamedUser[]) {
  return [plainArray(named.map(({ appId }) => appId)), textArray(named.map(({ uid }) => uid))]
}
