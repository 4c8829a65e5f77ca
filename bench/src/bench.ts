import type pg from 'pg'
import type { LoadPlan, LoadResult } from './load/plan.ts'
import type { LoadGenerator } from './load/start.ts'
import type { Run } from './measure.ts'
import type { Service } from './service.ts'

/** How much is done; `--quick` does less. */
export interface Extent {
  readonly rounds: number
  /** Measured seconds of a scenario that goes by time, and unmeasured ones before. */
  readonly seconds: number
  readonly warmup: number
  /** Records of one import. */
  readonly users: number
  readonly members: number
  readonly messages: number
}

export const fullExtent: Extent = { rounds: 3, seconds: 4, warmup: 1, users: 10_000, members: 10_000, messages: 40_000 }
export const quickExtent: Extent = { rounds: 1, seconds: 1.5, warmup: 0.5, users: 2000, members: 2000, messages: 8000 }

/** What scenarios work with. */
export interface Bench {
  readonly service: Service
  readonly load: LoadGenerator
  /** Port of the bare server. */
  readonly barePort: number
  /** A connection of one's own to the service's database, to look and to prepare; not for what is measured. */
  readonly database: pg.Client
  readonly extent: Extent
}

/** Sends the requests again and again until the time is up. */
export async function repeat({ load, extent }: Bench, port: number, connections: LoadPlan['connections']) {
  const { warmup, seconds } = extent
  return asRun(await load.run({ port, connections, repeat: true, warmup, seconds }))
}

export function asRun(result: LoadResult): Run {
  const { answers: count, seconds, p50, p99, failures, firstFailure } = result
  return { count, seconds, p50, p99, failures, firstFailure }
}

/** `[make(0), make(1), ...]` */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
