import {
  ApiError,
  type BodyOf,
  badRequest,
  type createUser,
  type ErrorDetail,
  isWebAddress,
  limits,
  type updateUser,
} from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { unknownRole } from '../../chat/roles/rows.ts'
import { keepFormersApart } from '../../chat/users/former.ts'
import { lockUser } from '../../chat/users/locks.ts'
import { formerUserExists, userExists } from '../../chat/users/require.ts'
import { nameKey, type UserRow, userColumns } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import { checkFrontEnd } from './authority.ts'
import { botRole, refuseTooManyBots } from './bots.ts'

/** By whom a profile is written, and what the app allows. */
export interface ProfileRules {
  readonly fromBackend: boolean
  /** The setting of the app; 0: no limit. */
  readonly maxBots: number
  /** The origin of the authOnly key that creates the user. */
  readonly createdBy?: Buffer
}

export type NewUser = Omit<BodyOf<typeof createUser>, 'withAuthToken'>
export type UserChange = BodyOf<typeof updateUser>

/** Every app starts with it, and it cannot be deleted. */
const defaultRole = 'default'

/** What the schema of a profile cannot say. @throws 400 naming each field that is wrong */
export function checkProfile(profile: Pick<NewUser, 'avatar' | 'link' | 'metadata'>): void {
  const details: ErrorDetail[] = []
  for (const field of ['avatar', 'link'] as const) {
    const url = profile[field]
    if (url !== undefined && !isWebAddress(url)) {
      details.push({ path: `body/${field}`, message: 'must be a valid http or https URL' })
    }
  }
  const { metadata } = profile
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > limits.metadataBytes) {
    details.push({ path: 'body/metadata', message: `must be at most ${limits.metadataBytes} bytes of JSON` })
  }
  if (details.length > 0) throw badRequest(details)
}

const keepRole = statement(`
  select role
  from roles
  where app_id = $1
  and role = $2
  for key share`)

/**
 * Makes sure that a role is there until the transaction ends. To be held before the user who gets it, as the removal of
 * a role holds both, so that no two wait for each other.
 */
async function holdRole(tx: Transaction, appId: number, role: string): Promise<boolean> {
  return role === defaultRole || (await tx.query(keepRole, [appId, role])).length > 0
}

const insert = statement(`
  insert into users as u (
    app_id, uid, name, name_key, avatar, link, role, status_message, metadata, tags, created_at, created_by_key
  )
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  on conflict (app_id, uid) do nothing
  returning ${userColumns}`)

/**
 * Makes a user: somebody new, whoever had the uid before.
 * @throws 404 `ERR_ROLE_NOT_FOUND`; 403 `AUTH_ERR_NO_ACCESS` when a front end gives a role; 409 `ERR_UID_ALREADY_EXISTS`,
 * also when a front end asks for a uid whose user was deleted for good
 */
export async function insertUser(
  context: Pick<Context, 'tables' | 'events'>,
  tx: Transaction,
  appId: number,
  user: NewUser,
  { fromBackend, maxBots, createdBy }: ProfileRules,
): Promise<UserRow> {
  const uid = user.uid.toLowerCase()
  const role = user.role?.toLowerCase() ?? defaultRole
  if (!(await holdRole(tx, appId, role))) throw unknownRole(role)
  if (!fromBackend) checkFrontEnd({ uid, role: defaultRole }, role)
  if (role === botRole) await refuseTooManyBots(tx, appId, uid, maxBots)
  const [row] = await tx.query<UserRow>(insert, [
    appId,
    uid,
    user.name,
    nameKey(user.name),
    user.avatar ?? null,
    user.link ?? null,
    role,
    user.statusMessage || null,
    user.metadata === undefined ? null : JSON.stringify(user.metadata),
    withoutRepeats(user.tags ?? []),
    Math.floor(Date.now() / 1000),
    createdBy ?? null,
  ])
  if (row === undefined) throw userExists(uid)
  const [reused] = await keepFormersApart(context, tx, appId, [uid])
  if (reused !== undefined && !fromBackend) throw formerUserExists(uid)
  return row
}

/**
 * Changes a user, deactivated or not. A request without any field changes nothing, not even `updatedAt`.
 * @param uid in lower case
 * @throws 404 `ERR_UID_NOT_FOUND`, `ERR_ROLE_NOT_FOUND`; 403 `AUTH_ERR_NO_ACCESS` when a front end changes the role,
 * `ERR_PERMISSION_DENIED` for the name of the system user
 */
export async function changeUser(
  tx: Transaction,
  appId: number,
  uid: string,
  change: UserChange,
  { fromBackend, maxBots }: ProfileRules,
): Promise<UserRow> {
  const role = change.role?.toLowerCase()
  if (role === botRole) await refuseTooManyBots(tx, appId, uid, maxBots)
  const isRole = role === undefined || (await holdRole(tx, appId, role))
  const current = await lockUser(tx, appId, uid)
  if (!isRole) throw unknownRole(role)
  if (!fromBackend) checkFrontEnd(current, role)
  if (uid === systemUid && change.name !== undefined) throw systemKeepsName()
  const changes = changesOf(change)
  if (changes.length === 0) return current
  const [row] = await tx.run<UserRow>(
    sql`
    update users u
    set ${sql.join(changes)}, updated_at = ${Math.floor(Date.now() / 1000)}
    where u.app_id = ${appKey(appId)}
    and u.uid = ${uid}
    returning ${sql.raw(userColumns)}` as Fragment<UserRow>,
  )
  return row as UserRow
}

function systemKeepsName(): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `The name of ${systemUid} cannot be changed.`)
}

/** A field that is both given and unset is unset. */
function changesOf({ unset = [], ...change }: UserChange): Fragment[] {
  const { name, role, statusMessage, tags } = change
  const changes: Fragment[] = []
  if (name !== undefined) changes.push(sql`name = ${name}`, sql`name_key = ${nameKey(name)}`)
  for (const field of ['avatar', 'link', 'metadata'] as const) {
    const value = change[field]
    if (unset.includes(field)) changes.push(sql`${sql.ref(field)} = null`)
    else if (value !== undefined) {
      changes.push(sql`${sql.ref(field)} = ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    }
  }
  if (role !== undefined) changes.push(sql`role = ${role.toLowerCase()}`)
  if (statusMessage !== undefined) changes.push(sql`status_message = ${statusMessage || null}`)
  if (tags !== undefined) changes.push(sql`tags = ${withoutRepeats(tags)}`)
  return changes
}

function withoutRepeats(tags: readonly string[]): string[] {
  return [...new Set(tags)]
}

/**
 * Changes a user's own profile: everything but the role.
 * @throws 400 naming each field that is wrong
 */
export async function changeOwnProfile(
  database: Database,
  appId: number,
  uid: string,
  change: Omit<UserChange, 'role'>,
): Promise<UserRow> {
  checkProfile(change)
  return database.transaction((tx) => changeUser(tx, appId, uid, change, { fromBackend: true, maxBots: 0 }))
}
