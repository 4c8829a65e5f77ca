import { randomUUID } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { AppSockets, Registry, UserSockets } from '../registry.ts'
import { type ConnectionInfo, keepNode, type PresenceChange, sweepExpired, writePresence } from './store.ts'

/** Writes who is connected to this process, transitions only, gathered for a second. */
export interface PresenceTracker {
  /** The first socket of a user was made, or the last one ended. */
  note(sockets: AppSockets, user: UserSockets, connection: ConnectionInfo): void
  start(): void
  /** Stops; those who are connected stay online for a while, in which they can connect elsewhere. */
  stop(): Promise<void>
}

export interface PresenceTimes {
  readonly gatherMs: number
  readonly beatMs: number
  /** After which a process that gives no sign of life counts as dead; with the time of a beat at most 30 s. */
  readonly expireMs: number
  /** How long the users of a process that stopped stay online at least, so that a restart is no coming and going. */
  readonly graceMs: number
}

/** Where many come back, the last of them are let in long after the first (../admission.ts). */
const mostGraceMs = 120_000

/** @param users who come back at the same time @param perSecond at which they are let in at least */
export function graceOf(users: number, perSecond: number, { graceMs }: Pick<PresenceTimes, 'graceMs'>): number {
  return Math.min(mostGraceMs, graceMs + Math.ceil(users / perSecond) * 1000)
}

const presenceTimes: PresenceTimes = { gatherMs: 1_000, beatMs: 5_000, expireMs: 20_000, graceMs: 10_000 }

const writtenAtOnce = 500

interface Noted {
  readonly sockets: AppSockets
  readonly user: UserSockets
  readonly connection: ConnectionInfo
}

const hasTurned = ({ isPresent, connections }: UserSockets) => isPresent !== connections.length > 0

export function createPresenceTracker(
  context: Context,
  registry: Registry,
  times: PresenceTimes = presenceTimes,
): PresenceTracker {
  const { database, log } = context
  const node = randomUUID()
  const noted = new Map<UserSockets, Noted>()
  let isKnown = false
  /** By the clock that nobody sets, and by the one that goes on while the machine sleeps. */
  let beatenAt = [performance.now(), Date.now()] as const
  /** Since when beats come in time, as `performance.now()` has it. */
  let steadySince = Number.NEGATIVE_INFINITY
  let work: Promise<void> = Promise.resolve()
  const waiting = new Set<string>()
  const timers: NodeJS.Timeout[] = []
  let stopping: Promise<void> | undefined

  /** One after the other; what fails is tried again with the next tick. */
  const run = (what: string, job: () => Promise<void>) => {
    if (waiting.has(what)) return
    waiting.add(what)
    work = work
      .then(() => {
        waiting.delete(what)
        return job()
      })
      .catch((error: Error) => log.warn({ cause: error.message }, `presence could not be ${what}`))
  }

  const keepAlive = async () => {
    const isNew = await keepNode(database, node, times.expireMs)
    // Taken for dead meanwhile: everybody is published anew, also whoever has left since. Others may have removed some, and not all.
    if (isNew && isKnown) noteEverybody()
    isKnown = true
  }

  const noteEverybody = () => {
    for (const sockets of registry.all()) {
      for (const user of sockets.users.values()) {
        user.isPresent = undefined
        noted.set(user, { sockets, user, connection: { deviceId: '', connectedAt: Date.now() } })
      }
    }
  }

  const write = async () => {
    const changed: Noted[] = []
    for (const entry of noted.values()) {
      if (hasTurned(entry.user)) changed.push(entry)
      else forget(entry)
    }
    if (changed.length === 0) return
    if (!isKnown) await keepAlive()
    for (let i = 0; i < changed.length; i += writtenAtOnce) {
      const some = changed.slice(i, i + writtenAtOnce)
      const changes = some.map(
        ({ sockets, user, connection }): PresenceChange => ({
          appId: sockets.app.appId,
          uid: user.uid,
          isHere: user.connections.length > 0,
          connection,
        }),
      )
      for (const { user } of some) noted.delete(user)
      let later: ReadonlySet<PresenceChange>
      try {
        later = await writePresence(context, node, changes)
      } catch (error) {
        for (const entry of some) if (!noted.has(entry.user)) noted.set(entry.user, entry)
        throw error
      }
      for (const [k, { sockets, user }] of some.entries()) {
        const change = changes[k] as PresenceChange
        if (!later.has(change)) user.isPresent = change.isHere
        // It is to be written later, or they came or went while it was written.
        if (hasTurned(user) && !noted.has(user)) noted.set(user, some[k] as Noted)
        sockets.release(user)
      }
    }
  }

  /** They came and went, or went and came, within the same second. */
  const forget = ({ sockets, user }: Noted) => {
    noted.delete(user)
    sockets.release(user)
  }

  /** Once, while everybody is still here. */
  const end = async () => {
    for (const timer of timers) clearInterval(timer)
    await work
    if (!isKnown || !context.monitor.available) return
    let users = 0
    for (const sockets of registry.all()) users += sockets.users.size
    const grace = graceOf(users, context.config.sockets.loginsPerSecond, times)
    await keepNode(database, node, grace).catch((error: Error) =>
      log.warn({ cause: error.message }, 'presence could not be kept'),
    )
  }

  /** After an outage everybody looks dead: others have two beats to show that they are not. */
  const isSteady = () => {
    const now = performance.now()
    const [last, lastTime] = beatenAt
    beatenAt = [now, Date.now()]
    if (Math.max(now - last, beatenAt[1] - lastTime) > 2 * times.beatMs) steadySince = now
    return now - steadySince >= 2 * times.beatMs
  }

  const sweep = async () => {
    const later: string[] = []
    for (;;) {
      const swept = await sweepExpired(context, later)
      if (swept === undefined) return
      if (swept.isHeldUp) later.push(swept.node)
    }
  }

  return {
    note(sockets, user, connection) {
      noted.set(user, { sockets, user, connection })
    },
    start() {
      const every = (ms: number, what: string, job: () => Promise<void>, isNeeded: () => boolean) =>
        timers.push(
          setInterval(() => {
            if (context.monitor.available && isNeeded()) run(what, job)
          }, ms).unref(),
        )
      every(times.gatherMs, 'written', write, () => noted.size > 0)
      every(
        times.beatMs,
        'kept',
        async () => {
          if (isKnown) await keepAlive()
          else await database.ping()
          if (isSteady()) await sweep()
        },
        () => true,
      )
    },
    stop() {
      stopping ??= end()
      return stopping
    },
  }
}
