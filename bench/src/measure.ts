import type { LoadGenerator } from './load/start.ts'
import { cpuSeconds, familyCpuSeconds } from './processes.ts'
import type { Service } from './service.ts'

/** What one run of a scenario gave. */
export interface Run {
  /** What was done, in the scenario's own unit. */
  readonly count: number
  readonly seconds: number
  /** Milliseconds for one request or statement. */
  readonly p50: number
  readonly p99: number
  readonly failures: number
  readonly firstFailure?: string | undefined
}

/** One row of the table. */
export interface Scenario {
  readonly id: string
  readonly name: string
  /** The id of the bare limit that it is shown beside. */
  readonly beside?: string
  run(round: number): Promise<Run>
}

/** A scenario's figures: medians over the rounds. */
export interface Figures {
  readonly id: string
  readonly name: string
  readonly beside?: string
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Cores in use while it ran: by the service, by PostgreSQL, by the generator of the load. */
  readonly cores: { readonly service: number; readonly postgres: number; readonly load: number } | undefined
  /** 99th percentile of the service's event loop delay in milliseconds; an idle loop has about 10. */
  readonly loopDelay: number
  readonly failures: number
  readonly firstFailure?: string
  /** Each round, to see how much they differ. */
  readonly rounds: readonly { readonly perSecond: number; readonly p99: number }[]
}

type Sample = Run & { perSecond: number; cores: Figures['cores']; loopDelay: number }

/** Runs all scenarios, one after the other, as many times as there are rounds, so that slow minutes hit all alike. */
export async function measureInRounds(
  scenarios: readonly Scenario[],
  rounds: number,
  meters: { service: Service; load: LoadGenerator; progress(text: string): void },
): Promise<Figures[]> {
  const samples = new Map<string, Sample[]>(scenarios.map(({ id }) => [id, []]))
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      meters.progress(`round ${round + 1} of ${rounds}: ${scenario.name}`)
      samples.get(scenario.id)?.push(await sample(scenario, round, meters))
    }
  }
  return scenarios.map((scenario) => sumUp(scenario, samples.get(scenario.id) ?? []))
}

async function sample(
  scenario: Scenario,
  round: number,
  { service, load }: { service: Service; load: LoadGenerator },
): Promise<Sample> {
  await readLoopDelay(service)
  const before = readCpu(service, load)
  const startedAt = performance.now()
  const run = await scenario.run(round)
  const elapsed = (performance.now() - startedAt) / 1000
  const after = readCpu(service, load)
  const cores = before &&
    after && {
      service: (after.service - before.service) / elapsed,
      postgres: (after.postgres - before.postgres) / elapsed,
      load: (after.load - before.load) / elapsed,
    }
  return { ...run, perSecond: run.count / run.seconds, cores, loopDelay: await readLoopDelay(service) }
}

function readCpu(service: Service, load: LoadGenerator) {
  const ofService = cpuSeconds(service.pid)
  const ofPostgres = familyCpuSeconds(service.postgresPid)
  const ofLoad = cpuSeconds(load.pid)
  const ofSelf = process.cpuUsage()
  if (ofService === undefined || ofPostgres === undefined || ofLoad === undefined) return undefined
  return { service: ofService, postgres: ofPostgres, load: ofLoad + (ofSelf.user + ofSelf.system) / 1e6 }
}

/** Reading it begins a new interval. */
async function readLoopDelay({ port }: Service): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000
}

function sumUp({ id, name, beside }: Scenario, samples: readonly Sample[]): Figures {
  const middle = (read: (sample: Sample) => number) => median(samples.map(read))
  const firstFailure = samples.find((sample) => sample.firstFailure !== undefined)?.firstFailure
  return {
    id,
    name,
    ...(beside !== undefined && { beside }),
    perSecond: middle((sample) => sample.perSecond),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    cores: samples.every(({ cores }) => cores !== undefined)
      ? {
          service: middle(({ cores }) => cores?.service ?? 0),
          postgres: middle(({ cores }) => cores?.postgres ?? 0),
          load: middle(({ cores }) => cores?.load ?? 0),
        }
      : undefined,
    loopDelay: middle(({ loopDelay }) => loopDelay),
    failures: samples.reduce((sum, sample) => sum + sample.failures, 0),
    ...(firstFailure !== undefined && { firstFailure }),
    rounds: samples.map(({ perSecond, p99 }) => ({ perSecond, p99 })),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return Number.isInteger(half)
    ? ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
    : (sorted[Math.floor(half)] ?? Number.NaN)
}
