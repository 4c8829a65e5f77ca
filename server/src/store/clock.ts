/** SQL for epoch milliseconds by the database's clock, the one that all processes share. */
export const nowMs = `(extract(epoch from clock_timestamp()) * 1000)::bigint`
