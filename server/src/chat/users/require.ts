import { ApiError } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { readUser, type UserRow } from './rows.ts'

/** The user, deactivated or not. @throws 404 `ERR_UID_NOT_FOUND` */
export async function requireUser(on: Queryable, appId: number, uid: string): Promise<UserRow> {
  const user = await readUser(on, appId, uid.toLowerCase())
  if (user === undefined) throw unknownUser(uid)
  return user
}

/** The user, who must not be deactivated. @throws 404 `ERR_UID_NOT_FOUND` */
export async function requireActiveUser(on: Queryable, appId: number, uid: string): Promise<UserRow> {
  const user = await requireUser(on, appId, uid)
  refuseDeactivated(user)
  return user
}

/** @throws 404 `ERR_UID_NOT_FOUND` */
export function refuseDeactivated({ uid, deactivatedAt }: Pick<UserRow, 'uid' | 'deactivatedAt'>): void {
  if (deactivatedAt !== null) throw deactivatedUser(uid)
}

/** 404: whoever is deactivated is answered like a user who does not exist; only the text for developers differs. */
export function deactivatedUser(uid: string): ApiError {
  return new ApiError('ERR_UID_NOT_FOUND', `The user with the uid ${uid} is deactivated.`)
}

/** @param part what the user was meant to be, if that is not clear from the request */
export function unknownUser(uid: string, part?: string): ApiError {
  return new ApiError(
    'ERR_UID_NOT_FOUND',
    `There is no user with the uid ${uid}${part === undefined ? '' : ` (${part})`}.`,
  )
}

export function userExists(uid: string): ApiError {
  return new ApiError('ERR_UID_ALREADY_EXISTS', `A user with the uid ${uid} already exists.`)
}

/** Anybody may have an authOnly key, and nobody shall come back as somebody else. */
export function formerUserExists(uid: string): ApiError {
  const devMessage = `The user with the uid ${uid} was permanently deleted. Only a fullAccess key can use this uid again.`
  return new ApiError('ERR_UID_ALREADY_EXISTS', devMessage)
}
