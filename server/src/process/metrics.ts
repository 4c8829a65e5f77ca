import { setTimeout as delay } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import type { MetricJson } from './messages.ts'

/** What a worker answers. */
export interface WorkerMetrics {
  readonly worker: number
  readonly metrics: Promise<readonly MetricJson[]>
  /** What it answered before, which stands where it is late. */
  readonly last: () => readonly MetricJson[]
}

/** Figures of the workers themselves. */
export interface FleetFigures {
  readonly ready: number
  readonly starting: number
  readonly stopping: number
}

/** Metrics of all workers of this machine: what they count is summed, what a process says of itself carries its number. */
export interface FleetMetrics {
  text(workers: readonly WorkerMetrics[]): Promise<string>
  /** A worker ended without being told to. */
  died(): void
  /** A worker ended. What it has counted stays in the sums: one that goes down is taken for one that began anew. */
  ended(last: readonly MetricJson[]): void
}

const patienceMs = 2_000
/** What a process says of itself, where a sum would say nothing. */
const isOfProcess = (name: string) => /^(process|nodejs)_/.test(name)

/** That it goes on counting from there; `type` is a text in what is sent. */
export const isCount = ({ type, name }: { readonly type: unknown; readonly name: string }) =>
  (type === 'counter' || type === 'histogram') && !isOfProcess(name)

export function createFleetMetrics(figures: () => FleetFigures): FleetMetrics {
  const own = new Registry()
  const registers = [own]
  const deaths = new Counter({
    name: 'parley_worker_deaths_total',
    help: 'Workers that exited unexpectedly',
    registers,
  })
  const answered = new Gauge({
    name: 'parley_workers_reporting',
    help: 'Workers that answered for these metrics',
    registers,
  })
  new Gauge({
    name: 'parley_workers',
    help: 'Workers of this machine by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(figures())) this.set({ state }, count)
    },
  })
  let ofEnded: Promise<readonly MetricJson[]> = Promise.resolve([])
  return {
    died: () => deaths.inc(),
    ended(last) {
      ofEnded = ofEnded.then(
        async (before) => (await sum([before, last.filter(isCount)]).getMetricsAsJSON()) as MetricJson[],
      )
    },
    async text(workers) {
      // One that ends from here on is among those that are asked.
      const before = ofEnded
      let reported = 0
      const answers = await Promise.all(
        workers.map(async ({ worker, metrics, last }) => {
          const found = await Promise.race([metrics, delay(patienceMs, undefined, { ref: false })])
          if (found !== undefined) reported++
          return (found ?? last()).map((metric) => (isOfProcess(metric.name) ? labelled(metric, worker) : metric))
        }),
      )
      answered.set(reported)
      return `${await own.metrics()}\n${await sum([await before, ...answers]).metrics()}`
    },
  }
}

const sum = (metrics: readonly (readonly MetricJson[])[]) => AggregatorRegistry.aggregate(metrics as object[])

/** Metrics whose labels differ are not put together. */
function labelled(metric: MetricJson, worker: number): MetricJson {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker: String(worker) } }))
  return { ...metric, values } as MetricJson
}
