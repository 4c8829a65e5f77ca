import { Counter, type Registry } from 'prom-client'
import type { Sampling, TracingSettings } from '../config/tracing.ts'
import type { Log } from '../log.ts'

/**
 * Attributes of a piece of work: nothing that somebody wrote, no secret, and of users no more than the log says. What is undefined
 * is left out.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** `server`: asked by others; `client`: asks others; `producer`, `consumer`: leaves something for later, does it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

export interface SpanOptions {
  readonly kind?: SpanKind
  readonly attributes?: Attributes
}

/**
 * A piece of work in a trace that is sampled. Nearly all work belongs to none: then there is no span, and whoever would trace
 * one looks once. Spans are handed on from hand to hand; nothing finds them by itself.
 */
export interface Span {
  readonly traceId: string
  /** Leads others to it: the header `traceparent` of the W3C. */
  readonly traceparent: string
  /** A part of this work. */
  child(name: string, options?: SpanOptions): Span
  setAttributes(attributes: Attributes): void
  /** This work was done together with other work. */
  link(other: Span): void
  /** The work is over. @param error what it failed with */
  end(error?: unknown): void
}

/** Sends a collector what becomes of requests. There is none where none is configured. */
export interface Tracing {
  /** Work that comes from outside. @param parent the `traceparent` that came with it. @returns undefined where it is not sampled */
  arrive(name: string, parent: string | string[] | undefined, options?: SpanOptions): Span | undefined
  /** What follows from work that was traced. @param parent its `traceparent`, as it was kept; undefined where it was not traced */
  follow(name: string, parent: string | undefined, options?: SpanOptions): Span | undefined
  /** Work for several at once: a trace of its own, with links to theirs. @returns undefined where none of them is traced */
  gather(
    name: string,
    items: ReadonlyArray<{ readonly span?: Span | undefined }>,
    options?: SpanOptions,
  ): Span | undefined
  /** Counts spans that another thread of this process sent or lost. */
  count(outcome: SpanOutcome, spans: number): void
  /** Sends what waits, within a moment. */
  stop(): Promise<void>
}

/** What became of spans that were to be sent. */
export type SpanOutcome = 'sent' | 'lost'

/** Makes spans, whatever they are of. */
export interface Spans {
  begin(name: string, parent: Parent | undefined, links: readonly Span[], options: SpanOptions): Span
  stop(): Promise<void>
}

/** What a `traceparent` says. */
export interface Parent {
  readonly traceId: string
  readonly spanId: string
  readonly isSampled: boolean
}

export interface TracingParts {
  readonly log: Log
  /** Called with all that was sent or lost. */
  readonly counted: (outcome: SpanOutcome, spans: number) => void
}

/** Counts what the collector takes, where there is one. */
export function countSpans(registry: Registry, settings: TracingSettings | undefined): TracingParts['counted'] {
  if (settings === undefined) return () => {}
  const counter = new Counter({
    name: 'parley_trace_spans_total',
    help: 'Spans that the collector took (sent), and those that it did not (lost)',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome, spans) => counter.inc({ outcome }, spans)
}

/** What makes and sends spans is loaded where there is a collector alone. */
export async function createTracing(
  settings: TracingSettings | undefined,
  parts: TracingParts,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined
  const { createSpans } = await import('./spans.ts')
  return tracingOf(createSpans(settings, parts), settings.sampling, parts)
}

/** Links of one span; collectors take no more. */
const maxLinks = 128

function tracingOf(spans: Spans, sampling: Sampling, { counted }: TracingParts): Tracing {
  return {
    count: counted,
    arrive(name, header, options = {}) {
      const parent = header === undefined ? undefined : readParent(header)
      return isSampled(sampling, parent) ? spans.begin(name, parent, [], options) : undefined
    },
    follow(name, kept, options = {}) {
      const parent = kept === undefined ? undefined : readParent(kept)
      return parent && spans.begin(name, parent, [], options)
    },
    gather(name, items, options = {}) {
      const linked = items.flatMap(({ span }) => span ?? [])
      return linked.length === 0 ? undefined : spans.begin(name, undefined, linked.slice(0, maxLinks), options)
    },
    stop: spans.stop,
  }
}

/** Chance decides about a trace that begins here; about others their id does, so that services that go by it agree. */
export function isSampled({ followsParent, ratio }: Sampling, parent: Parent | undefined): boolean {
  if (parent === undefined) return ratio === 1 || (ratio > 0 && Math.random() < ratio)
  if (followsParent) return parent.isSampled
  return Number.parseInt(parent.traceId.slice(-14), 16) / 2 ** 56 < ratio
}

const pattern = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** @returns undefined where it is none; then it counts for nothing */
export function readParent(header: string | string[]): Parent | undefined {
  const [, traceId, spanId, flags] = (typeof header === 'string' && pattern.exec(header)) || []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Runs a piece of work, and ends its span with it. */
export async function ended<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work()
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}
