import { timingSafeEqual } from 'node:crypto'
import { ApiError } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'

/** What is kept of a group's password. Neither colons nor blanks occur in a guid, so no two inputs are alike. */
export function digestGroupPassword(secrets: Secrets, appId: number, guid: string, password: string): Buffer {
  return secrets.digest(`group password:${appId}:${guid}:${password}`)
}

const selectDigest = statement(`
  select password_digest as digest
  from groups
  where app_id = $1
  and guid = $2`)

/** @throws 400 `ERR_EMPTY_GROUP_PASS`, 403 `ERR_WRONG_GROUP_PASS` */
export async function checkGroupPassword(
  on: Queryable,
  secrets: Secrets,
  appId: number,
  guid: string,
  password: string,
): Promise<void> {
  if (password === '') throw emptyGroupPassword(guid)
  const [row] = await on.query<{ digest: Buffer | null }>(selectDigest, [appId, guid])
  const given = digestGroupPassword(secrets, appId, guid, password)
  if (!row?.digest || !timingSafeEqual(row.digest, given)) {
    throw new ApiError('ERR_WRONG_GROUP_PASS', `The password of the group ${guid} is wrong.`)
  }
}

export function emptyGroupPassword(guid: string): ApiError {
  return new ApiError('ERR_EMPTY_GROUP_PASS', `The group ${guid} has the type password, so a password is required.`, [
    { path: 'body/password', message: 'is required for a group of type password' },
  ])
}
