import { cpus, totalmem } from 'node:os'
import type { Goal } from './goals.ts'
import type { Figures } from './measure.ts'
import type { MemoryReport } from './memory.ts'

/** Everything that one run of the bench has to tell; written as it is with `--json`. */
export interface Report {
  readonly startedAt: string
  readonly machine: string
  readonly quick: boolean
  readonly rows: readonly Figures[]
  readonly memory: MemoryReport | undefined
  readonly goals: readonly Goal[]
}

export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() || process.arch
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${cpus().length} x ${model}, ${memory} GB, ${process.platform}, Node.js ${process.versions.node}`
}

/** Writes a report as Markdown, which a terminal can show as well. */
export function renderReport(report: Report): string {
  return [
    `${report.machine}${report.quick ? ' (quick run: too short to compare)' : ''}`,
    '',
    ...renderTable(
      ['row', 'what', 'per second', 'p50 ms', 'p99 ms', 'beside', 'service us', 'PostgreSQL us', 'loop ms'],
      report.rows.map((row) => renderRow(row, report.rows)),
    ),
    '',
    ...report.rows.flatMap(({ id, notes }) => notes.flatMap((note) => [`${id}: ${note}`, ''])),
    ...renderFailures(report.rows),
    ...renderMemory(report.memory),
    ...renderGoals(report.goals),
  ].join('\n')
}

export function renderFailures(rows: readonly Figures[]): string[] {
  return rows.flatMap(({ name, failures, firstFailure }) =>
    failures === 0 ? [] : [`${name}: ${failures} FAILED, the first with: ${firstFailure}`, ''],
  )
}

function renderRow(row: Figures, rows: readonly Figures[]): string[] {
  const limits = row.beside.flatMap((id) => {
    const limit = rows.find((other) => other.id === id)
    return limit === undefined ? [] : [`1/${(limit.perSecond / row.perSecond).toFixed(1)} of ${id}`]
  })
  return [
    row.id,
    row.name,
    Math.round(row.perSecond).toLocaleString('en'),
    row.p50.toFixed(1),
    row.p99.toFixed(1),
    limits.join(', '),
    row.cpuEach?.service.toFixed(0) ?? '',
    row.cpuEach?.postgres.toFixed(0) ?? '',
    row.loopDelay.toFixed(0),
  ]
}

export function renderGoals(goals: readonly Goal[]): string[] {
  if (goals.length === 0) return []
  const rows = goals.map(({ name, goal, reached, met }) => [name, goal, reached, met ? 'met' : 'MISSED'])
  return [...renderTable(['goal', '', 'reached', ''], rows), '']
}

function renderMemory(memory: MemoryReport | undefined): string[] {
  if (memory === undefined) return []
  const [atStart, highest, atEnd] = [memory.atStart, memory.highest, memory.atEnd].map((bytes) =>
    Math.round(bytes / 1024 / 1024),
  )
  return [`Resident memory of the service: ${atStart} MB at start, ${highest} MB at most, ${atEnd} MB at the end.`, '']
}

/** Figures to the right, the rest to the left. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = header.map((title, i) => Math.max(3, title.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const isFigure = header.map((_, i) => rows.every((row) => /^[\d.,]*$/.test(row[i] ?? '')))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (isFigure[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, i) => (isFigure[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [line(header), line(rule), ...rows.map(line)]
}
