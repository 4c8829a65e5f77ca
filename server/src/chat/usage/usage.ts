import { randomUUID } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { Log } from '../../log.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { createActiveUsers } from './active-users.ts'
import { addUp } from './add-up.ts'
import { createSharedClock, dayMs } from './clock.ts'
import { createMessageCounts } from './message-counts.ts'
import { createUsageMetrics } from './prometheus.ts'
import { createSocketCounts } from './socket-counts.ts'

/** The sockets of one app in this process. */
export interface OpenSockets {
  readonly appId: number
  readonly open: number
  readonly uids: () => Iterable<string>
}

/** Counts how much apps are used. What happens is counted in memory, and written every few seconds. */
export interface Usage {
  /** Somebody sent a message; actions are none. */
  sent(appId: number): void
  /** Marks of a user rose. */
  received(appId: number, rose: { readonly delivered: boolean; readonly read: boolean }): void
  /** A user called with a token of their own, or logged in to a socket. */
  active(appId: number, uid: string): void
  /** Once a second: which sockets are open. Their users are active on every day on which they are. */
  sample(sockets: Iterable<OpenSockets>): void
  /** Writes now what was counted, so that whoever asks this process sees it. @throws when the database is away */
  write(): Promise<void>
  start(): void
  stop(): Promise<void>
}

const writeEveryMs = 2_000
const addUpEveryMs = 60_000

export function createUsage(database: Database, log: Log, registry: Registry, ageClock: AgeClock): Usage {
  const process = randomUUID()
  const clock = createSharedClock()
  const messages = createMessageCounts(clock, process)
  const sockets = createSocketCounts(clock, process)
  const users = createActiveUsers(clock)
  const metrics = createUsageMetrics(registry, database)
  let sampledDay: number | undefined
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let adding: NodeJS.Timeout | undefined
  let stopped = false

  const writeAll = async () => {
    await messages.write(database)
    await users.write(database)
    await sockets.write(database)
  }
  const write = () => {
    writing = writing.catch(() => {}).then(writeAll)
    return writing
  }
  const tryTo = async (what: () => Promise<void>) => {
    try {
      await what()
    } catch (error) {
      // What could not be written is kept, and written later.
      if (!isConnectionFailure(error)) log.warn({ err: error }, 'usage could not be counted')
    }
  }
  const addUpOld = async () => addUp(database, await ageClock.now())
  const round = () =>
    tryTo(async () => {
      await clock.adjust(database)
      await write()
    }).then(() => {
      if (!stopped) timer = setTimeout(round, writeEveryMs).unref()
    })

  return {
    sent(appId) {
      messages.sent(appId)
      metrics.sent.inc()
    },
    received(appId, rose) {
      messages.received(appId, rose)
      if (rose.delivered) metrics.receipts.inc({ receipt: 'delivered' })
      if (rose.read) metrics.receipts.inc({ receipt: 'read' })
    },
    active: users.note,
    sample(all) {
      const day = Math.floor(clock.now() / dayMs)
      const isNewDay = day !== sampledDay
      sampledDay = day
      for (const { appId, open, uids } of all) {
        sockets.sample(appId, open)
        if (isNewDay) for (const uid of uids()) users.note(appId, uid)
      }
    },
    write,
    start() {
      timer = setTimeout(round, 0).unref()
      // Not all processes at once.
      adding = setInterval(() => void tryTo(addUpOld), addUpEveryMs * (0.7 + Math.random() * 0.6)).unref()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      clearInterval(adding)
      await tryTo(write)
    },
  }
}
