import { createCache } from '../../../cache.ts'
import { withoutQuery } from '../../../chat/moderation/engine-settings.ts'
import type { Span } from '../../../tracing/tracing.ts'
import type { EndpointAnswer, Poster } from '../../outbound/http.ts'
import { createServiceBreakers } from '../../outbound/service-breakers.ts'
import type { EngineMetrics } from '../metrics.ts'
import type { Judgement, Read } from './answer.ts'
import { badBody, badStatus, type Failure, failureOf, isDown, type SentRequest } from './failure.ts'

/** A sort of engine, as figures name it. */
export type EngineKind = 'custom-api' | 'llm' | 'labels'

/** One request to an engine. */
export interface EngineRequest {
  readonly kind: EngineKind
  readonly appId: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  read(text: string): Read
  /** More that a failure says, by the answer that it is about. */
  about?(answer: EndpointAnswer): Partial<Failure>
}

export type Said = { readonly judgement: Judgement } | { readonly failure: Failure }

/** Asks engines, each as long as it does not fail all the time. */
export interface Line {
  /** Never throws. @param within the work that it is part of, where that is traced */
  ask(request: EngineRequest, within?: Span): Promise<Said>
  /** Engines that are left alone for a while, as they fail. */
  readonly paused: number
}

/** Failures one after the other at which an engine is left alone. */
const mostFailures = 5
/** An engine that is back is found within this. */
const maxPauseMs = 10_000
const maxAnswerBytes = 64 * 1024
const userAgent = 'Parley-Moderation/1'

/** What is shown of a failure where another message is concerned. */
type LastFailure = Pick<Failure, 'category' | 'errorMessage' | 'httpStatus' | 'timeoutMs'>

export function createLine(poster: Poster, metrics: EngineMetrics): Line {
  const breakers = createServiceBreakers({ mostFailures, maxPauseMs })
  /** The last failure of those that are down, which is that of messages that they are not asked about. */
  const down = createCache<string, LastFailure>({ max: 10_000 })

  const post = async (
    request: EngineRequest,
    span: Span | undefined,
  ): Promise<{ said: Said; retryAfter?: number | undefined }> => {
    const { url, headers, body, timeoutMs, read, about } = request
    const sent: SentRequest = {
      ...{ url: withoutQuery(url), method: 'POST', bodyBytes: Buffer.byteLength(body) },
      basicAuthSent: headers.authorization?.startsWith('Basic ') === true,
    }
    try {
      const leading = span === undefined ? {} : { traceparent: span.traceparent }
      const all = { 'user-agent': userAgent, ...leading, ...headers }
      const answer = await poster.post(url, all, body, maxAnswerBytes, timeoutMs)
      const found = answer.status === 200 ? read(answer.text) : undefined
      if (found !== undefined && 'judgement' in found) return { said: found }
      const failure = found === undefined ? badStatus(answer) : badBody(answer, found.errors)
      return { said: { failure: { ...failure, ...about?.(answer), request: sent } }, retryAfter: answer.retryAfter }
    } catch (error) {
      return { said: { failure: { ...failureOf(error, timeoutMs), request: sent } } }
    }
  }

  return {
    get paused() {
      return down.size
    },
    async ask(request, within) {
      const { kind, appId, url } = request
      const name = `${appId} ${kind} ${url}`
      const breaker = breakers.of(name)
      const last = down.get(name)
      if (breaker.begin() > 0 && last !== undefined) {
        metrics.asked(kind, 'skipped')
        const errorMessage = `the engine was not asked, as it failed again and again; the last time: ${last.errorMessage}`
        return { failure: { ...last, errorMessage, responseBodyTruncated: false } }
      }
      const began = performance.now()
      const span = within?.child('engine', { kind: 'client', attributes: { 'parley.engine': kind } })
      const { said, retryAfter } = await post(request, span)
      span?.end('failure' in said ? said.failure.category : undefined)
      const seconds = (performance.now() - began) / 1000
      metrics.asked(kind, 'failure' in said ? said.failure.category : 'answered', seconds)
      if ('failure' in said && isDown(said.failure)) {
        down.set(name, rememberedOf(said.failure))
        breaker.failed(retryAfter)
      } else {
        down.delete(name)
        breaker.succeeded()
      }
      return said
    },
  }
}

/** Without what was sent and what the engine said: it may quote the message that it was asked about. */
function rememberedOf({ category, errorMessage, httpStatus, timeoutMs }: Failure): LastFailure {
  return {
    category,
    errorMessage,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}
