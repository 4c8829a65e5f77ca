import { systemUid } from '../../chat/apps.ts'
import { readErased } from '../../chat/users/erased.ts'
import type { Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'

/** Who pinned or banned, as a record names them: the app where nobody is named. They may be unknown here. */
export function handOf(uid: string | undefined): string {
  return uid?.toLowerCase() ?? systemUid
}

/**
 * How those are stored who pinned or banned: who was erased as the erasure leaves them, everybody else as they are named. The pin
 * and the ban are of others, and come.
 * @param present who is there; they are held, or who was erased meanwhile would come back
 */
export async function forgetErasedHands(
  tx: Transaction,
  secrets: Secrets,
  appId: number,
  hands: Iterable<string>,
  present: ReadonlyMap<string, unknown>,
): Promise<(uid: string) => string> {
  const absent = [...hands].filter((uid) => uid !== systemUid && !present.has(uid))
  const erased = await readErased(tx, secrets, appId, 'uid', absent)
  return (uid) => (erased.has(uid) ? systemUid : uid)
}
