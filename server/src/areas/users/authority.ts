import { ApiError } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { App, Caller } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/**
 * Is the caller the app's own backend, with a fullAccess key? An authOnly key lies in front ends, where anybody can read
 * it: it does not get to see what is private, gives no roles and does not touch the system user.
 */
export function comesFromBackend(caller: Caller): boolean {
  return caller.kind === 'app' && caller.scope === 'fullAccess'
}

/** What a front end may not do with users, though it may make and change them. @throws 403 `AUTH_ERR_NO_ACCESS` */
export function checkFrontEnd(user: { uid: string; role: string }, newRole: string | undefined): void {
  if (user.uid === systemUid) throw noAccess(`change ${systemUid}`)
  if (newRole !== undefined && newRole !== user.role) throw noAccess(`give the role ${newRole}`)
}

const selectCreator = statement(`
  select created_by_key as "keyDigest"
  from users
  where app_id = $1
  and uid = $2`)

/**
 * Where the app confines authOnly keys (setting `authKeys: createOnly`), one may do nothing with users but create them,
 * and create tokens for those that it created itself.
 * @param uid whom it wants a token for; absent: it wants to change somebody
 * @throws 403 `AUTH_ERR_NO_ACCESS`, which names the setting
 */
export async function checkAuthKey(
  { settings }: Pick<Context, 'settings'>,
  on: Queryable,
  app: App,
  caller: Caller,
  uid?: string,
): Promise<void> {
  if (caller.kind !== 'app' || caller.scope !== 'authOnly') return
  const { authKeys } = await settings.of(app.appId)
  if (authKeys === 'full') return
  const [creator] =
    uid === undefined ? [] : await on.query<{ keyDigest: Buffer | null }>(selectCreator, [app.appId, uid])
  if (creator?.keyDigest?.equals(caller.keyDigest) === true) return
  const what = uid === undefined ? 'changes no users' : 'creates tokens only for users that it created itself'
  throw new ApiError(
    'AUTH_ERR_NO_ACCESS',
    `This authOnly key ${what}: the setting authKeys of the app is createOnly. Create tokens in your back end, with a fullAccess key (docs/front-end.md).`,
  )
}

function noAccess(what: string): ApiError {
  return new ApiError('AUTH_ERR_NO_ACCESS', `An authOnly key may not ${what}; it needs a fullAccess key.`)
}
