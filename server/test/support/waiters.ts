import { sql } from 'kysely'
import type { Transaction } from '../../src/store/database.ts'
import { until } from './until.ts'

/** Waits until so many connections wait for what a transaction has locked, one behind the other where they want the same row. */
export async function untilWaitedFor(tx: Transaction, waiters = 1): Promise<void> {
  await until(async () => {
    const [row] = await tx.run<{ count: number }>(sql`
      with recursive waiting as (
        select pg_backend_pid() as pid
        union
        select l.pid
        from (select distinct pid from pg_locks where not granted) l
        join waiting w on w.pid = any(pg_blocking_pids(l.pid))
      )
      select count(*)::int - 1 as count
      from waiting`)
    return row !== undefined && row.count >= waiters
  })
}

/** Waits until somebody waits for one of those who wait for what a transaction has locked. */
export async function untilWaitsBehind(tx: Transaction): Promise<void> {
  await until(async () => {
    const rows = await tx.run(sql`
      select
      from pg_locks l
      where not l.granted
      and exists (
        select
        from unnest(pg_blocking_pids(l.pid)) between(pid)
        where pg_backend_pid() = any(pg_blocking_pids(between.pid))
      )`)
    return rows.length > 0
  })
}
