import { type CpuClock, type CpuTimes, whenAtRest } from './cpu.ts'
import type { Service } from './service.ts'

/** What one run of a scenario gave. */
export interface Run {
  /** What was done, in the scenario's own unit. */
  readonly count: number
  readonly seconds: number
  /** Milliseconds for one request or statement. */
  readonly p50: number
  readonly p99: number
  /** Used in the measured seconds. */
  readonly cpu: CpuTimes | undefined
  readonly failures: number
  readonly firstFailure?: string | undefined
  /** What else is to be said of it, below the table. */
  readonly note?: string
}

/** One row of the table. */
export interface Scenario {
  readonly id: string
  readonly name: string
  /** The ids of the bare limits that it is shown beside. */
  readonly beside?: readonly string[]
  run(round: number): Promise<Run>
}

/** A scenario's figures: medians over the rounds. */
export interface Figures {
  readonly id: string
  readonly name: string
  readonly beside: readonly string[]
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** CPU seconds a second: how many cores each had. */
  readonly cores: CpuTimes | undefined
  /** CPU microseconds for each thing done: slow neighbours on the machine change these least. */
  readonly cpuEach: CpuTimes | undefined
  /** 99th percentile of the service's event loop delay in milliseconds; an idle loop has about 10. */
  readonly loopDelay: number
  readonly failures: number
  readonly firstFailure?: string
  readonly notes: readonly string[]
  /** Each round, to see how much they differ. */
  readonly rounds: readonly { readonly perSecond: number; readonly p99: number }[]
}

export interface Sample extends Run {
  readonly loopDelay: number
}

/** Runs all scenarios, one after the other, as many times as there are rounds, so that slow minutes hit all alike. */
export async function measureInRounds(
  scenarios: readonly Scenario[],
  rounds: number,
  { service, readCpu, progress }: { service: Service; readCpu: CpuClock; progress(text: string): void },
): Promise<Figures[]> {
  const samples = new Map<string, Sample[]>(scenarios.map(({ id }) => [id, []]))
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      progress(`round ${round + 1} of ${rounds}: ${scenario.name}`)
      await whenAtRest(readCpu)
      await readLoopDelay(service)
      const run = await scenario.run(round)
      samples.get(scenario.id)?.push({ ...run, loopDelay: await readLoopDelay(service) })
    }
  }
  return scenarios.map((scenario) => sumUp(scenario, samples.get(scenario.id) ?? []))
}

/** Reading it begins a new interval. */
export async function readLoopDelay({ port }: Service): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000
}

/** Medians of all rounds. */
export function sumUp({ id, name, beside = [] }: Omit<Scenario, 'run'>, samples: readonly Sample[]): Figures {
  const middle = (read: (sample: Sample) => number) => median(samples.map(read))
  const cpu = (share: (sample: Sample, seconds: number) => number): CpuTimes | undefined => {
    if (samples.some((sample) => sample.cpu === undefined)) return undefined
    const of = (who: keyof CpuTimes) => middle((sample) => share(sample, sample.cpu?.[who] ?? Number.NaN))
    return { service: of('service'), postgres: of('postgres'), load: of('load') }
  }
  const firstFailure = samples.find((sample) => sample.firstFailure !== undefined)?.firstFailure
  return {
    id,
    name,
    beside,
    perSecond: middle(({ count, seconds }) => count / seconds),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    cores: cpu((sample, seconds) => seconds / sample.seconds),
    cpuEach: cpu((sample, seconds) => (seconds * 1e6) / sample.count),
    loopDelay: middle(({ loopDelay }) => loopDelay),
    failures: samples.reduce((sum, sample) => sum + sample.failures, 0),
    ...(firstFailure !== undefined && { firstFailure }),
    notes: samples.flatMap(({ note }) => note ?? []),
    rounds: samples.map(({ count, seconds, p99 }) => ({ perSecond: count / seconds, p99 })),
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return Number.isInteger(half)
    ? ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
    : (sorted[Math.floor(half)] ?? Number.NaN)
}
