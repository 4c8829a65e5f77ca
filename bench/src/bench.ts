import type pg from 'pg'
import { type CpuClock, type CpuTimes, cpuBetween } from './cpu.ts'
import type { LoadPlan } from './load/plan.ts'
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
  /** Seconds of the sustained row. */
  readonly sustained: number
}

export const fullExtent: Extent = {
  rounds: 3,
  seconds: 4,
  warmup: 1,
  users: 10_000,
  members: 10_000,
  messages: 40_000,
  sustained: 180,
}
export const quickExtent: Extent = {
  rounds: 1,
  seconds: 1.5,
  warmup: 0.5,
  users: 2000,
  members: 2000,
  messages: 8000,
  sustained: 5,
}

/** What scenarios work with. */
export interface Bench {
  readonly service: Service
  readonly load: LoadGenerator
  /** A connection of one's own to the service's database, to look and to prepare; not for what is measured. */
  readonly database: pg.Client
  readonly readCpu: CpuClock
  readonly extent: Extent
}

/** Lets the generator carry out a plan, and takes the CPU time of the measured part. */
export async function runPlan({ load, readCpu }: Bench, plan: LoadPlan): Promise<Run> {
  let from: CpuTimes | undefined
  const result = await load.run(plan, () => {
    from = readCpu()
  })
  const cpu = cpuBetween(from, readCpu())
  const { answers: count, seconds, p50, p99, failures, firstFailure } = result
  return { count, seconds, p50, p99, cpu, failures, firstFailure }
}

/** Sends the requests of each connection again and again until the time is up. */
export function repeat(bench: Bench, port: number, connections: LoadPlan['connections']): Promise<Run> {
  const { warmup, seconds } = bench.extent
  return runPlan(bench, { port, connections, repeat: true, warmup, seconds })
}

/** `[make(0), make(1), ...]` */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
