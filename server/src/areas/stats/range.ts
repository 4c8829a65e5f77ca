import { badRequest, maxStatsDays } from '@parley/contract'
import { dayMs } from '../../chat/usage/clock.ts'

/** A range of time, in epoch milliseconds, both ends included. */
export interface TimeRange {
  readonly fromDate: number
  readonly toDate: number
}

/** From here on a number is taken for milliseconds: as seconds it would be in the year 5138. */
const firstMilliseconds = 1e11

/** @throws 400 for a range that ends before it begins, or is too long */
export function readRange({ fromDate, toDate }: TimeRange): TimeRange {
  const range = { fromDate: toMs(fromDate), toDate: toMs(toDate) }
  if (range.fromDate > range.toDate) {
    throw badRequest([{ path: 'query/toDate', message: 'must not be before fromDate' }])
  }
  if (range.toDate - range.fromDate > maxStatsDays * dayMs) {
    throw badRequest([{ path: 'query/toDate', message: `must be at most ${maxStatsDays} days after fromDate` }])
  }
  return range
}

function toMs(moment: number): number {
  return moment < firstMilliseconds ? moment * 1000 : moment
}
