import { type Bench, repeat } from '../bench.ts'
import type { Figures, Scenario } from '../measure.ts'
import { renderFailures, renderTable } from '../table.ts'
import { type Deed, deeds, mixedRequests, mixedShape, shareOf } from './mixed.ts'

const mixId = 'mixed'

/** The mixed load, and each of its deeds alone, by those who do it in the mix. */
export async function deedScenarios(bench: Bench, appId: number): Promise<Scenario[]> {
  const { service, database } = bench
  const scenario = (id: string, only?: Deed): Scenario => ({
    id,
    name: id,
    run: async () =>
      repeat(bench, service.port, await mixedRequests(database, appId, service.apiKey, mixedShape, only)),
  })
  return [scenario(mixId), ...deeds.map(([deed]) => scenario(deed, deed))]
}

/** What each costs, and how much of the work of all of them it makes with its weight in the mix. */
export function renderDeeds(rows: readonly Figures[]): string {
  const workOf = ({ id, cpuEach }: Figures) =>
    id === mixId ? 0 : shareOf(id as Deed) * ((cpuEach?.service ?? 0) + (cpuEach?.postgres ?? 0))
  const whole = rows.reduce((sum, row) => sum + workOf(row), 0)
  return [
    ...renderTable(
      ['deed', 'of 1,000 requests', 'per second', 'p50 ms', 'p99 ms', 'service us', 'PostgreSQL us', 'of the work, %'],
      rows.map((row) => [
        row.id,
        row.id === mixId ? '' : (shareOf(row.id as Deed) * 1000).toFixed(0),
        Math.round(row.perSecond).toLocaleString('en'),
        row.p50.toFixed(1),
        row.p99.toFixed(1),
        row.cpuEach?.service.toFixed(0) ?? '',
        row.cpuEach?.postgres.toFixed(0) ?? '',
        row.id === mixId ? '' : ((workOf(row) / whole) * 100).toFixed(1),
      ]),
    ),
    '',
    ...renderFailures(rows),
  ].join('\n')
}
