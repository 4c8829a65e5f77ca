import { readHookTargets, type Target } from '../../areas/webhooks/index.ts'
import { listenersTopic } from '../../events/listening.ts'
import type { FileLinks } from '../../media/links.ts'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { createMemory } from '../../store/memory.ts'
import type { Secrets } from '../../store/secrets.ts'
import { ended, type Span } from '../../tracing/tracing.ts'
import type { Poster } from '../outbound/http.ts'
import { createServiceBreakers } from '../outbound/service-breakers.ts'
import { headersFor } from './attempt.ts'
import type { DeliveryMetrics } from './metrics.ts'
import { envelope } from './render.ts'

/** The synchronous hook: endpoints that are asked before a message is stored. */
export interface BeforeMessage {
  /** Those of an app; empty for nearly all apps. Known from memory after the first time. */
  of(appId: number): Promise<readonly Target[]>
  /**
   * Asks every endpoint at once, for two seconds at most; who does not answer in time lets the message through.
   * @param message as it will be sent out, without id; of an edit, with the id and `action: "edited"`
   * @param span the work that it is sent by
   */
  ask(targets: readonly Target[], message: object, span?: Span): Promise<HookAnswers>
  /** Forgets what is known of an app's webhooks, in this process; others hear of it by `listenersTopic`. */
  forget(appId: number): void
}

export interface HookAnswers {
  /** The webhook that says `{"action": "do_not_propagate"}`. */
  readonly stoppedBy: string | undefined
  /** What is put into the message, by id of the webhook: the JSON objects that were answered. */
  readonly answers: Record<string, object>
}

export interface BeforeMessageOptions {
  readonly database: Database
  readonly invalidation: Invalidation
  readonly secrets: Secrets
  readonly poster: Poster
  readonly metrics: DeliveryMetrics
  readonly fileLinks: FileLinks
}

/** What an endpoint may put into a message, in bytes; more is not taken. */
const maxAnswerBytes = 5 * 1024
/** After so many failures in a row an endpoint is not asked for a while, so that it does not cost every send 2 s. */
const skipping = { mostFailures: 3, firstPauseMs: 5_000, maxPauseMs: 60_000 }
/** An old secret may sign this much longer. */
const knownForMs = 60_000

export function createBeforeMessage(options: BeforeMessageOptions): BeforeMessage {
  const { database, invalidation, secrets, poster, metrics, fileLinks } = options
  const known = createMemory<number, readonly Target[]>({
    max: 10_000,
    ttlMs: knownForMs,
    read: (appId) => readHookTargets(database, secrets, appId),
  })
  const breakers = createServiceBreakers(skipping)
  invalidation.onChange(listenersTopic, (appId) =>
    appId === undefined ? known.forgetAll() : known.forget(Number(appId)),
  )

  const askOne = async (target: Target, message: object, within?: Span): Promise<object | 'blocked' | undefined> => {
    const payload = envelope(target, { trigger: 'before_message', data: message })
    const body = await fileLinks.inText(target.app, JSON.stringify(payload))
    const endpoint = breakers.of(`${target.app.appId}:${target.key}:${target.url}`)
    // Only now: whoever asks this has to say how it went, and what came before may fail through no fault of the endpoint.
    if (endpoint.begin() > 0) {
      metrics.hooked('skipped')
      return undefined
    }
    const id = `bfm_${target.key}_${crypto.randomUUID()}`
    const ask = async (span?: Span) => {
      const headers = headersFor(target, id, body, span)
      const { status, text } = await poster.post(target.url, headers, body, maxAnswerBytes + 1)
      if (status < 200 || status >= 300) throw new Error(`the endpoint answered ${status}`)
      return text
    }
    try {
      const attributes = { 'parley.app': target.app.name, 'parley.webhook': target.id, 'parley.delivery': id }
      const span = within?.child('before_message', { kind: 'client', attributes })
      const text = span === undefined ? await ask() : await ended(span, () => ask(span))
      endpoint.succeeded()
      const answer = readAnswer(text)
      const isBlocked = answer !== undefined && (answer as { action?: unknown }).action === 'do_not_propagate'
      metrics.hooked(isBlocked ? 'blocked' : 'passed')
      return isBlocked ? 'blocked' : answer
    } catch {
      // The contract's word: whoever fails lets the message through. The figures say how often.
      endpoint.failed()
      metrics.hooked('failed')
      return undefined
    }
  }

  return {
    of: known.recall,
    async ask(targets, message, span) {
      const answers = await Promise.all(targets.map((target) => askOne(target, message, span)))
      const blocking = targets.find((_, i) => answers[i] === 'blocked')
      const entries = targets.flatMap(({ id }, i) => {
        const answer = answers[i]
        return typeof answer === 'object' ? [[id, answer] as const] : []
      })
      return { stoppedBy: blocking?.id, answers: Object.fromEntries(entries) }
    },
    forget: known.forget,
  }
}

/** A JSON object of acceptable size; anything else puts nothing into the message. */
function readAnswer(text: string): object | undefined {
  if (Buffer.byteLength(text) > maxAnswerBytes) return undefined
  try {
    const answer: unknown = JSON.parse(text, storable)
    return typeof answer === 'object' && answer !== null && !Array.isArray(answer) ? answer : undefined
  } catch {
    return undefined
  }
}

/** Takes NUL characters and broken surrogates out of texts and names, as nothing else that is stored has any. */
function storable(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value)
  if (members.every(([name]) => storableText(name) === name)) return value
  return Object.fromEntries(members.map(([name, member]) => [storableText(name), member]))
}

function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
