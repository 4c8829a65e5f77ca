import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import * as otel from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import type { TracingSettings } from '../config/tracing.ts'
import { version } from '../version.ts'
import type { Attributes, Parent, Span, SpanKind, SpanOptions, Spans, TracingParts } from './tracing.ts'

const kinds: Readonly<Record<SpanKind, otel.SpanKind>> = {
  internal: otel.SpanKind.INTERNAL,
  server: otel.SpanKind.SERVER,
  client: otel.SpanKind.CLIENT,
  producer: otel.SpanKind.PRODUCER,
  consumer: otel.SpanKind.CONSUMER,
}

/** Spans of one request to the collector. */
const mostAtOnce = 512
/** The service stops, whether the collector takes what waits or not. */
const stopPatienceMs = 1_000

/** Spans of OpenTelemetry, sent to a collector behind the work that they are of. What it does not take in time is dropped. */
export function createSpans(settings: TracingSettings, parts: TracingParts): Spans {
  const { url, headers, timeoutMs, isCompressed, serviceName, resource, delayMs, maxWaiting } = settings
  const exporter = new OTLPTraceExporter({
    ...{ url, headers: { ...headers }, timeoutMillis: timeoutMs },
    ...(isCompressed && { compression: 'gzip' as never }),
  })
  const processor = new BatchSpanProcessor(reported(exporter, parts), {
    ...{ scheduledDelayMillis: delayMs, maxQueueSize: maxWaiting, exportTimeoutMillis: timeoutMs + 1_000 },
    maxExportBatchSize: Math.min(mostAtOnce, maxWaiting),
  })
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      ...{ 'service.name': serviceName, 'service.version': version },
      ...{ 'host.name': hostname(), 'process.pid': process.pid },
      ...resource,
    }),
    // Whether a trace is sampled is decided before anything of it is made.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('parley', version)

  const begin = (name: string, within: otel.Context, links: readonly otel.SpanContext[], options: SpanOptions): Own => {
    const { kind = 'internal', attributes = {} } = options
    const about = { kind: kinds[kind], attributes, links: links.map((context) => ({ context })) }
    return own(tracer.startSpan(name, about, within), begin)
  }
  return {
    begin: (name, parent, links, options) =>
      begin(
        name,
        parent === undefined ? otel.ROOT_CONTEXT : otel.trace.setSpanContext(otel.ROOT_CONTEXT, contextOf(parent)),
        links.map((link) => (link as Own).context),
        options,
      ),
    async stop() {
      // A collector that does not answer holds up nobody.
      await Promise.race([provider.shutdown().catch(() => {}), delay(stopPatienceMs, undefined, { ref: false })])
    },
  }
}

interface Own extends Span {
  readonly context: otel.SpanContext
}

type Begin = (name: string, within: otel.Context, links: readonly otel.SpanContext[], options: SpanOptions) => Own

function own(span: otel.Span, begin: Begin): Own {
  const context = span.spanContext()
  return {
    context,
    traceId: context.traceId,
    traceparent: `00-${context.traceId}-${context.spanId}-01`,
    child: (name, options = {}) => begin(name, otel.trace.setSpan(otel.ROOT_CONTEXT, span), [], options),
    setAttributes: (attributes: Attributes) => void span.setAttributes(attributes),
    link: (other) => void span.addLink({ context: (other as Own).context }),
    end(error) {
      if (error !== undefined) {
        // Its message may quote what somebody wrote.
        span.setAttribute('error.type', nameOf(error))
        span.setStatus({ code: otel.SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

function contextOf({ traceId, spanId }: Parent): otel.SpanContext {
  return { traceId, spanId, traceFlags: otel.TraceFlags.SAMPLED, isRemote: true }
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/** Counts what the collector takes, and says once that it takes nothing, and once that it does again. */
function reported(exporter: SpanExporter, { log, counted }: TracingParts): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isLost = result.code !== 0
        counted(isLost ? 'lost' : 'sent', spans.length)
        if (isLost && !isFailing)
          log.warn({ cause: result.error?.message }, 'the collector does not accept spans; they are dropped')
        if (!isLost && isFailing) log.info('the collector accepts spans again')
        isFailing = isLost
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}
