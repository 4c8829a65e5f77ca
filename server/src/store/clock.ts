/** Clocks that are right differ by so much at most, in milliseconds. What was begun later than that from now was begun while a clock was wrong. */
export const clockMayDifferMs = 600_000

/** SQL for epoch milliseconds by the database's clock, the one that all processes share. */
export const nowMs = `(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** SQL for whether a time in epoch seconds is none that is still to come. */
export const isNotToCome = (seconds: string) => `${seconds} <= (${nowMs} + ${clockMayDifferMs}) / 1000`

/** As `nowMs`, but the same for all of a statement: an index can be asked by it. */
export const nowOfStatementMs = '(extract(epoch from statement_timestamp()) * 1000)::bigint'

/**
 * SQL for whether a time in epoch milliseconds is further ahead than any that is given out. A clock that was ahead gave it: it would hold up
 * whoever waits for it until then, so it counts as none.
 * @param mostMs how far ahead times are given out at most
 */
export const isTooFar = (time: string, mostMs: number) => `${time} > ${nowOfStatementMs} + ${mostMs + clockMayDifferMs}`

/** SQL for whether a lease is over that goes until a time in epoch milliseconds. @param leaseMs how long it is given for */
export const isLeaseOver = (until: string, leaseMs: number) => `(${until} < ${nowMs} or ${isTooFar(until, leaseMs)})`
