import type { Log } from '../log.ts'
import type { AgeClock } from '../store/age-clock.ts'
import { isConnectionFailure, isRetryable } from '../store/connection.ts'
import type { Database, Transaction } from '../store/database.ts'
import { createLead } from '../store/lead.ts'
import { statement } from '../store/statement.ts'
import { writersBefore } from '../store/writers-before.ts'
import { createRetention } from './retention.ts'

/**
 * Takes over the events with `from < id <= to`, all of which are committed by now, in the transaction that moves the
 * horizon: what it writes is written once for each event. What must wait for the commit goes through `afterCommit`.
 */
export type HorizonConsumer = (tx: Transaction, from: number, to: number) => Promise<void>

export interface RelayOptions {
  readonly log: Log
  readonly ageClock: AgeClock
  /** How long events are kept, in seconds. */
  readonly retention: number
}

/**
 * Moves the horizon: the id up to which every event is committed, or never will be. One process does it at a time, by a
 * lock that its connection holds; when it stops, stands still or loses its connection, another takes over.
 */
export interface Relay {
  /** There is something new; it need not be waited for. */
  wake(): void
  onAdvance(consumer: HorizonConsumer): void
  start(): void
  /** Lets the step under way end, and gives the lead up. */
  stop(): Promise<void>
}

/** Any constant will do, as long as every version of the service uses the same. */
const lock = 7_206_951_005

const selectProgress = statement(`
  select pg_try_advisory_lock($1) as leads,
    (select id from event_horizon) as horizon,
    (select last_value - case when is_called then 0 else 1 end from event_ids) as "lastId"`)

const moveHorizon = statement(`
  update event_horizon
  set id = $2
  where id = $1
  returning id`)

/** How long to wait before the next look. */
const pauseMs = { busy: 40, idle: 250, following: 1000, failed: 1000 }
const settlingMs = 5
const retentionEveryMs = 60_000

interface Progress {
  readonly horizon: number
  readonly lastId: number
}

export function createRelay(database: Database, { log, ageClock, retention }: RelayOptions): Relay {
  // A step of the horizon is on the disk before anybody sees it: up to there ids of events are given out as cursors, and none of them may
  // be drawn again where the database itself crashes.
  const lead = createLead(database.openChannel('parley relay'), { lock, work: 'relay', log })
  const { channel } = lead
  const deleteOldEvents = createRetention(channel, retention)
  const consumers: HorizonConsumer[] = []
  let stopped = false
  let isAwake = false
  let isIdle = false
  let endPause: (() => void) | undefined
  let nextRetention = Number.NEGATIVE_INFINITY

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  /** Only who leads and has nothing to do is woken: news come by the thousand, and failures are not tried in a hurry. */
  const rest = async (ms: number) => {
    if (stopped || (isIdle && isAwake)) return
    await pause(ms)
  }

  /** @returns how long to wait before the next round */
  const round = async (): Promise<number> => {
    const progress = await lead.take<Progress>(selectProgress)
    if (progress === undefined) return pauseMs.following
    const { horizon, lastId } = progress
    const isNew = lastId > horizon
    if (isNew) {
      if (!(await waitUntilCommitted())) return 0
      await channel.interact(async (tx) => {
        const moved = await tx.query(moveHorizon, [horizon, lastId])
        if (moved.length === 0) throw new Error('another process has moved the event horizon')
        for (const consume of consumers) await consume(tx, horizon, lastId)
      })
    }
    // What is new does not wait for all that is old to be deleted.
    const isDue = performance.now() >= nextRetention
    const isLeft = isDue && (await deleteOldEvents(await ageClock.now()))
    if (isDue && !isLeft) nextRetention = performance.now() + retentionEveryMs
    return isNew || isLeft ? pauseMs.busy : pauseMs.idle
  }

  /** @returns false when stopped meanwhile */
  const waitUntilCommitted = async (): Promise<boolean> => {
    const writers = await writersBefore(channel, ['events'])
    while (!stopped) {
      if (await writers.areGone()) return true
      await pause(settlingMs)
    }
    return false
  }

  const tryRound = async (): Promise<number> => {
    try {
      return await round()
    } catch (error) {
      if (isRetryable(error)) return pauseMs.busy
      // While the database is away nothing happens that could be published.
      if (!isConnectionFailure(error)) log.error({ err: error }, 'the event horizon could not be moved')
      return pauseMs.failed
    }
  }
  const run = async () => {
    while (!stopped) {
      isAwake = false
      const ms = await tryRound()
      isIdle = ms === pauseMs.idle
      await rest(ms)
      isIdle = false
    }
    await lead.release()
  }

  let running: Promise<void> | undefined
  return {
    wake() {
      isAwake = true
      if (isIdle) endPause?.()
    },
    onAdvance: (consumer) => void consumers.push(consumer),
    start() {
      running ??= run()
    },
    async stop() {
      stopped = true
      endPause?.()
      await running
    },
  }
}
