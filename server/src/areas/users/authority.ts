import { systemUid } from '../../chat/apps.ts'
import type { App, Caller } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import * as errors from './errors.ts'

/**
 * Whether the caller is the app's own backend, with a fullAccess key. authOnly keys are used in front ends, where anyone
 * can read them: they do not show private data, cannot assign roles and cannot change the system user.
 */
export function comesFromBackend(caller: Caller): boolean {
  return caller.kind === 'app' && caller.scope === 'fullAccess'
}

/** The limits of a front end, which may create and update users. @throws 403 `AUTH_ERR_NO_ACCESS` */
export function checkFrontEnd(user: { uid: string; role: string }, newRole: string | undefined): void {
  if (user.uid === systemUid) throw errors.needsFullAccess(`change ${systemUid}`)
  if (newRole !== undefined && newRole !== user.role) throw errors.needsFullAccess(`assign the role ${newRole}`)
}

const selectCreator = statement(`
  select created_by_key as key
  from users
  where app_id = $1
  and uid = $2`)

/**
 * Where the app restricts authOnly keys (setting `authKeys: createOnly`), a key can only create users, and tokens for the
 * users that it created itself, or a key whose place it took.
 * @param uid the user for whom it wants a token; absent: it wants to update a user
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
  const [creator] = uid === undefined ? [] : await on.query<{ key: Buffer | null }>(selectCreator, [app.appId, uid])
  if ([caller.keyOrigin, ...caller.keyLine].some((digest) => creator?.key?.equals(digest))) return
  throw errors.keyIsConfined(uid === undefined ? 'update' : 'token')
}
