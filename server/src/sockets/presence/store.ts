import type { Context } from '../../context.ts'
import type { ConnectionChanged } from '../../events/types.ts'
import { isTooFar, nowMs } from '../../store/clock.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** The socket that a user came with. */
export type ConnectionInfo = Omit<ConnectionChanged['connection'], 'action'>

/** A user whose first socket in a process was made, or whose last one ended. */
export interface PresenceChange {
  readonly appId: number
  readonly uid: string
  readonly isHere: boolean
  readonly connection: ConnectionInfo
}

/**
 * Those of some users who are there, and whether they are locked now. Nobody else's lock is waited for: whoever has that
 * user (an erasure) may have them for long, and the others would wait with them.
 */
const lockUsers = statement(`
  with changed as (
    select c.app_id, c.uid
    from unnest($1::int[], $2::text[]) as c(app_id, uid)
  ),
  locked as materialized (
    select u.app_id, u.uid, u.deactivated_at is null as active
    from users u
    where (u.app_id, u.uid) in (select app_id, uid from changed)
    order by u.app_id, u.uid
    for no key update of u skip locked
  )
  select u.app_id as "appId", u.uid, l.uid is not null as "isLocked", coalesce(l.active, false) as active
  from users u
  left join locked l on l.app_id = u.app_id and l.uid = u.uid
  where (u.app_id, u.uid) in (select app_id, uid from changed)`)

const insert = statement(`
  insert into presence (app_id, uid, node, connection)
  select c.app_id, c.uid, $4, c.connection::json
  from unnest($1::int[], $2::text[], $3::text[]) as c(app_id, uid, connection)
  on conflict (app_id, uid, node) do update set connection = excluded.connection`)

const remove = statement(`
  delete from presence p
  using unnest($1::int[], $2::text[]) as c(app_id, uid)
  where p.app_id = c.app_id
  and p.uid = c.uid
  and p.node = $3`)

/** Users who are connected nowhere any more, or for the first time anywhere. */
const turn = statement(`
  update users u
  set online = now.online,
    last_active_at = $3
  from (
    select c.app_id, c.uid,
      exists (select from presence p where p.app_id = c.app_id and p.uid = c.uid) as online
    from unnest($1::int[], $2::text[]) as c(app_id, uid)
  ) now
  where u.app_id = now.app_id
  and u.uid = now.uid
  and u.online <> now.online
  returning u.app_id as "appId", u.uid, u.online`)

interface Turned {
  readonly appId: number
  readonly uid: string
  readonly online: boolean
}

/** Nobody takes the node for dead until the transaction ends, so that nothing is written that nobody would sweep. */
const holdNode = statement(`
  select id
  from presence_nodes
  where id = $1
  for key share`)

/**
 * Writes who came to a node and who left it, and raises an event for each user whose status turned by that.
 * @returns changes that are to be written later, since somebody else has the user locked
 * @throws Error when the node was taken for dead; with its next sign of life everybody is written anew
 */
export async function writePresence(
  { database, events }: Pick<Context, 'database' | 'events'>,
  node: string,
  changes: readonly PresenceChange[],
): Promise<ReadonlySet<PresenceChange>> {
  return database.transaction(async (tx) => {
    const held = await tx.query(holdNode, [node])
    if (held.length === 0) throw new Error('this process was taken for dead')
    return writeChanges(tx, events, node, changes)
  })
}

/** @returns as `writePresence` */
async function writeChanges(
  tx: Transaction,
  events: Context['events'],
  node: string,
  changes: readonly PresenceChange[],
): Promise<ReadonlySet<PresenceChange>> {
  const at = Date.now()
  const rows = await tx.query<FoundUser>(lockUsers, columnsOf(changes))
  const found = new Map(rows.map((row) => [`${row.appId} ${row.uid}`, row]))
  const userOf = ({ appId, uid }: PresenceChange) => found.get(`${appId} ${uid}`)
  const later = new Set(changes.filter((change) => userOf(change)?.isLocked === false))
  const now = changes.filter((change) => !later.has(change))
  const known = now.filter((change) => userOf(change) !== undefined)
  const come = known.filter((change) => change.isHere && userOf(change)?.active === true)
  const gone = now.filter(({ isHere }) => !isHere)
  const connections = come.map(({ connection }) => JSON.stringify(connection))
  if (come.length > 0) await tx.query(insert, [...columnsOf(come), connections, node])
  if (gone.length > 0) await tx.query(remove, [...columnsOf(gone), node])
  const turned = await tx.query<Turned>(turn, [...columnsOf(known), Math.floor(at / 1000)])
  const infos = new Map(known.map(({ appId, uid, connection }) => [`${appId} ${uid}`, connection]))
  for (const [appId, users] of groupByApp(turned)) {
    await events.raise(
      tx,
      appId,
      users.map(({ uid, online }) => eventOf(uid, online, infos.get(`${appId} ${uid}`), at)),
    )
  }
  // Of whoever was removed for good the log has nothing. Those who are connected hear that they went.
  const removed = gone.filter((change) => userOf(change) === undefined)
  for (const { appId, uid, connection } of removed) {
    tx.afterCommit(() => events.publish(appId, eventOf(uid, false, connection, at)))
  }
  return later
}

