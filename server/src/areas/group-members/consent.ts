import { ApiError } from '@parley/contract'
import { readBlockers } from '../../chat/users/block-info.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** Who is not to be added to a group by the acting user, and why. */
export type Unwilling = ReadonlyMap<string, ApiError>

const selectFriends = statement(`
  select friend
  from friends
  where app_id = $1
  and uid = $2
  and friend = any($3::text[])`)

/**
 * Who of some users cannot be added to a group by somebody: who has blocked them, and whom the app's setting `addMembers`
 * keeps from it. The app itself may add everybody. The users are held, so that no block comes in between.
 */
export async function readUnwilling(
  { settings }: Pick<Context, 'settings'>,
  tx: Transaction,
  appId: number,
  user: UserRow | undefined,
  uids: readonly string[],
): Promise<Unwilling> {
  const unwilling = new Map<string, ApiError>()
  const others = uids.filter((uid) => uid !== user?.uid)
  if (user === undefined || others.length === 0) return unwilling
  const { addMembers } = await settings.of(appId)
  if (addMembers !== 'everybody') {
    const friends = await tx.query<{ friend: string }>(selectFriends, [appId, user.uid, others])
    const free = new Set(addMembers === 'friends' ? friends.map(({ friend }) => friend) : [])
    for (const uid of others) if (!free.has(uid)) unwilling.set(uid, notAllowed(user.uid, uid, addMembers))
  }
  for (const uid of await readBlockers(tx, appId, user.uid, others)) unwilling.set(uid, hasBlocked(uid, user.uid))
  return unwilling
}

/** @throws 403 `ERR_BLOCKED_SENDER` when somebody has blocked the acting user, who would make them the owner of a group */
export async function refuseBlocker(tx: Transaction, appId: number, user: UserRow, uid: string): Promise<void> {
  if ((await readBlockers(tx, appId, user.uid, [uid])).has(uid)) throw hasBlocked(uid, user.uid)
}

function hasBlocked(uid: string, by: string): ApiError {
  return new ApiError('ERR_BLOCKED_SENDER', `${uid} has blocked ${by}.`)
}

function notAllowed(by: string, uid: string, setting: 'friends' | 'nobody'): ApiError {
  const devMessage = `${by} cannot add ${uid} to a group: the setting addMembers of the app is ${setting}.`
  return new ApiError('ERR_PERMISSION_DENIED', devMessage)
}
