import { isConnectionFailure } from './connection.ts'

const inDoubt = new WeakSet<Error>()

/**
 * Notes of the failure of what was sent to be committed whether it may be stored all the same: the connection was lost
 * before the database said so. What the database itself refuses is not stored, nor is what was never sent.
 */
export function noteDoubt(failure: unknown): void {
  if (!(failure instanceof Error) || !isConnectionFailure(failure)) return
  const isRefused = (failure as { severity?: unknown }).severity === 'ERROR'
  if (!isRefused && !failure.message.endsWith('is not queryable')) inDoubt.add(failure)
}

export function isInDoubt(failure: unknown): boolean {
  return failure instanceof Error && inDoubt.has(failure)
}
