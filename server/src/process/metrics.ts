import { setTimeout as delay } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import type { MetricJson } from './messages.ts'

/** What a worker answered, or that it did not. */
export interface WorkerMetrics {
  readonly worker: number
  readonly metrics: Promise<readonly MetricJson[]>
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
}

const patienceMs = 2_000
/** What a process says of itself, where a sum would say nothing. */
const isOfProcess = (name: string) => /^(process|nodejs)_/.test(name)

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
    help: 'Workers whose metrics are included',
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
  return {
    died: () => deaths.inc(),
    async text(workers) {
      const answers = await Promise.all(
        workers.map(async ({ worker, metrics }) => {
          const found = await Promise.race([metrics, delay(patienceMs, undefined, { ref: false })])
          return found?.map((metric) => (isOfProcess(metric.name) ? labelled(metric, worker) : metric))
        }),
      )
      const reported = answers.filter((answer) => answer !== undefined)
      answered.set(reported.length)
      const sums = AggregatorRegistry.aggregate(reported as object[])
      return `${await own.metrics()}\n${await sums.metrics()}`
    },
  }
}

/** Metrics whose labels differ are not put together. */
function labelled(metric: MetricJson, worker: number): MetricJson {
  const values = metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker: String(worker) } }))
  return { ...metric, values } as MetricJson
}
