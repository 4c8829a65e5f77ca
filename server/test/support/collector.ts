import { type Endpoint, openEndpoint } from './endpoint.ts'

/** A span as it came. */
export interface SeenSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isFailed: boolean
  /** Of the service that it comes from. */
  readonly resource: Readonly<Record<string, unknown>>
}

/** A collector of spans on this machine: it takes `POST /v1/traces`, and keeps what comes. */
export interface Collector extends Pick<Endpoint, 'behave' | 'close' | 'received'> {
  /** What a service is started with, so that spans come at once. */
  readonly settings: Record<string, string>
  readonly spans: readonly SeenSpan[]
  /** Those of a trace with this name. */
  named(traceId: string, name: string): SeenSpan[]
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at as they come
type Body = any

export async function openCollector(settings: Record<string, string> = {}): Promise<Collector> {
  const endpoint = await openEndpoint()
  const spans = () =>
    endpoint.received
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => body.resourceSpans)
      .flatMap(({ resource, scopeSpans }: Body) =>
        scopeSpans.flatMap((scope: Body) => scope.spans.map((span: Body) => seen(span, valuesOf(resource.attributes)))),
      )
  return {
    ...{ behave: endpoint.behave, close: endpoint.close, received: endpoint.received },
    settings: {
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${endpoint.port}`, OTEL_BSP_SCHEDULE_DELAY: '20' },
      ...settings,
    },
    get spans() {
      return spans()
    },
    named: (traceId, name) => spans().filter((span) => span.traceId === traceId && span.name === name),
  }
}

function seen(span: Body, resource: SeenSpan['resource']): SeenSpan {
  const { name, traceId, spanId, parentSpanId, links = [], attributes, status } = span
  return {
    name,
    traceId,
    spanId,
    parentSpanId,
    links,
    attributes: valuesOf(attributes),
    isFailed: status.code === 2,
    resource,
  }
}

function valuesOf(attributes: Body[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