interface FoundUser {
  readonly appId: number
  readonly uid: string
  readonly isLocked: boolean
  readonly active: boolean
}

function columnsOf(changes: ReadonlyArray<{ appId: number; uid: string }>): [number[], string[]] {
  return [changes.map(({ appId }) => appId), changes.map(({ uid }) => uid)]
}

function groupByApp(turned: readonly Turned[]): Map<number, Turned[]> {
  const byApp = new Map<number, Turned[]>()
  for (const user of turned) {
    const users = byApp.get(user.appId)
    if (users === undefined) byApp.set(user.appId, [user])
    else users.push(user)
  }
  return byApp
}

function eventOf(
  uid: string,
  isOnline: boolean,
  info: ConnectionInfo | undefined,
  timestamp: number,
): ConnectionChanged {
  const connection = info ?? { deviceId: '', connectedAt: timestamp }
  return {
    trigger: 'user_connection_status_changed',
    uid,
    status: isOnline ? 'online' : 'offline',
    timestamp,
    connection: { action: isOnline ? 'connected' : 'disconnected', ...connection },
  }
}

/** Waits for whoever sweeps it at this moment. */
const beat = statement(`
  with before as materialized (
    select expires_at
    from presence_nodes
    where id = $1
    for no key update
  )
  insert into presence_nodes (id, expires_at)
  select $1, ${nowMs} + $2
  from (select count(*) from before) found
  on conflict (id) do update set expires_at = excluded.expires_at
  returning not exists (
    select from before
    where expires_at >= ${nowMs}
  ) as "isNew"`)

/**
 * Keeps a node alive for so many milliseconds more.
 * @returns whether it was unknown, or was taken for dead: then it is not known who is connected to it, since another process may
 *   have swept some of them
 */
export async function keepNode(database: Database, node: string, forMs: number): Promise<boolean> {
  const [row] = await database.query<{ isNew: boolean }>(beat, [node, forMs])
  return row?.isNew === true
}

/** By one process at a time; another takes another node. */
const lockExpired = statement(`
  select id
  from presence_nodes
  where (expires_at < ${nowMs} or ${isTooFar('expires_at', 0)})
  and id <> all($1::text[])
  order by id
  limit 1
  for update skip locked`)

const selectLeft = statement(`
  select p.app_id as "appId", p.uid, p.connection
  from presence p
  where p.node = $1
  order by p.app_id, p.uid
  limit $2`)

const removeNode = statement(`
  delete from presence_nodes
  where id = $1`)

const sweptAtOnce = 500

/**
 * Takes some of the users of a process that died offline.
 * @param but nodes that have their turn later
 * @returns the node, and whether all that is left of it are users whom somebody else has locked; nothing where none has died
 */
export async function sweepExpired(
  { database, events }: Pick<Context, 'database' | 'events'>,
  but: readonly string[],
): Promise<{ node: string; isHeldUp: boolean } | undefined> {
  return database.transaction(async (tx) => {
    const [node] = await tx.query<{ id: string }>(lockExpired, [but])
    if (node === undefined) return undefined
    const left = await tx.query<Omit<PresenceChange, 'isHere'>>(selectLeft, [node.id, sweptAtOnce])
    const isAll = left.length < sweptAtOnce
    const changes = left.map((user) => ({ ...user, isHere: false }))
    const later = changes.length > 0 ? await writeChanges(tx, events, node.id, changes) : new Set()
    if (isAll && later.size === 0) await tx.query(removeNode, [node.id])
    return { node: node.id, isHeldUp: later.size > 0 && (isAll || later.size === left.length) }
  })
}
