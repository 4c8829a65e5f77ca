import { ApiError } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { Caller } from '../../chat/identity.ts'

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

function noAccess(what: string): ApiError {
  return new ApiError('AUTH_ERR_NO_ACCESS', `An authOnly key may not ${what}; it needs a fullAccess key.`)
}
