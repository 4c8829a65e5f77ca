/** Clocks that are right differ by so much at most, in milliseconds. What was begun later than that from now was begun while a clock was wrong. */
export const clockMayDifferMs = 600_000

/** SQL for epoch milliseconds by the database's clock, the one that all processes share. */
export const nowMs = `(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** SQL for whether a time in epoch seconds is none that is still to come. */
export const isNotToCome = (seconds: string) => `${seconds} <= (${nowMs} + ${clockMayDifferMs}) / 1000`
