import { isTimezone, type Schedule, type Weekday } from '@parley/contract'
import { LRUCache } from 'lru-cache'

/** What a clock on the wall says somewhere. */
export interface LocalTime {
  readonly weekday: Weekday
  /** HHMM as a number. */
  readonly hhmm: number
  /** `2026-03-29`: days are counted by it. */
  readonly date: string
}

/** Making one costs a hundred times what using it does. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 })

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    ...{ weekday: 'long', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    hourCycle: 'h23',
  })
  formatters.set(timezone, made)
  return made
}

/** What was asked last of each zone: clocks move by whole minutes, and many notifications are decided in one. */
const lastTimes = new LRUCache<string, { readonly minute: number; readonly time: LocalTime }>({ max: 500 })

/** The time in a zone, through all its changes. @param at epoch milliseconds */
export function localTime(at: number, timezone: string): LocalTime {
  const minute = Math.floor(at / 60_000)
  const last = lastTimes.get(timezone)
  if (last?.minute === minute) return last.time
  const time = readClock(at, timezone)
  lastTimes.set(timezone, { minute, time })
  return time
}

function readClock(at: number, timezone: string): LocalTime {
  const parts = new Map(
    formatterOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  return {
    weekday: part('weekday').toLowerCase() as Weekday,
    hhmm: Number(part('hour')) * 100 + Number(part('minute')),
    date: `${part('year')}-${part('month')}-${part('day')}`,
  }
}

const validity = new LRUCache<string, boolean>({ max: 1_000 })

/** Finding out costs as much as encrypting a push, and everything that is planned asks. */
function isKnown(timezone: string): boolean {
  const known = validity.get(timezone) ?? isTimezone(timezone)
  validity.set(timezone, known)
  return known
}

/** The first of some zones that is known here: rules age with the runtime, and others may have stored newer names. */
export function firstKnown(timezones: ReadonlyArray<string | null | undefined>): string {
  return timezones.find((name): name is string => typeof name === 'string' && isKnown(name)) ?? 'UTC'
}

const dayBefore: Readonly<Record<Weekday, Weekday>> = {
  monday: 'sunday',
  tuesday: 'monday',
  wednesday: 'tuesday',
  thursday: 'wednesday',
  friday: 'thursday',
  saturday: 'friday',
  sunday: 'saturday',
}

/**
 * Whether a weekly schedule is open at a local time. Both ends belong to a window, the last one with its whole minute. A
 * window whose end lies before its beginning goes over midnight, into the next day.
 */
export function isOpenAt(schedule: Schedule, { weekday, hhmm }: LocalTime): boolean {
  const today = schedule[weekday]
  const yesterday = schedule[dayBefore[weekday]]
  if (!yesterday.dnd && yesterday.from > yesterday.to && hhmm <= yesterday.to && !today.dnd) return true
  if (today.dnd) return false
  return today.from <= today.to ? hhmm >= today.from && hhmm <= today.to : hhmm >= today.from
}
