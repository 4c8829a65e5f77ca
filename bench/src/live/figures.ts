/** One line of the table. */
export interface LiveFigure {
  readonly what: string
  readonly value: string
  /** What it is compared with, measured in the same run. */
  readonly beside?: string
  readonly goal?: string
  readonly met?: boolean
}

/** The value below which a share of all lies, e.g. 0.99. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function renderFigures(figures: readonly LiveFigure[]): string {
  const rows = figures.map(({ what, value, beside = '', goal = '', met }) =>
    [what, value, beside, goal, met === undefined ? '' : met ? 'met' : 'MISSED'].join(' | '),
  )
  return ['| what | measured | beside | goal | |', '|---|---:|---|---|---|', ...rows.map((row) => `| ${row} |`)].join(
    '\n',
  )
}

export const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} kB`
export const milliseconds = (value: number): string => `${value.toFixed(1)} ms`
export const rate = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`
