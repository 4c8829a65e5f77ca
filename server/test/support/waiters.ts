import { sql } from 'kysely'
import type { Transaction } from '../../src/store/database.ts'
import { until } from './until.ts'

/** Waits until so many connections wait for what a transaction has locked. */
export async function untilWaitedFor(tx: Transaction, waiters = 1): Promise<void> {
  await until(async () => {
    const [row] = await tx.run<{ count: number }>(sql`
      select count(distinct pid)::int as count
      from pg_locks
      where not granted
      and pg_backend_pid() = any(pg_blocking_pids(pid))`)
    return row !== undefined && row.count >= waiters
  })
}
