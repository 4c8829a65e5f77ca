import type { Goal } from '../goals.ts'
import { renderGoals, renderTable } from '../table.ts'
import { type HostileWaits, hostileConnections } from './hostile.ts'
import type { Waits } from './waits.ts'
import type { Side } from './world.ts'

/** How many times as long as when it is quiet the others may wait. */
const limit = 3
const sides: readonly Side[] = ['same app', 'other app']

export function renderHostile(machine: string, minutes: number, { quiet, hostile, attack }: HostileWaits): string {
  const rows = sides.flatMap((side) =>
    ['all', ...Object.keys(quiet[side].kinds)].flatMap((kind) =>
      Object.entries({ quiet, hostile }).map(([situation, waits]) => [
        kind,
        `the ${side}`,
        situation,
        ...renderWaits((kind === 'all' ? waits[side].all : waits[side].kinds[kind]) as Waits),
      ]),
    ),
  )
  const refused = attack.firstFailure === undefined ? '' : `, the first with: ${attack.firstFailure}`
  return [
    machine,
    '',
    ...renderTable(['others ask for', 'in', 'when', 'asked', 'p50 ms', 'p99 ms', 'at most ms', 'refused'], rows),
    '',
    `Hostile: one token, for ${minutes} min, by connections: ${Object.entries(hostileConnections)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}. ${attack.answers} of its requests were done, ${attack.failures} refused${refused}`,
    '',
    ...renderGoals(sides.map((side) => judge(side, quiet[side].all, hostile[side].all))),
  ].join('\n')
}

function renderWaits({ count, p50, p99, max, refused }: Waits): string[] {
  return [String(count), p50.toFixed(1), p99.toFixed(1), max.toFixed(1), String(refused)]
}

function judge(side: Side, quiet: Waits, hostile: Waits): Goal {
  const ratio = hostile.p99 / quiet.p99
  return {
    name: `p99 of others in the ${side}, beside a hostile token to quiet`,
    goal: `at most ${limit}, none refused`,
    reached: `${ratio.toFixed(1)}${hostile.refused === 0 ? '' : `, ${hostile.refused} refused: ${hostile.firstRefusal}`}`,
    met: ratio <= limit && hostile.refused === 0,
  }
}
