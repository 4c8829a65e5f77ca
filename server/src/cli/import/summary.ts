import type { ImportKind } from '@parley/contract'
import type { Comparison } from './compare.ts'
import type { DryTally } from './dry-run.ts'
import type { LeftAside } from './left-aside.ts'
import { formatCount } from './progress.ts'
import type { Aside } from './records.ts'
import { standInName } from './stand-ins.ts'
import type { Tally } from './transfer.ts'

const mostListed = 10

/** The table at the end of an import, with what a reader of its figures must know. */
export function formatTallies(tallies: ReadonlyMap<ImportKind, Tally>, standIns: number): string {
  const rows = [...tallies].map(([kind, { read, stored, alreadyThere, refused }]) => ({
    name: kind,
    counts: [read, stored, alreadyThere, refused],
  }))
  const lines = [formatTable(['read', 'stored', 'already there', 'refused'], rows)]
  const sum = (count: (tally: Tally) => number) =>
    [...tallies.values()].reduce((total, tally) => total + count(tally), 0)
  const open = sum(
    ({ read, stored, alreadyThere, refused, aside }) =>
      read - stored - alreadyThere - refused - aside.held - aside.gone,
  )
  if (open > 0) lines.push(`Read, but not finished: ${formatCount(open)}.`)
  const afterRetry = sum((tally) => tally.alreadyThereAfterRetry)
  if (afterRetry > 0) {
    const what = 'Already there in requests that were sent again after their answer was lost'
    lines.push(`${what}: ${formatCount(afterRetry)}. This run may have stored them.`)
  }
  const renamed = sum((tally) => tally.renamed)
  if (renamed > 0) {
    const what = 'Messages with the muid of another message in the file'
    lines.push(`${what}: ${formatCount(renamed)}. They are kept under that muid with a suffix of their own.`)
  }
  lines.push(...formatAside(tallies), ...formatStandIns(standIns), ...formatIgnored(tallies))
  const unknown = sum((tally) => tally.unknownReference)
  if (unknown > 0) {
    const advice = 'If embedded details elsewhere in the import make it, run the import again'
    lines.push(`Records that name a user or group that is not there: ${formatCount(unknown)}. ${advice}.`)
  }
  return `${lines.join('\n')}\n`
}

/** The table at the end of a dry run. */
export function formatDryTallies(tallies: ReadonlyMap<ImportKind, DryTally>, standIns: number): string {
  const rows = [...tallies].map(([kind, { read, good, refused, repeated, unknownReference }]) => ({
    name: kind,
    counts: [read, good, refused, repeated, unknownReference],
  }))
  const table = formatTable(['read', 'good', 'refused', 'repeated', 'unknown reference'], rows)
  const more = [...formatAside(tallies), ...formatStandIns(standIns), ...formatIgnored(tallies)]
  return `${[table, ...more, 'Nothing was stored.'].join('\n')}\n`
}

const reasonsAside = {
  // Everybody would see those: an import over the API knows of no moderation.
  held: 'moderation holds or has stopped them or what they hang on',
  gone: 'they tell of messages that were deleted for good',
} as const satisfies Record<Aside, string>

function formatAside(tallies: ReadonlyMap<ImportKind, Pick<Tally, 'aside'>>): string[] {
  return (Object.keys(reasonsAside) as Aside[]).flatMap((reason) => {
    const count = [...tallies.values()].reduce((total, { aside }) => total + aside[reason], 0)
    if (count === 0) return []
    const what = `Left aside of messages, as ${reasonsAside[reason]}`
    return [`${what}: ${formatCount(count)}. Only parley import --exact takes those.`]
  })
}

function formatStandIns(count: number): string[] {
  if (count === 0) return []
  const what = 'Users who were deleted for good and of whom the export has messages'
  return [`${what}: ${formatCount(count)}. Deactivated ones named "${standInName}" take their places.`]
}

/** What was left out, as it is no part of an import: a line for each kind of records. */
function formatIgnored(tallies: ReadonlyMap<ImportKind, Pick<Tally, 'ignored'>>): string[] {
  return [...tallies].flatMap(([kind, { ignored }]) => {
    const names = [...ignored].map(([name, count]) => `${name} (${formatCount(count)})`)
    return names.length === 0 ? [] : [`Left out of ${kind}, as an import does not know it: ${names.join(', ')}.`]
  })
}

/** What of an export only `--exact` brings over. */
export function formatLeftAside(files: readonly LeftAside[]): string {
  if (files.length === 0) return ''
  const lines = files.map(({ file, holds, records }) => {
    const count = records === undefined ? '' : ` (${formatCount(records)})`
    return `  ${file.padEnd(28)} ${holds}${count}\n`
  })
  return `Left aside, as only parley import --exact takes it:\n${lines.join('')}`
}

/** What comparing with the counts of the service brought out, or why there is no comparison. */
export function formatComparison(comparison: Comparison | { readonly problem: string }): string {
  if ('problem' in comparison) {
    const advice = 'Everything above was stored or refused all the same; run the import again to compare'
    return `The counts could not be compared with the service: ${comparison.problem}. ${advice}.\n`
  }
  const { conversations, same, more, fewer } = comparison
  const lines = [
    `${formatCount(conversations)} conversations compared with the service: ${formatCount(same)} same, ` +
      `${formatCount(more)} more (messages not of this import), ${formatCount(fewer.length)} fewer`,
  ]
  for (const { conversation, imported, held } of fewer.slice(0, mostListed)) {
    lines.push(`  ${conversation}: ${formatCount(held)} in the service, ${formatCount(imported)} in the import`)
  }
  if (fewer.length > mostListed) lines.push(`  and ${formatCount(fewer.length - mostListed)} more of these`)
  return `${lines.join('\n')}\n`
}

function formatTable(columns: readonly string[], rows: readonly { name: string; counts: readonly number[] }[]): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map(({ counts }) => formatCount(counts[index] ?? 0).length)),
  )
  const format = (name: string, cells: readonly string[]) =>
    [name.padEnd(8), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))].join('  ')
  return [format('', columns), ...rows.map(({ name, counts }) => format(name, counts.map(formatCount)))].join('\n')
}
