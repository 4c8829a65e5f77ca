import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from './version.ts'

/** Requests that came in, and events that open sockets were notified of, since the start. */
export interface Demand {
  count: number
}

/** What clients may ask in a second and still count as nobody: probes, and a few who wait some milliseconds longer. */
const fewPerSecond = 20
const demandMs = 1_000

/** Says whether clients ask more than a little; they do at once, and no more after a second without. */
export function watchDemand(demand: Readonly<Demand>): (now: number) => boolean {
  let counted = demand.count
  let countedAt = performance.now()
  let isAsked = false
  return (now) => {
    const elapsed = Math.max(now - countedAt, demandMs)
    const isMore = demand.count - counted > (fewPerSecond * elapsed) / 1000
    isAsked ||= isMore
    if (now - countedAt >= demandMs) {
      isAsked = isMore
      counted = demand.count
      countedAt = now
    }
    return isAsked
  }
}

/** Prometheus metrics of one service. */
export interface Metrics {
  readonly registry: Registry
  readonly requests: Histogram<'operation' | 'status'>
  /** Those by authOnly keys, which are for development. */
  readonly authOnlyRequests: Counter<'operation' | 'status'>
  readonly batches: Histogram<'writer'>
  /** How much this process was asked by clients so far; what gives way to them looks at it. */
  readonly demand: Demand
  /** What `GET /metrics` answers: the figures of this process, or of all workers of this machine. */
  text(): Promise<string | undefined>
}

/** @param expose makes the text, where that is not of this process alone */
export function createMetrics(expose?: () => Promise<string | undefined>): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'parley_info',
    help: 'Always 1; the label is the version that runs',
    labelNames: ['version'],
    registers: [registry],
    aggregator: 'first',
  }).set({ version }, 1)
  return {
    registry,
    demand: { count: 0 },
    text: expose ?? (() => registry.metrics()),
    requests: new Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'Duration of requests by operation id and status; its count is the number of requests',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    authOnlyRequests: new Counter({
      name: 'parley_auth_only_key_requests_total',
      help: 'Requests with authOnly keys, which are for development',
      labelNames: ['operation', 'status'],
      registers: [registry],
    }),
    batches: new Histogram({
      name: 'parley_message_batch_size',
      help: 'Messages written in one transaction',
      labelNames: ['writer'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000],
      registers: [registry],
    }),
  }
}

/** Publishes how many reads of each kind run and wait, read when metrics are asked for. */
export function watchReads(
  metrics: Metrics,
  loads: Readonly<Record<string, { readonly running: number; readonly waiting: number }>>,
): void {
  new Gauge({
    name: 'parley_database_reads',
    help: 'Lists and searches that are running, and that are waiting',
    labelNames: ['kind', 'state'],
    registers: [metrics.registry],
    collect() {
      for (const [kind, { running, waiting }] of Object.entries(loads)) {
        this.set({ kind, state: 'running' }, running)
        this.set({ kind, state: 'waiting' }, waiting)
      }
    },
  })
}

/** Publishes the state of the connection pool, read when metrics are asked for. */
export function watchPool(metrics: Metrics, pool: { total: number; idle: number; waiting: number }): void {
  new Gauge({
    name: 'parley_database_pool_connections',
    help: 'Connections of the transaction pool',
    labelNames: ['state'],
    registers: [metrics.registry],
    collect() {
      this.set({ state: 'total' }, pool.total)
      this.set({ state: 'idle' }, pool.idle)
      this.set({ state: 'waiting' }, pool.waiting)
    },
  })
}
