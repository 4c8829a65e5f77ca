import type { Breaker } from './breaker.ts'
import { createKeyedQueue, type KeyedQueue, type Some } from './keyed-queue.ts'
import type { Lease } from './lease.ts'
import type { Pace } from './pace.ts'
import { createResultWriter } from './result-writer.ts'
import type { AnyTarget, DueItem, Round } from './round.ts'

/** How a round stands. */
export interface Standing<Target> {
  /** The endpoint as it was when last looked at. */
  target: Target | undefined
  /** For how long the endpoint asks to be left alone. */
  putOffMs: number
  /** Nothing begins any more. */
  isOver: boolean
  failure: unknown
}

/** The attempts of a round, and what becomes of them. */
export interface Attempts<Item> {
  readonly queue: KeyedQueue<Item>
  /** Read, and what became of it is not written yet. */
  readonly underWay: ReadonlySet<number>
  /** When something was due last, as `performance.now()` has it. */
  readonly wereDueAt: number
  add(items: readonly Item[]): void
  /** Writes what became of those that are done. @throws what went wrong with writing, also earlier */
  flush(): Promise<void>
}

export interface AttemptsParts<Row, Target extends AnyTarget, Item extends DueItem, Result> {
  readonly round: Round<Row, Target, Item, Result>
  readonly lease: Lease<Row>
  readonly breaker: Breaker
  readonly pace: Pace
  readonly standing: Standing<Target>
  /** What became of attempts within so long is written together. */
  readonly resultsMs: number | undefined
  mustStop(): boolean
}

/**
 * Attempts whose outcome is not written, as while the disk is slow: with so many, none begins. Where the process is killed, these are made
 * again, beside those under way.
 */
export const mostUnwritten = 200

export function createAttempts<
  Row,
  Target extends AnyTarget,
  Item extends DueItem,
  Result extends { readonly id: number },
>(parts: AttemptsParts<Row, Target, Item, Result>): Attempts<Item> {
  const { round, lease, breaker, pace, standing, resultsMs, mustStop } = parts
  const underWay = new Set<number>()
  let writtenHealth = lease.health
  let wereDueAt = Number.NEGATIVE_INFINITY

  const fail = (error: unknown) => {
    standing.failure ??= error
    standing.isOver = true
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

  const attempt = async (target: Target, items: Some<Item>) => {
    const { results: made, worked, putOffMs = 0, isLast = false } = await round.attempt(target, items)
    for (const result of made) results.add(result)
    standing.putOffMs = Math.max(standing.putOffMs, putOffMs)
    standing.isOver ||= isLast
    if (worked === true) {
      const isBack = breaker.isProbing
      breaker.succeeded()
      queue.width = target.width
      if (isBack) await round.recover?.()
    } else if (worked === false && breaker.pauseMs === 0) {
      // What was under way already when it was to be left alone says nothing new: the pause would be as long as after many probes.
      breaker.failed()
    }
  }
  const queue = createKeyedQueue<Item>(1, async (items) => {
    const { target } = standing
    const turn = mustStop() ? undefined : pace.turn()
    if (turn !== undefined) await turn
    const writing = mustStop() ? undefined : results.room(target?.unwritten ?? mostUnwritten)
    if (writing !== undefined) await writing
    if (mustStop() || !lease.isHeld || !target?.enabled) {
      // What is left out is read again by whoever goes on, so this one ends, also where an endpoint turns out to be well after all.
      standing.isOver = true
      return
    }
    try {
      await attempt(target, items)
    } catch (error) {
      fail(error)
    }
  })

  return {
    queue,
    underWay,
    get wereDueAt() {
      return wereDueAt
    },
    add(items) {
      for (const item of items) {
        underWay.add(item.id)
        queue.add(item, item.chain)
      }
      if (items.length > 0) wereDueAt = performance.now()
    },
    flush: results.flush,
  }
}
