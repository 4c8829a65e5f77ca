export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof weekdays)[number]

/** When somebody is notified on a day: between two times as HHMM, both included, also over midnight; with `dnd` not at all. */
export interface Day {
  readonly from: number
  readonly to: number
  readonly dnd: boolean
}
export type Week = Readonly<Record<Weekday, Day>>
export type DayKind = 'always' | 'between' | 'never'

export function kindOf({ from, to, dnd }: Day): DayKind {
  if (dnd) return 'never'
  return from === 0 && to === 2359 ? 'always' : 'between'
}

/** `930` as `09:30`. */
export function timeOf(clock: number): string {
  const text = String(clock).padStart(4, '0')
  return `${text.slice(0, 2)}:${text.slice(2)}`
}

/** `09:30` as `930`; undefined for what is no time yet. */
export function timeFrom(text: string): number | undefined {
  const [, hours, minutes] = /^(\d\d):(\d\d)/.exec(text) ?? []
  return hours === undefined ? undefined : Number(hours) * 100 + Number(minutes)
}

export function nameOf(day: Weekday): string {
  return day.charAt(0).toUpperCase() + day.slice(1)
}

function wordsOf(day: Day): string {
  const kind = kindOf(day)
  if (kind === 'always') return 'at any time'
  return kind === 'never' ? 'not at all' : `${timeOf(day.from)} to ${timeOf(day.to)}`
}

/** A week in words, days that are alike together: `Monday to Friday: 09:00 to 18:00; Saturday, Sunday: not at all`. */
export function wordsOfWeek(week: Week): string {
  const runs: { readonly days: Weekday[]; readonly words: string }[] = []
  for (const day of weekdays) {
    const words = wordsOf(week[day])
    const last = runs.at(-1)
    if (last?.words === words) last.days.push(day)
    else runs.push({ days: [day], words })
  }
  const [first] = runs
  if (first !== undefined && runs.length === 1) return `every day ${first.words}`
  return runs.map(({ days, words }) => `${namesOf(days)}: ${words}`).join('; ')
}

function namesOf(days: readonly Weekday[]): string {
  const names = days.map(nameOf)
  return names.length < 3 ? names.join(', ') : `${names[0]} to ${names.at(-1)}`
}
