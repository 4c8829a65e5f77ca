import { isBanned, readMembership } from '../../chat/groups/access.ts'
import { emptyGroupPassword, isPortable, passwordReader, wrongGroupPassword } from '../../chat/groups/password.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { requireListed } from '../../chat/roles/rules.ts'
import type { Context } from '../../context.ts'
import { tooManyWrongPasswords } from '../../limits/errors.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A password that was right: what was kept of it then, and what should be kept from now on. */
export interface ProvenPassword {
  readonly kept: Buffer
  readonly better: Buffer | undefined
}

const selectKept = statement(`
  select password_digest as kept
  from groups
  where app_id = $1
  and guid = $2
  and type = 'password'`)

const replaceKept = statement(`
  update groups
  set password_digest = $3
  where app_id = $1
  and guid = $2
  and password_digest = $4`)

/** What is kept of a group's password; undefined where it has none. */
async function readKept(on: Queryable, appId: number, guid: string): Promise<Buffer | undefined> {
  const [row] = await on.query<{ kept: Buffer | null }>(selectKept, [appId, guid])
  return row?.kept ?? undefined
}

/**
 * Checks a password before anything is locked, and slows down whoever guesses.
 * @returns undefined where none is needed, or where the user cannot join anyway: joining says why
 * @throws 400 `ERR_EMPTY_GROUP_PASS`, 403 `ERR_WRONG_GROUP_PASS`, 429 `ERR_TOO_MANY_REQUESTS`
 */
export async function provePassword(
  { database, limits, groupPasswords }: Context,
  appId: number,
  guid: string,
  uid: string,
  policy: RolePolicy | undefined,
  password: string,
): Promise<ProvenPassword | undefined> {
  const kept = await readKept(database, appId, guid)
  if (kept === undefined) return undefined
  requireListed(policy, 'joinGroup.allowedGroupTypes', 'password')
  const [membership, banned] = await Promise.all([
    readMembership(database, appId, guid, uid),
    isBanned(database, appId, guid, uid),
  ])
  if (membership !== undefined || banned) return undefined
  if (password === '') throw emptyGroupPassword(guid)

  const key = `${appId} ${guid} ${uid}`
  const waitMs = await limits.groupPasswords.attempt(key)
  if (waitMs > 0) {
    limits.onRefused('groupPasswords')
    throw tooManyWrongPasswords(guid, waitMs)
  }
  const reader = passwordReader(database, appId, uid)
  const isRight = await groupPasswords.matches(reader, guid, password, kept).catch(async (error: unknown) => {
    await limits.groupPasswords.wasUnchecked(key)
    throw error
  })
  if (!isRight) throw wrongGroupPassword(guid)
  await limits.groupPasswords.succeeded(key)
  return { kept, better: isPortable(kept) ? undefined : await groupPasswords.hash(reader, password) }
}

/**
 * Under the lock of the group: is what was proven still what is kept? What an import kept is replaced by what is slow to guess.
 * @returns false when the password has changed meanwhile, or there was none before
 */
export async function isStillProven(
  tx: Queryable,
  appId: number,
  guid: string,
  proven: ProvenPassword | undefined,
): Promise<boolean> {
  const kept = await readKept(tx, appId, guid)
  if (kept === undefined || proven === undefined || !kept.equals(proven.kept)) return false
  if (proven.better !== undefined) await tx.query(replaceKept, [appId, guid, proven.better, proven.kept])
  return true
}
