import { isConnectionFailure } from './connection.ts'

const inDoubt = new WeakSet<Error>()

/**
 * Notes of the failure of what was sent to be committed whether it may be stored all the same: the connection was lost
 * before the database said so. What the database itself refuses is not stored, nor is what was never sent.
 */
export function noteDoubt(failure: unknown): void {
  if (!(failure instanceof Error) || !isConnectionFailure(failure)) return
  // An answer of the database has a code: only where it ended the connection is it not known what became of it.
  const { code } = failure as { code?: unknown }
  const isRefused = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code)
  if (!isRefused && !failure.message.endsWith('is not queryable')) inDoubt.add(failure)
}

export function isInDoubt(failure: unknown): boolean {
  return failure instanceof Error && inDoubt.has(failure)
}
