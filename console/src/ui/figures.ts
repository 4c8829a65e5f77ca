/** A value of a setting, for those who only see it. */
export function shownValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === '') return 'not set'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Bytes as people say them: `3.1 GB`. */
export function sizeOf(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${number.format(bytes / 1000 ** power)} ${units[power]}`
}

/** How many of something there are: `1 member`, `2 members`. */
export function countOf(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`
}
