import { FairQueue, type FairQueueLimits } from './fair-queue.ts'
import { ReadAbandonedError, type Reader, ReadTimeoutError } from './reader.ts'

/** Runs work for readers, each in its turn. */
export interface Turns {
  /**
   * @param restAfter asked once it is over: milliseconds for which nothing more is begun for the reader
   * @throws ReadsFullError when too much waits already
   * @throws ReadTimeoutError when it has waited for too long
   * @throws ReadAbandonedError when the reader has gone before its turn came
   */
  run<Result>(reader: Reader, work: () => Promise<Result>, restAfter?: () => number): Promise<Result>
  readonly load: { readonly running: number; readonly waiting: number }
  /** Refuses all that waits. */
  refuse(error: Error): void
}

interface Job {
  /** Its turn has come. */
  start(): Promise<unknown>
  restAfter?: (() => number) | undefined
  isStarted: boolean
  /** Where it waits: no more. */
  stopWaiting?: () => void
  /** Where it waits: leaves the queue with an error. */
  giveUp?: (error: Error) => void
}

/**
 * @param name what runs: `list`
 * @param patienceMs how long something may wait for its turn; 0 for as long as it takes
 */
export function createTurns(name: string, limits: FairQueueLimits, patienceMs: number): Turns {
  const queue = new FairQueue<Job>(limits)
  const waiting = new Set<Job>()

  const pump = () => {
    for (let turn = queue.take(); turn !== undefined; turn = queue.take()) {
      const { job, end, rest } = turn
      job.isStarted = true
      job.stopWaiting?.()
      void job.start().then(() => {
        const restMs = job.restAfter?.() ?? 0
        if (restMs > 0) wakeAfter(restMs, rest())
        end()
        pump()
      })
    }
  }
  const wakeAfter = (ms: number, wake: () => void) => {
    const onRested = () => {
      wake()
      pump()
    }
    setTimeout(onRested, ms).unref()
  }
  const wait = (job: Job, { signal }: Reader, leave: () => void, reject: (error: Error) => void) => {
    const giveUp = (error: Error) => {
      leave()
      job.stopWaiting?.()
      reject(error)
    }
    const abandon = () => giveUp(new ReadAbandonedError())
    if (signal?.aborted === true) return abandon()
    const tooLong = () => giveUp(new ReadTimeoutError(name, patienceMs))
    const timer = patienceMs > 0 ? setTimeout(tooLong, patienceMs).unref() : undefined
    signal?.addEventListener('abort', abandon, { once: true })
    waiting.add(job)
    job.giveUp = giveUp
    job.stopWaiting = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abandon)
      waiting.delete(job)
    }
  }

  return {
    run(reader, work, restAfter) {
      return new Promise((resolve, reject) => {
        const job: Job = { isStarted: false, start: () => work().then(resolve, reject), restAfter }
        const leave = queue.add(reader, job)
        pump()
        if (!job.isStarted) wait(job, reader, leave, reject)
      })
    },
    load: queue,
    refuse(error) {
      for (const job of waiting) job.giveUp?.(error)
    },
  }
}
