import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { createBreaker } from './breaker.ts'
import type { EndpointKey } from './endpoints.ts'
import { createKeyedQueue, type Some } from './keyed-queue.ts'
import type { Health, Lease, Leases } from './lease.ts'
import type { Pace } from './pace.ts'
import { createResultWriter } from './result-writer.ts'

/** A delivery that is due. */
export interface DueItem {
  readonly id: number
  /** Deliveries of one chain are attempted one after the other. */
  readonly chain?: number | undefined
}

/** What came of one attempt. */
export interface Outcome<Result> {
  /** One of each delivery. */
  readonly results: readonly Result[]
  /** Whether the endpoint did its part; undefined: it was not called. */
  readonly worked?: boolean
  /** For how long the endpoint asks to be left alone. */
  readonly putOffMs?: number
  /** The endpoint is not to be called again. */
  readonly isLast?: boolean
}

/** How deliveries to one endpoint are made, from taking its lease to giving it back. */
export interface Round<Row, Target, Item extends DueItem, Result> {
  /** What stands in the tables, ready for attempts. It is looked at again every now and then. */
  open(row: Row): Target
  /** What is due. @param except deliveries that are under way */
  read(target: Target, options: { readonly except: readonly number[]; readonly limit: number }): Promise<Item[]>
  /**
   * A failure of ours alone may be thrown: then the round ends, and what is left is due again.
   * @param items one, or as many as the target takes at once
   */
  attempt(target: Target, items: Some<Item>): Promise<Outcome<Result>>
  write(results: readonly Result[]): Promise<void>
  /** The endpoint is back after it was left alone. */
  recover?(): Promise<void>
  /** Before the lease is given back although something is left to do. */
  end?(target: Target | undefined, health: Health): Promise<void>
}

export interface DrainOptions<Row, Target, Item extends DueItem, Result> {
  readonly database: Database
  readonly log: Log
  readonly pace: Pace
  readonly leases: Leases<Row>
  /** As the log calls it. */
  readonly work: string
  /** Between a first attempt and the next one. */
  readonly firstDelayMs: number
  /** The longest time for which an endpoint that fails is left alone; a minute without it. */
  readonly maxPauseMs?: number
  /** Deliveries that are read ahead. */
  readonly room: number
  begin(key: EndpointKey): Round<Row, Target, Item, Result>
}

/** How long one endpoint may go on before others have their turn; it goes on behind them. */
const turnMs = 10_000
/** How long to wait after a fault of our own. */
const afterFaultMs = 1_000
/** While attempts are under way, how often to look for more; with enough at hand, only for changes of the endpoint. */
const lookMs = 100
const lookWhenFullMs = 1_000

/** What every target says of itself. */
interface AnyTarget {
  readonly enabled: boolean
  /** Attempts at a time. */
  readonly width: number
  /** Deliveries in one attempt; one without it. */
  readonly batch?: number | undefined
}

/**
 * Delivers what is due to one endpoint, until nothing is, it is paused or disabled, its turn is over, or `signal` says
 * stop. Somebody else who does so already is left alone.
 */
export async function drain<
  Row,
  Target extends AnyTarget,
  Item extends DueItem,
  Result extends { readonly id: number },
>(options: DrainOptions<Row, Target, Item, Result>, key: EndpointKey, signal: AbortSignal): Promise<void> {
  const lease = await options.leases.take(options.database, key, randomUUID())
  if (lease === undefined) return
  try {
    await deliver(options, options.begin(key), lease, signal)
  } catch (error) {
    if (!isConnectionFailure(error)) options.log.error({ err: error }, `${options.work} was interrupted`)
    await letGo(lease, signal)
  } finally {
    lease.close()
  }
}

/** While the database is away this cannot be written; otherwise nobody could go on before the lease runs out. */
async function letGo(lease: Lease<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await lease.interrupt(afterFaultMs)
    } catch (error) {
      if (signal.aborted || !lease.isHeld) throw error
      await delay(afterFaultMs)
    }
  }
}

async function deliver<Row, Target extends AnyTarget, Item extends DueItem, Result extends { readonly id: number }>(
  { pace, room, firstDelayMs, maxPauseMs }: DrainOptions<Row, Target, Item, Result>,
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

  const results = createResultWriter<Result>(async (batch) => {
    await round.write(batch)
    for (const { id } of batch) underWay.delete(id)
    const { health } = breaker
    if (health.failures === writtenHealth.failures && health.failingSince === writtenHealth.failingSince) return
    await lease.writeHealth(health)
    writtenHealth = health
  })
  const mustStop = () => signal.aborted || isOver || putOffMs > 0 || breaker.pauseMs > 0 || performance.now() > turnEnds

  const queue = createKeyedQueue<Item>(1, async (items) => {
    const to = target
    if (!mustStop()) await pace.turn()
    // What is left is read again by whoever goes on.
    if (mustStop() || !lease.isHeld || !to?.enabled) return
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
      } else if (worked === false) breaker.failed()
    } catch (error) {
      failure ??= error
      isOver = true
    }
  })

  try {
    if (await work()) return
  } catch (error) {
    failure = error
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

  /** @returns whether nothing was left to do, and the lease is given back */
  async function work(): Promise<boolean> {
    for (;;) {
      const now = await lease.look()
      target = now && round.open(now)
      if (now === undefined || !target?.enabled || mustStop()) return false
      queue.width = breaker.isProbing ? 1 : target.width
      queue.batch = target.batch ?? 1

      const limit = (breaker.isProbing ? 1 : room) - queue.size
      const due = limit <= 0 ? [] : await round.read(target, { except: [...underWay], limit })
      for (const item of due) {
        underWay.add(item.id)
        queue.add(item, item.chain)
      }
      if (due.length === 0 && queue.size === 0) {
        await results.flush()
        if (await lease.release(now.asked)) return true
        continue
      }
      const isFull = due.length >= limit
      const waiting = new AbortController()
      await Promise.race([
        queue.until(isFull && !breaker.isProbing ? room / 2 : 0),
        delay(isFull ? lookWhenFullMs : lookMs, undefined, { signal: waiting.signal }).catch(() => {}),
      ])
      waiting.abort()
    }
  }
}
