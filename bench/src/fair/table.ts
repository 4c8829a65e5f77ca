import type { Goal } from '../goals.ts'
import type { LoadResult } from '../load/plan.ts'
import { renderGoals, renderTable } from '../table.ts'
import { type AbandonedWaits, abandonedAtOnce } from './abandoned.ts'
import { greedyConnections, type OthersWaits } from './loaded.ts'
import type { TimedList, Waits } from './waits.ts'
import type { Side } from './world.ts'

export interface FairnessReport {
  readonly machine: string
  readonly lists: readonly TimedList[]
  readonly quiet: OthersWaits
  readonly loaded: OthersWaits & { readonly greedy: LoadResult }
  readonly abandoned: AbandonedWaits
}

/** How many times as long as when it is quiet the others may wait. */
const limits: Readonly<Record<Side, number>> = { 'same app': 3, 'other app': 2 }
const sides = Object.keys(limits) as Side[]

export function renderFairness({ machine, lists, quiet, loaded, abandoned }: FairnessReport): string {
  const { greedy } = loaded
  const situations = { quiet, loaded, [`after ${abandonedAtOnce} abandoned`]: abandoned }
  return [
    machine,
    '',
    ...renderTable(
      ['the dearest lists', 'alone, ms', ''],
      lists.map(({ name, ms, refusal = '' }) => [name, ms.toFixed(1), refusal]),
    ),
    '',
    ...renderTable(
      ['conversations of another user', 'in', 'asked', 'p50 ms', 'p99 ms', 'at most ms', 'refused'],
      Object.entries(situations).flatMap(([situation, waits]) =>
        sides.map((side) => [situation, `the ${side}`, ...renderWaits(waits[side])]),
      ),
    ),
    '',
    `Loaded: ${greedyConnections} lists of one user at once, of which ${greedy.answers} were answered (p50 ${greedy.p50.toFixed(0)} ms) and ${greedy.failures} not${greedy.firstFailure === undefined ? '' : `, the first with: ${greedy.firstFailure}`}`,
    `Abandoned: "${abandoned.list}", ${abandonedAtOnce} times at once; the next list of each of the others, three times.`,
    '',
    ...renderGoals(sides.map((side) => judge(side, quiet[side], loaded[side]))),
  ].join('\n')
}

function renderWaits({ count, p50, p99, max, refused }: Waits): string[] {
  return [String(count), p50.toFixed(1), p99.toFixed(1), max.toFixed(1), String(refused)]
}

function judge(side: Side, quiet: Waits, loaded: Waits): Goal {
  const times = loaded.p99 / quiet.p99
  return {
    name: `p99 of another user's conversations in the ${side}, loaded to quiet`,
    goal: `at most ${limits[side]}, none refused`,
    reached: `${times.toFixed(1)}${loaded.refused === 0 ? '' : `, ${loaded.refused} refused: ${loaded.firstRefusal}`}`,
    met: times <= limits[side] && loaded.refused === 0,
  }
}
