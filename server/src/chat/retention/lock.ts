import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const key = `hashtextextended('retention ' || $1::int, 0)`
const lock = statement(`select pg_advisory_xact_lock(${key})`)
const tryLock = statement(`select pg_try_advisory_xact_lock(${key}) as locked`)

/** Waits until no step of the app is under way: none of those that follow misses what this transaction sets. */
export async function waitForStep(tx: Transaction, appId: number): Promise<void> {
  await tx.query(lock, [appId])
}

/** @returns whether nobody else does a step for the app, or changes what is on hold */
export async function tryStep(tx: Transaction, appId: number): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(tryLock, [appId])
  return row?.locked === true
}
