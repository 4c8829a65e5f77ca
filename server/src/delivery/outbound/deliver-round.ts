import { setTimeout as delay } from 'node:timers/promises'
import { createBreaker } from './breaker.ts'
import { createKeyedQueue } from './keyed-queue.ts'
import type { Lease } from './lease.ts'
import type { Pace } from './pace.ts'
import { createResultWriter } from './result-writer.ts'
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
 * Attempts whose outcome is not written, as while the disk is slow: with so many, none begins. Where the process is killed, these are made
 * again, beside those under way.
 */
export const mostUnwritten = 200

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
  /** Read, and what became of it is not written yet. */
  const underWay = new Set<number>()
  /** As it was when last looked at. */
  let target: Target | undefined
  let putOffMs = 0
  let isOver = false
  let failure: unknown
  let writtenHealth = lease.health
  let waiting: AbortController | undefined
  let isNewDue = false
  let wasDueAt = Number.NEGATIVE_INFINITY
  let leave: (() => void) | undefined
  const endListening = onDue?.(() => {
    isNewDue = true
    waiting?.abort()
  })

  const fail = (error: unknown) => {
    failure ??= error
    isOver = true
  }
  const write = async (batch: readonly Result[]) => {
    await round.write(batch)
    for (const { id } of batch) underWay.delete(id)
    const { health } = breaker
    if (health.failures === writtenHealth.failures && health.failingSince === writtenHealth.failingSince) return
    await lease.writeHealth(health)
    writtenHealth = health
  }
  const results = createResultWriter<Result>(
    async (batch) => {
      try {
        await write(batch)
      } catch (error) {
        // Nothing else is written either: whatever was attempted now would be attempted again.
        fail(error)
        throw error
      }
    },
    { batchMs: resultsMs, enough: mostUnwritten / 2 },
  )
  const roomNow = () => Math.min(room, target?.room ?? room)
  /** With so many left it is time to read more: half of those that wait, so that none of those who send does. */
  const fewNow = () => {
    const atOnce = queue.width * queue.batch
    return target?.room === undefined || atOnce >= roomNow() ? roomNow() / 2 : (atOnce + roomNow()) / 2
  }
  const mustStop = () => signal.aborted || isOver || putOffMs > 0 || breaker.pauseMs > 0 || performance.now() > turnEnds

  const queue = createKeyedQueue<Item>(1, async (items) => {
    const to = target
    const turn = mustStop() ? undefined : pace.turn()
    if (turn !== undefined) await turn
    const writing = mustStop() ? undefined : results.room(to?.unwritten ?? mostUnwritten)
    if (writing !== undefined) await writing
    if (mustStop() || !lease.isHeld || !to?.enabled) {
      // What is left out is read again by whoever goes on, so this one ends, also where an endpoint turns out to be well after all.
      isOver = true
      return
    }
    try {
      const { results: made, worked, putOffMs: askedMs = 0, isLast = false } = await round.attempt(to, items)
      for (const result of made) results.add(result)
      putOffMs = Math.max(putOffMs, askedMs)
      isOver ||= isLast
      if (worked === true) {
        const isBack = breaker.isProbing
        breaker.succeeded()
        queue.width = to.width
        if (isBack) await round.recover?.()
      } else if (worked === false && breaker.pauseMs === 0) {
        // What was under way already when it was to be left alone says nothing new: the pause would be as long as after many probes.
        breaker.failed()
      }
    } catch (error) {
      fail(error)
    }
  })

  const add = (items: readonly Item[]) => {
    for (const item of items) {
      underWay.add(item.id)
      queue.add(item, item.chain)
    }
    if (items.length > 0) wasDueAt = performance.now()
  }
  /** Nothing can be handed over any more. */
  let isClosed = false
  let endHanding: (() => void) | undefined
  try {
    endHanding = await round.begin?.({
      holder: lease.holder,
      get room() {
        const isWell =
          !isClosed && breaker.health.failures === 0 && target?.enabled === true && lease.isHeld && !mustStop()
        return isWell ? Math.max(0, roomNow() - queue.size) : 0
      },
      take(items) {
        if (!isClosed) add(items)
        return !isClosed
      },
    })
    if (await work()) return
  } catch (error) {
    failure = error
  } finally {
    isClosed = true
    endHanding?.()
    endListening?.()
    leave?.()
  }
  // Nothing may be under way when somebody else goes on.
  queue.clear()
  await queue.until(0)
  const written = results.flush()
  if (failure !== undefined) {
    await written.catch(() => {})
    throw failure
  }
  await written
  await round.end?.(target, breaker.health)
  await lease.interrupt(Math.max(putOffMs, breaker.pauseMs))

  /** Whether more is to be expected, and there is a seat. */
  function mayWait(): boolean {
    if (performance.now() - wasDueAt >= lingerMs) return false
    leave ??= seats?.take()
    return leave !== undefined
  }

  /** @returns whether nothing was left to do, and the lease is given back */
  async function work(): Promise<boolean> {
    for (let looksAt = 0; ; ) {
      const early = looksAt - performance.now()
      if (early > 0) await delay(early)
      looksAt = performance.now() + gatherMs
      isNewDue = false
      const now = await lease.look()
      target = now && round.open(now)
      if (now === undefined || !target?.enabled || mustStop()) return false
      queue.width = breaker.isProbing ? 1 : target.width
      queue.batch = target.batch ?? 1

      const limit = (breaker.isProbing ? 1 : roomNow()) - queue.size
      const due = limit <= 0 ? [] : await round.read(target, { except: [...underWay], limit })
      add(due)
      const isIdle = due.length === 0 && queue.size === 0
      if (isIdle) await results.flush()
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
      if (isNewDue && !isFull) continue
      const pause = new AbortController()
      // What is new has to wait where there is enough at hand.
      waiting = isFull ? undefined : pause
      const looking = delay(isFull ? lookWhenFullMs : lookMs, undefined, { signal: pause.signal }).catch(() => {})
      // Whoever is told of what becomes due need not look for it just because all at hand is done.
      const isTold = isIdle || (onDue !== undefined && !isFull)
      const isEnough = isTold ? undefined : queue.until(isFull && !breaker.isProbing ? fewNow() : 0)
      await (isEnough === undefined ? looking : Promise.race([isEnough, looking]))
      waiting = undefined
      pause.abort()
    }
  }
}
