import { setImmediate as turn } from 'node:timers/promises'
import type { SocketUser } from '@parley/contract'
import { readUsers, type UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { ConnectionChanged } from '../../events/types.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import { statement } from '../../store/statement.ts'
import { areApart, type BlocksOf, readBlocks } from '../blocks.ts'
import type { Connection } from '../connection.ts'
import { encodeFrame } from '../frames.ts'
import type { AppSockets } from '../registry.ts'
import { showSummary } from '../user-summaries.ts'

/**
 * Publishes who came and went. Changes gather, the last one of each user counts, and each socket gets a tick's changes in one
 * write. What one tick may cost is bounded, so that a thousand users who come back at once are published over some seconds
 * rather than in a million frames.
 */
export interface PresenceFanout {
  add(sockets: AppSockets, event: ConnectionChanged): void
  stop(): void
}

/** Frames in one tick, over all sockets of an app. */
const framesPerTick = 20_000
/** Changes that one socket gets in one tick. */
const changesPerTick = 100
/** Changes that wait in one app; of more, the oldest are not published. Lists show them all the same. */
const maxWaiting = 50_000
/** Sockets that are written to before others have their turn. */
const writesAtOnce = 100
/** Changes that one process writes at once come within this. */
const gatherMs = 20

const selectFriends = statement(`
  select uid, friend
  from friends
  where app_id = $1
  and uid = any($2::text[])`)

/** A change of one user, ready to be published. */
interface EncodedChange {
  readonly uid: string
  /** Of whoever is removed for good neither it nor their friends are known any more: only who watches everybody hears of them. */
  readonly role: string | undefined
  readonly encoded: Buffer
  readonly blocks: BlocksOf | undefined
  readonly friends: ReadonlySet<string> | undefined
}

export function createPresenceFanout(context: Context, tickMs = 1_000): PresenceFanout {
  const waiting = new Map<AppSockets, Map<string, ConnectionChanged>>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let lastTick = 0

  const tick = async () => {
    lastTick = performance.now()
    // Nothing can be asked of the database meanwhile: what waits is published once it is back.
    if (context.monitor.available) await publishSome()
    timer = undefined
    if (waiting.size > 0) schedule()
  }

  const publishSome = async () => {
    for (const [sockets, changes] of waiting) {
      const some = takeSome(sockets, changes)
      try {
        if (some.length > 0) await publishChanges(context, sockets, some)
      } catch (error) {
        context.log.warn({ cause: (error as Error).message }, 'presence could not be sent over sockets')
        if (isConnectionFailure(error)) putBack(changes, some)
      }
      if (changes.size === 0) waiting.delete(sockets)
    }
  }

  /** What was published a moment ago goes along; then it is a while before the next. */
  const schedule = () => {
    if (isStopped || timer !== undefined) return
    timer = setTimeout(() => void tick(), Math.max(gatherMs, lastTick + tickMs - performance.now())).unref()
  }

  return {
    add(sockets, event) {
      if (sockets.watchers.all.size + sockets.watchers.some.size === 0) return
      const changes = waiting.get(sockets) ?? new Map<string, ConnectionChanged>()
      waiting.set(sockets, changes)
      changes.delete(event.uid)
      changes.set(event.uid, event)
      if (changes.size > maxWaiting) changes.delete(changes.keys().next().value as string)
      schedule()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function takeSome({ watchers }: AppSockets, changes: Map<string, ConnectionChanged>): ConnectionChanged[] {
  const listeners = watchers.all.size + watchers.some.size
  const most = Math.max(1, Math.min(changesPerTick, Math.floor(framesPerTick / Math.max(1, listeners))))
  const taken: ConnectionChanged[] = []
  for (const [uid, change] of changes) {
    if (taken.length === most) break
    taken.push(change)
    changes.delete(uid)
  }
  return taken
}

/** The next tick publishes them, but of whom something newer has come meanwhile. */
function putBack(changes: Map<string, ConnectionChanged>, taken: readonly ConnectionChanged[]): void {
  for (const change of taken) {
    if (changes.size < maxWaiting && !changes.has(change.uid)) changes.set(change.uid, change)
  }
}

async function publishChanges(
  { database, fileLinks }: Context,
  sockets: AppSockets,
  changes: readonly ConnectionChanged[],
): Promise<void> {
  const { app, watchers } = sockets
  const uids = changes.map(({ uid }) => uid)
  const [users, blocks, friends] = await Promise.all([
    readUsers(database, app.appId, uids),
    readBlocks(database, app.appId, uids),
    watchers.some.size === 0 ? [] : database.query<{ uid: string; friend: string }>(selectFriends, [app.appId, uids]),
  ])
  const friendsOf = new Map<string, Set<string>>()
  for (const { uid, friend } of friends) friendsOf.set(uid, (friendsOf.get(uid) ?? new Set()).add(friend))
  const known = changes.flatMap((change) => {
    const row = users.get(change.uid)
    // Whoever was removed for good went for everybody; nobody comes without being there.
    if (row === undefined && change.status === 'online') return []
    return [{ uid: change.uid, role: row?.role, frame: presenceFrame(app.name, change, row) }]
  })
  const frames = await fileLinks.inValue(
    app,
    known.map(({ frame }) => frame),
  )
  const encodedChanges = known.map(({ uid, role }, i): EncodedChange => {
    const encoded = encodeFrame(frames[i] as object)
    return { uid, role, encoded, blocks: blocks.get(uid), friends: friendsOf.get(uid) }
  })
  const everything = Buffer.concat(encodedChanges.map(({ encoded }) => encoded))
  const changed = new Set(uids)
  // Users affected by blocks, or by their own change, get a batch of their own.
  const concerned = new Set(
    encodedChanges.flatMap(({ blocks }) => (blocks ? [...blocks.blocked, ...blocks.blockers] : [])),
  )
  await inSlices([...watchers.all], (connection) => {
    const uid = connection.login?.uid ?? ''
    if (!changed.has(uid) && !concerned.has(uid)) connection.send(everything)
    else sendSome(connection, encodedChanges)
  })
  await inSlices([...watchers.some], (connection) => sendSome(connection, encodedChanges))
}

/** A write takes some microseconds; thousands in a row would hold up everybody else. */
async function inSlices(connections: readonly Connection[], send: (connection: Connection) => void): Promise<void> {
  for (let from = 0; from < connections.length; from += writesAtOnce) {
    if (from > 0) await turn()
    for (const connection of connections.slice(from, from + writesAtOnce)) send(connection)
  }
}

function sendSome(connection: Connection, encodedChanges: readonly EncodedChange[]): void {
  const some = encodedChanges.filter((change) => mayHear(connection, change)).map(({ encoded }) => encoded)
  if (some.length > 0) connection.send(Buffer.concat(some))
}

function mayHear({ login }: Connection, { uid, role, blocks, friends }: EncodedChange): boolean {
  if (login?.watch === undefined || login.uid === uid) return false
  if (blocks !== undefined && areApart(blocks, login.uid)) return false
  const { friendsOnly, roles } = login.watch
  return (
    (!friendsOnly || friends?.has(login.uid) === true) &&
    (roles === null || (role !== undefined && roles.includes(role)))
  )
}

function presenceFrame(appName: string, change: ConnectionChanged, row: UserRow | undefined): object {
  const user: SocketUser = {
    ...showSummary(change.uid, row),
    status: change.status === 'online' ? 'available' : 'offline',
  }
  return {
    appId: appName,
    type: 'presence',
    sender: change.uid,
    body: { action: change.status, user, timestamp: Math.floor(change.timestamp / 1000) },
  }
}
