import { createHistogram } from 'node:perf_hooks'
import pg from 'pg'
import { type Bench, times } from '../bench.ts'
import { type CpuTimes, cpuBetween } from '../cpu.ts'
import type { Run } from '../measure.ts'

export interface SqlShape {
  /** What each statement counts for; 1 without it. */
  readonly rowsEach?: number
  /** Connections that share all statements under way, as a pipeline each; without it or with 0 one for each list of values. */
  readonly pipelines?: number
}

/**
 * Sends a named statement straight to the database of the service: for each list of values one after the other, each when
 * the one before is answered, and again until the time is up.
 */
export async function repeatSql(
  { service, extent, readCpu }: Bench,
  statement: { readonly name: string; readonly text: string },
  values: readonly (readonly unknown[][])[],
  { rowsEach = 1, pipelines = 0 }: SqlShape = {},
): Promise<Run> {
  const settings = { ...service.database, pipeline: pipelines > 0 } as pg.ClientConfig
  const clients = times(pipelines || values.length, () => new pg.Client(settings))
  await Promise.all(clients.map((client) => client.connect()))
  const latency = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 })
  let count = 0
  let from: CpuTimes | undefined
  const measureFrom = performance.now() + extent.warmup * 1000
  const measureTo = measureFrom + extent.seconds * 1000
  setTimeout(() => {
    from = readCpu()
  }, extent.warmup * 1000)

  const drive = async (client: pg.Client, own: readonly unknown[][]) => {
    for (let next = 0, startedAt = 0; startedAt < measureTo; next++) {
      startedAt = performance.now()
      await client.query({ ...statement, values: own[next % own.length] as unknown[] })
      const now = performance.now()
      if (startedAt < measureFrom || now > measureTo) continue
      count += rowsEach
      latency.record(Math.max(1, Math.round((now - startedAt) * 1000)))
    }
  }
  await Promise.all(values.map((own, i) => drive(clients[i % clients.length] as pg.Client, own)))
  const cpu = cpuBetween(from, readCpu())
  await Promise.all(clients.map((client) => client.end()))
  const [p50, p99] = [latency.percentile(50) / 1000, latency.percentile(99) / 1000]
  return { count, seconds: extent.seconds, p50, p99, cpu, failures: 0 }
}
