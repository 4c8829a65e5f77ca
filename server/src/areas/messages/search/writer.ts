import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../../log.ts'
import { isConnectionFailure, isLockTimeout, isRetryable } from '../../../store/connection.ts'
import type { Database } from '../../../store/database.ts'
import { createLead } from '../../../store/lead.ts'
import { addNextEntries } from './entries.ts'
import { createCommitWatch, lock, type Progress, selectProgress } from './progress.ts'

/** Fills the search index behind the sends, as one of however many processes there are. */
export interface SearchWriter {
  start(): void
  /** Lets the batch under way end, and begins no other. */
  stop(): Promise<void>
}

/**
 * Whoever changes a message at the same time may have to wait for a batch, and a batch for them: the batch gives way. What
 * it writes can be made again from the messages, so nobody waits for the disk.
 */
const settings = `
  set synchronous_commit = off;
  set lock_timeout = '200ms';
  set plan_cache_mode = force_generic_plan;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  set enable_seqscan = off;
  set jit = off`

/**
 * How long to wait for more, after a batch and when there was nothing. Few large batches cost less than many small ones;
 * what waits is searched by id meanwhile.
 */
const pauseMs = { busy: 200, idle: 200, failed: 1000 }
/**
 * Behind an import it rests so many times as long as it worked: long while this process has its hands full, so that it
 * takes little from who is served; briefly when the import is over, so that it catches up.
 */
const restTimes = { busy: 8, free: 0.25 }
/** How much of its time a process that is busy is at work. */
const busyShare = 0.6

export function createSearchWriter(database: Database, log: Log): SearchWriter {
  const opened = database.openChannel('parley search writer', settings, false, true)
  const lead = createLead(opened, { lock, work: 'search index', log })
  const { channel } = lead
  const stopping = new AbortController()
  let commitWatch = createCommitWatch(channel)
  let measured = performance.eventLoopUtilization()

  const isBusy = (): boolean => {
    const before = measured
    measured = performance.eventLoopUtilization()
    return performance.eventLoopUtilization(measured, before).utilization > busyShare
  }

  /** @returns how long to wait before the next one */
  const round = async (): Promise<number> => {
    const startedAt = performance.now()
    const progress = await lead.take<Progress>(selectProgress)
    if (progress === undefined) return pauseMs.failed
    const visibleUpTo = await commitWatch.look(progress)
    const indexedId = await addNextEntries(channel, progress.indexedId, visibleUpTo)
    const rest = isBusy() ? restTimes.busy : restTimes.free
    if (indexedId < visibleUpTo) return (performance.now() - startedAt) * rest
    return indexedId < progress.lastId || indexedId > progress.indexedId ? pauseMs.busy : pauseMs.idle
  }
  const tryRound = async (): Promise<number> => {
    try {
      return await round()
    } catch (error) {
      if (isRetryable(error) || isLockTimeout(error)) return pauseMs.busy
      // While the database is away searches are refused like everything else.
      if (!isConnectionFailure(error)) log.error({ err: error }, 'the search index could not be filled')
      commitWatch = createCommitWatch(channel)
      return pauseMs.failed
    }
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      const pause = await tryRound()
      const resting = delay(pause, undefined, { ref: false, signal: stopping.signal })
      await lead.during(resting).catch(() => {})
    }
    await lead.release()
  }

  let running: Promise<void> | undefined
  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
