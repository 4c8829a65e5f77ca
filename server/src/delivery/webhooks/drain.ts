import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { deliveryId, type Target, toTarget } from '../../areas/webhooks/index.ts'
import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import type { Secrets } from '../../store/secrets.ts'
import { createBreaker, failuresToPause } from '../outbound/breaker.ts'
import type { Poster } from '../outbound/http.ts'
import { createKeyedQueue } from '../outbound/keyed-queue.ts'
import type { Pace } from '../outbound/pace.ts'
import { attempt } from './attempt.ts'
import { disableWebhook } from './disable.ts'
import { type DueDelivery, selectDue } from './due.ts'
import { type Lease, takeLease, type WebhookKey } from './lease.ts'
import type { DeliveryMetrics } from './metrics.ts'
import type { Bodies } from './render.ts'
import { createResultWriter, maxRetryAfterSeconds, nextStep } from './results.ts'

export interface DrainOptions {
  readonly database: Database
  readonly invalidation: Invalidation
  readonly secrets: Secrets
  readonly log: Log
  readonly poster: Poster
  readonly bodies: Bodies
  readonly metrics: DeliveryMetrics
  readonly pace: Pace
  /** Seconds between attempts. */
  readonly delays: readonly number[]
  /** After how many seconds of failures only a webhook is disabled. */
  readonly disableAfter: number
}

/** Attempts to one webhook at a time. */
const width = 10
/** Deliveries that are read ahead. */
const room = 100
/** How long one webhook may go on before others have their turn; it goes on behind them. */
const turnMs = 10_000
/** How long to wait after a fault of our own. */
const afterFaultMs = 1_000
/** While attempts are under way, how often to look for more; with enough at hand, only for changes of the webhook. */
const lookMs = 100
const lookWhenFullMs = 1_000

interface Ready {
  readonly delivery: DueDelivery
  readonly body: string | Error
}

/**
 * Delivers what is due to one webhook, until nothing is, it is paused or disabled, its turn is over, or `signal` says
 * stop. Somebody else who does so already is left alone.
 */
export async function drain(options: DrainOptions, key: WebhookKey, signal: AbortSignal): Promise<void> {
  const lease = await takeLease(options.database, key, randomUUID())
  if (lease === undefined) return
  try {
    await deliver(options, key, lease, signal)
  } catch (error) {
    if (!isConnectionFailure(error)) options.log.error({ err: error }, 'delivering to a webhook was interrupted')
    await letGo(lease, signal)
  } finally {
    lease.close()
  }
}

/** While the database is away this cannot be written; otherwise nobody could go on before the lease runs out. */
async function letGo(lease: Lease, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await lease.interrupt(afterFaultMs)
    } catch (error) {
      if (signal.aborted || !lease.isHeld) throw error
      await delay(afterFaultMs)
    }
  }
}

async function deliver(options: DrainOptions, key: WebhookKey, lease: Lease, signal: AbortSignal): Promise<void> {
  const { database, poster, metrics, pace, delays } = options
  const breaker = createBreaker(lease.health, (delays[0] ?? 0) * 1000 || 1000)
  const results = createResultWriter(database, key, () => breaker.health)
  const turnEnds = performance.now() + turnMs
  const underWay = new Set<number>()
  /** As it was when last looked at. */
  let target: Target | undefined
  let putOffMs = 0
  let gone: Target | undefined

  const queue = createKeyedQueue<Ready>(width, async ({ delivery, body }) => {
    const to = target
    if (!mustStop()) await pace.turn()
    // What is left is read again by whoever goes on.
    if (mustStop() || !lease.isHeld || !to?.enabled) return
    if (body instanceof Error) {
      const { id, step } = delivery
      const unrendered = { succeeded: false, error: body.message, durationMs: 0 }
      results.add({ id, status: 'failed', dueIn: null, step, attempt: unrendered })
      metrics.attempted('failed')
      return
    }
    const made = await attempt(poster, to, deliveryId(to.key, delivery.id), body)
    const result = nextStep(delivery, made, { retryOnFailure: to.retryOnFailure, delays })
    results.add(result)
    metrics.attempted(result.status)
    if (made.succeeded) {
      breaker.succeeded()
      queue.width = width
      return
    }
    breaker.failed()
    if (made.status === 410) gone = to
    if ((made.status === 429 || made.status === 503) && made.retryAfter !== undefined) {
      putOffMs = Math.max(putOffMs, Math.min(made.retryAfter, maxRetryAfterSeconds) * 1000)
    }
  })
  const mustStop = () =>
    signal.aborted || gone !== undefined || putOffMs > 0 || breaker.pauseMs > 0 || performance.now() > turnEnds

  let failure: unknown
  try {
    if (await work()) return
  } catch (error) {
    failure = error
  }
  // Nothing may be under way when somebody else goes on.
  queue.clear()
  await queue.until(0)
  if (failure !== undefined) throw failure
  await results.flush()
  await end()

  /** @returns whether nothing was left to do, and the lease is given back */
  async function work(): Promise<boolean> {
    let after = 0
    for (;;) {
      const now = await lease.look()
      target = now && toTarget(options.secrets, now.row)
      if (now === undefined || target === undefined || !target.enabled || mustStop()) return false
      queue.width = breaker.isProbing ? 1 : width

      const limit = (breaker.isProbing ? 1 : room) - queue.size
      const due = limit <= 0 ? [] : await selectDue(database, key, { after, except: [...underWay], limit })
      const bodies = await options.bodies.render(target, due)
      for (const delivery of due) {
        if (delivery.attempts === 0) after = Math.max(after, delivery.id)
        else underWay.add(delivery.id)
        const body = bodies.get(delivery.id) ?? new Error('what happened can no longer be told')
        const chain = delivery.attempts === 0 ? (delivery.conversation ?? undefined) : undefined
        queue.add({ delivery, body }, chain)
      }
      if (due.length === 0 && queue.size === 0) {
        await results.flush()
        underWay.clear()
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

  async function end(): Promise<void> {
    const { failures, failingSince } = breaker.health
    const failedFor = failingSince === null ? 0 : (Date.now() - failingSince) / 1000
    if (gone !== undefined) {
      await takeOut(options, gone, 'The endpoint answered 410: it is gone for good.')
    } else if (target?.enabled && failures >= failuresToPause && failedFor > options.disableAfter) {
      const since = new Date(failingSince ?? 0).toISOString()
      await takeOut(options, target, `No delivery has succeeded since ${since}.`)
    }
    // Where it is disabled, what waits stays; enabling it asks for it again.
    await lease.interrupt(Math.max(putOffMs, breaker.pauseMs))
  }
}

async function takeOut(options: DrainOptions, target: Target, reason: string): Promise<void> {
  if (await disableWebhook(options, target, reason)) {
    options.log.warn({ app: target.app.name, webhook: target.id, reason }, 'a webhook was disabled')
  }
}
