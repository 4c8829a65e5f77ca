import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const forgetUses = statement(`
  update auth_tokens
  set used_at = null
  where app_id = $1
  and used_at is not null`)

const grantUses = statement(`
  update auth_tokens
  set used_at = greatest(used_at, least($3::bigint, used_at + $2::int))
  where app_id = $1
  and used_at is not null`)

/** Seconds within which a further use of a token is not noted: no token costs a write with each request. */
export function usePrecision(idleTimeout: number): number {
  return Math.min(3600, Math.floor(idleTimeout / 10))
}

/** Makes what was noted of tokens fit another idle timeout (seconds; 0: none), so that none in use expires by the change. */
export async function changeIdleTimeout(tx: Transaction, appId: number, before: number, after: number): Promise<void> {
  if (after === 0 || after === before) return
  // It counts from the first use under it: what was noted under an earlier one has not been kept up since.
  if (before === 0) await tx.query(forgetUses, [appId])
  // What was not noted under the longer one is granted still.
  const granted = usePrecision(before) - usePrecision(after)
  if (granted > 0) await tx.query(grantUses, [appId, granted, Math.floor(Date.now() / 1000)])
}
