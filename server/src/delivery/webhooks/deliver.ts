import { deliveryId, type Target, type TargetRow, toTarget } from '../../areas/webhooks/index.ts'
import type { Log } from '../../log.ts'
import type { AgeClock } from '../../store/age-clock.ts'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import type { Secrets } from '../../store/secrets.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import { failuresToPause } from '../outbound/breaker.ts'
import { drain } from '../outbound/drain.ts'
import type { EndpointKey } from '../outbound/endpoints.ts'
import type { Poster } from '../outbound/http.ts'
import { createLeases, type Health } from '../outbound/lease.ts'
import type { Pace } from '../outbound/pace.ts'
import type { Outcome, Round } from '../outbound/round.ts'
import { attempt } from './attempt.ts'
import { disableWebhook } from './disable.ts'
import { type DueDelivery, selectDue } from './due.ts'
import { maxRetryAfterSeconds, webhookEndpoints } from './endpoints.ts'
import type { DeliveryMetrics } from './metrics.ts'
import type { Bodies, Body } from './render.ts'
import { nextStep, type Result, writeResults } from './results.ts'

export interface DeliverOptions {
  readonly database: Database
  readonly ageClock: AgeClock
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
  readonly tracing: Tracing | undefined
}

/** Attempts to one webhook at a time. */
const width = 10
const room = 100
const leases = createLeases<TargetRow>(webhookEndpoints)

type OpenTarget = Target & { readonly width: number }
interface Ready extends DueDelivery {
  readonly chain: number | undefined
  readonly body: Body | undefined
  /** When the body was made, as `performance.now()` has it. */
  readonly madeAt: number
}

/** Milliseconds after which a body that still waits is made anew: what it says may have been edited or deleted. */
const staleAfterMs = 500

/** Delivers what is due to one webhook. */
export function deliverDue(options: DeliverOptions, key: EndpointKey, signal: AbortSignal): Promise<void> {
  const { database, log, pace, delays } = options
  const firstDelayMs = (delays[0] ?? 0) * 1000 || 1000
  const work = 'delivering to a webhook'
  const begin = () => beginRound(options, key)
  return drain({ database, log, pace, leases, work, firstDelayMs, room, begin }, key, signal)
}

function beginRound(options: DeliverOptions, key: EndpointKey): Round<TargetRow, OpenTarget, Ready, Result> {
  const { database, secrets, bodies } = options
  /** First attempts are read in the order of events. */
  let after = 0
  let gone: Target | undefined
  return {
    open: (row) => ({ ...toTarget(secrets, row), width }),
    async read(target, { except, limit }) {
      const due = await selectDue(database, key, { after, except, limit })
      const madeAt = performance.now()
      const rendered = await bodies.render(target, due)
      return due.map((delivery) => {
        const { id, conversation, attempts } = delivery
        const isFirst = attempts === 0
        if (isFirst) after = Math.max(after, id)
        const chain = isFirst ? (conversation ?? undefined) : undefined
        return { ...delivery, chain, body: rendered.get(id), madeAt }
      })
    },
    async attempt(target, [delivery]) {
      const outcome = await attemptDelivery(options, target, delivery)
      if (outcome.isLast) gone = target
      return outcome
    },
    write: (results) => writeResults(database, key, results),
    async end(target, health) {
      const reason = gone === undefined ? await reasonToDisable(options, health) : goneForGood
      const failing = gone ?? (target?.enabled ? target : undefined)
      if (failing !== undefined && reason !== undefined) await takeOut(options, failing, reason)
    },
  }
}

async function attemptDelivery(
  { poster, bodies, metrics, delays, tracing }: DeliverOptions,
  target: Target,
  delivery: Ready,
): Promise<Outcome<Result>> {
  const { id, step, dueAt, trigger, attempts } = delivery
  const isStale = performance.now() - delivery.madeAt > staleAfterMs
  const body = isStale ? (await bodies.render(target, [delivery])).get(id) : delivery.body
  if (body === undefined) {
    const unrendered = { succeeded: false, error: 'what happened can no longer be told', durationMs: 0 }
    metrics.attempted('failed')
    return { results: [{ id, wasDueAt: dueAt, status: 'failed', dueIn: null, step, attempt: unrendered }] }
  }
  const name = deliveryId(target.key, id)
  const span = tracing?.follow('webhook', body.trace, {
    kind: 'client',
    attributes: {
      ...{ 'parley.app': target.app.name, 'parley.webhook': target.id, 'parley.delivery': name },
      ...{ 'parley.trigger': trigger, 'parley.attempt': attempts + 1 },
    },
  })
  const made = await attempt(poster, target, name, body.text, span)
  const decided = nextStep({ id, step, dueAt }, made, { retryOnFailure: target.retryOnFailure, delays })
  const result = { ...decided, sent: body.sent }
  metrics.attempted(result.status)
  const isAskedToWait = (made.status === 429 || made.status === 503) && made.retryAfter !== undefined
  return {
    ...{ results: [result], worked: made.succeeded, isLast: made.status === 410 },
    ...(isAskedToWait && { putOffMs: Math.min(made.retryAfter, maxRetryAfterSeconds) * 1000 }),
  }
}

const goneForGood = 'The endpoint answered 410: it is gone for good.'

/** By the clock of removals: where the machine's jumps ahead, nothing has failed for days. */
async function reasonToDisable(
  { ageClock, disableAfter }: DeliverOptions,
  { failures, failingSince }: Health,
): Promise<string | undefined> {
  if (failures < failuresToPause || failingSince === null) return undefined
  if (((await ageClock.now()) - failingSince) / 1000 <= disableAfter) return undefined
  return `No delivery has succeeded since ${new Date(failingSince).toISOString()}.`
}

/** What waits stays; enabling the webhook asks for it again. */
async function takeOut(options: DeliverOptions, target: Target, reason: string): Promise<void> {
  if (await disableWebhook(options, target, reason)) {
    options.log.warn({ app: target.app.name, webhook: target.id, reason }, 'a webhook was disabled')
  }
}
