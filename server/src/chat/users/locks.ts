import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { unknownUser } from './require.ts'
import { type UserRow, userColumns } from './rows.ts'

const selectForUpdate = statement(`
  select ${userColumns}
  from users u
  where u.app_id = $1
  and u.uid = $2
  for no key update`)

/**
 * The user once nobody else is changing them; nobody else can until the transaction ends.
 * @param uid in lower case
 * @throws 404 `ERR_UID_NOT_FOUND`
 */
export async function lockUser(tx: Transaction, appId: number, uid: string): Promise<UserRow> {
  const [row] = await tx.query<UserRow>(selectForUpdate, [appId, uid])
  if (row === undefined) throw unknownUser(uid)
  return row
}

const selectActive = statement(`
  select u.uid
  from users u
  where u.app_id = $1
  and u.uid = any($2::text[])
  and u.deactivated_at is null
  order by u.uid
  for share`)

/**
 * Those of some users who are there and active, and stay so until the transaction ends: for whatever gives them
 * something new (a membership, a friendship, a block). Without it, a deactivation or deletion at the same moment would
 * overlook that. @param uids in lower case
 */
export async function keepActive(tx: Transaction, appId: number, uids: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ uid: string }>(selectActive, [appId, uids])
  return new Set(rows.map(({ uid }) => uid))
}

const selectThere = statement(`
  select uid
  from users
  where app_id = $1
  and uid = any($2::text[])
  order by uid
  for key share`)

/** Those of some users who are there, active or not, and are not erased until the transaction ends. @param uids in lower case */
export async function keepThere(tx: Transaction, appId: number, uids: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ uid: string }>(selectThere, [appId, uids])
  return new Set(rows.map(({ uid }) => uid))
}
