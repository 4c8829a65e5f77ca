import { setTimeout as delay } from 'node:timers/promises'
import { createAttempts, type Standing } from './attempts.ts'
import { createBreaker } from './breaker.ts'
import { createDueWatch } from './due-watch.ts'
import type { Hand } from './hands.ts'
import type { Lease } from './lease.ts'
import type { Pace } from './pace.ts'
import type { AnyTarget, DueItem, Round } from './round.ts'
import type { Seats } from './seats.ts'

export interface DeliverOptions {
  readonly pace: Pace
  /** Between a first attempt and the next one. */
  readonly firstDelayMs: number
  /** The longest time for which an endpoint that fails is left alone; a minute without it. */
  readonly maxPauseMs?: number
  /** Deliveries that are read ahead at most. */
  readonly room: number
  /** Has what becomes due looked at as soon as this process knows of it. @returns ends that */
  readonly onDue?: (look: () => void) => () => void
  /** For those who wait for more once nothing is due: a job that begins anew costs more than looking ten times. */
  readonly seats?: Seats
  /** What became of attempts within so long is written together; 20 ms without it. */
  readonly resultsMs?: number
}

/** How long one endpoint may go on before others have their turn; it goes on behind them. */
const turnMs = 10_000
/** While attempts are under way, how often to look for more; with enough at hand, only for changes of the endpoint. */
const lookMs = 100
const lookWhenFullMs = 1_000
/** How long to wait for more. */
const lingerMs = 1_000
/** What becomes due within so long is read together: a look costs nearly the same for one delivery as for twenty. */
const gatherMs = 25
/**
 * Makes the deliveries of one endpoint while its lease is held, and gives that back in the end.
 * @throws Error a failure of ours: the lease is not given back then
 */
export async function deliver<
  Row,
  Target extends AnyTarget,
  Item extends DueItem,
  Result extends { readonly id: number },
>(
  { pace, room, firstDelayMs, maxPauseMs, onDue, seats, resultsMs }: DeliverOptions,
  round: Round<Row, Target, Item, Result>,
  lease: Lease<Row>,
  signal: AbortSignal,
): Promise<void> {
  const breaker = createBreaker(lease.health, firstDelayMs, maxPauseMs)
  const turnEnds = performance.now() + turnMs
  const standing: Standing<Target> = { target: undefined, putOffMs: 0, isOver: false, failure: undefined }
  const mustStop = () =>
    signal.aborted || standing.isOver || standing.putOffMs > 0 || breaker.pauseMs > 0 || performance.now() > turnEnds
  const attempts = createAttempts({ round, lease, breaker, pace, standing, resultsMs, mustStop })
  const { queue, underWay } = attempts
  const watch = createDueWatch(onDue)
  /** Nothing can be handed over any more. */
  let isClosed = false
  let endHanding: (() => void) | undefined
  let leave: (() => void) | undefined

  const roomNow = () => Math.min(room, standing.target?.room ?? room)
  /** With so many left it is time to read more: half of those that wait, so that none of those who send does. */
  const fewNow = () => {
    const atOnce = queue.width * queue.batch
    return standing.target?.room === undefined || atOnce >= roomNow() ? roomNow() / 2 : (atOnce + roomNow()) / 2
  }
  const hand: Hand<Item> = {
    holder: lease.holder,
    get room() {
      const isWell =
        !isClosed && breaker.health.failures === 0 && standing.target?.enabled === true && lease.isHeld && !mustStop()
      return isWell ? Math.max(0, roomNow() - queue.size) : 0
    },
    take(items) {
      if (!isClosed) attempts.add(items)
      return !isClosed
    },
  }
  try {
    endHanding = await round.begin?.(hand)
    if (await work()) return
  } catch (error) {
    standing.failure = error
  } finally {
    isClosed = true
    endHanding?.()
    watch.end()
    leave?.()
  }
  // Nothing may be under way when somebody else goes on.
  queue.clear()
  await queue.until(0)
  const written = attempts.flush()
  if (standing.failure !== undefined) {
    await written.catch(() => {})
    throw standing.failure
  }
  await written
  await round.end?.(standing.target, breaker.health)
  await lease.interrupt(Math.max(standing.putOffMs, breaker.pauseMs))

  /** Whether more is to be expected, and there is a seat. */
  function mayWait(): boolean {
    if (performance.now() - attempts.wereDueAt >= lingerMs) return false
    leave ??= seats?.take()
    return leave !== undefined
  }

  /** @returns whether nothing was left to do, and the lease is given back */
  async function work(): Promise<boolean> {
    for (let looksAt = 0; ; ) {
      const early = looksAt - performance.now()
      if (early > 0) await delay(early)
      looksAt = performance.now() + gatherMs
      watch.reset()
      const now = await lease.look()
      const target = now && round.open(now)
      standing.target = target
      if (now === undefined || !target?.enabled || mustStop()) return false
      queue.width = breaker.isProbing ? 1 : target.width
      queue.batch = target.batch ?? 1

      const limit = (breaker.isProbing ? 1 : roomNow()) - queue.size
      const due = limit <= 0 ? [] : await round.read(target, { except: [...underWay], limit })
      attempts.add(due)
      const isIdle = due.length === 0 && queue.size === 0
      if (isIdle) await attempts.flush()
      // What became of the last attempt may have been heard meanwhile.
      if (mustStop()) return false
      // Something may have been handed over meanwhile. From here on it cannot be, until the lease turns out to be kept.
      if (isIdle && underWay.size === 0 && !mayWait()) {
        isClosed = true
        if (await lease.release(now.asked)) return true
        isClosed = false
        continue
      }
      const isFull = due.length >= limit
      if (watch.isNew && !isFull) continue
      await pause(isIdle, isFull)
    }
  }

  /** Until it is time to look again. @param isFull there is enough at hand: what is new has to wait */
  async function pause(isIdle: boolean, isFull: boolean): Promise<void> {
    // Whoever is notified of what becomes due need not look for it just because all at hand is done.
    const isNotified = isIdle || (watch.isNotified && !isFull)
    const isEnough = isNotified ? undefined : queue.until(isFull && !breaker.isProbing ? fewNow() : 0)
    await watch.pause(isFull ? lookWhenFullMs : lookMs, !isFull, isEnough)
  }
}
