import type { User } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import { inOrder, statement } from '../../store/statement.ts'
import type { JsonText } from '../json.ts'
import { shownUid } from '../naming.ts'

/** A user as stored in the database. */
export interface UserRow {
  readonly uid: string
  readonly name: string
  readonly avatar: string | null
  readonly link: string | null
  readonly role: string
  readonly statusMessage: string | null
  readonly metadata: Record<string, unknown> | null
  readonly tags: string[]
  readonly createdAt: number
  readonly updatedAt: number | null
  /** A running process has a socket of theirs. */
  readonly online: boolean
  readonly lastActiveAt: number | null
  readonly deactivatedAt: number | null
}

/** Columns of `UserRow`, of the table `users` under the alias `u`. */
export const userColumns = `u.uid, u.name, u.avatar, u.link, u.role, u.status_message as "statusMessage", u.metadata, u.tags,
  u.created_at as "createdAt", u.updated_at as "updatedAt", u.online, u.last_active_at as "lastActiveAt",
  u.deactivated_at as "deactivatedAt"`

/** The same as JSON: a list in their order, for statements that read more than users. `userOf` takes it. */
export const userArray = `json_build_array(u.uid, u.name, u.avatar, u.link, u.role, u.status_message, u.metadata, u.tags,
  u.created_at, u.updated_at, u.online, u.last_active_at, u.deactivated_at)`

/** A user as a list, in the order of `userColumns`. */
export type UserColumns = readonly [
  uid: string,
  name: string,
  avatar: string | null,
  link: string | null,
  role: string,
  statusMessage: string | null,
  metadata: Record<string, unknown> | null,
  tags: string[],
  createdAt: number,
  updatedAt: number | null,
  online: boolean,
  lastActiveAt: number | null,
  deactivatedAt: number | null,
]

const selectUsers = lookup<UserColumns>(
  inOrder(
    statement(`
  select ${userColumns}
  from users u
  where u.app_id = $1
  and u.uid = any($2::text[])`),
  ),
  ([uid]) => [uid],
)

export function userOf(row: UserColumns): UserRow {
  return {
    uid: row[0],
    name: row[1],
    avatar: row[2],
    link: row[3],
    role: row[4],
    statusMessage: row[5],
    metadata: row[6],
    tags: row[7],
    createdAt: row[8],
    updatedAt: row[9],
    online: row[10],
    lastActiveAt: row[11],
    deactivatedAt: row[12],
  }
}

/** Reads users by uid, deactivated ones too; unknown uids are missing from the map. */
export async function readUsers(on: Queryable, appId: number, uids: Iterable<string>): Promise<Map<string, UserRow>> {
  const wanted = [...new Set(uids)]
  if (wanted.length === 0) return new Map()
  const rows = await on.query<UserColumns>(selectUsers, [appId, wanted])
  return new Map(rows.map((row) => [row[0], userOf(row)]))
}

const selectUids = lookup<readonly [uid: string]>(
  inOrder(
    statement(`
  select u.uid
  from users u
  where u.app_id = $1
  and u.uid = any($2::text[])`),
  ),
  ([uid]) => [uid],
)

/** Which of some users there are, deactivated ones too. */
export async function readUids(on: Queryable, appId: number, uids: Iterable<string>): Promise<ReadonlySet<string>> {
  const wanted = [...new Set(uids)]
  if (wanted.length === 0) return new Set()
  const rows = await on.query<readonly [uid: string]>(selectUids, [appId, wanted])
  return new Set(rows.map(([uid]) => uid))
}

/** Reads one user, deactivated or not. */
export async function readUser(on: Queryable, appId: number, uid: string): Promise<UserRow | undefined> {
  return (await readUsers(on, appId, [uid])).get(uid)
}

const selectCurrentUsers = lookup<readonly [...UserColumns, revision: number]>(
  inOrder(
    statement(`
  select ${userColumns}, u.revision
  from users u
  where u.app_id = $1
  and u.uid = any($2::text[])`),
  ),
  ([uid]) => [uid],
)

/**
 * What a statement returns of a user `u` in one text: the revision, and their row where that is wanted. `readRevised` reads it.
 * @param isWanted as SQL; null is no
 */
export function revisedUserSql(isWanted: string): string {
  return `concat_ws(' ', u.revision, case when ${isWanted} then ${userArray} end)`
}

/** The same of the user with a uid, null where there is none; their row where it has another revision than the known one, which is null where it is not wanted. */
export function revisedUserOfSql(appId: string, uid: string, known: string): string {
  return `(select ${revisedUserSql(`u.revision <> ${known}`)} from users u where u.app_id = ${appId} and u.uid = ${uid})`
}

/** A user as a statement has found them: their revision, which tells whether a row that is remembered is current. */
export interface RevisedUser {
  readonly revision: number
  /** Their row, where it was brought along: a list in the order of `userColumns`. */
  readonly row?: JsonText<UserColumns> | undefined
}

export function readRevised(text: string): RevisedUser {
  const end = text.indexOf(' ')
  if (end < 0) return { revision: Number(text) }
  return { revision: Number(text.slice(0, end)), row: text.slice(end + 1) as JsonText<UserColumns> }
}

/** Reads one user with the revision of their row, beside which it can be kept. */
export async function readCurrentUser(
  on: Queryable,
  appId: number,
  uid: string,
): Promise<{ readonly row: UserRow | undefined; readonly revision?: number }> {
  type Row = readonly [...UserColumns, revision: number]
  const [row] = await on.query<Row>(selectCurrentUsers, [appId, [uid]])
  return row === undefined ? { row } : { row: userOf(row as unknown as UserColumns), revision: row[13] }
}

/** Who views a user: the app, the user themselves, or another user, who does not see `metadata["@private"]`. */
export type UserView = 'app' | 'self' | 'other'

interface ShowUserOptions {
  readonly withTags?: boolean
}

/** A user in a response. */
export function showUser(row: UserRow, view: UserView = 'other', { withTags = true }: ShowUserOptions = {}): User {
  const metadata = view === 'other' ? withoutPrivate(row.metadata) : row.metadata
  return {
    uid: row.uid,
    name: row.name,
    ...(row.avatar !== null && { avatar: row.avatar }),
    ...(row.link !== null && { link: row.link }),
    ...(metadata !== null && { metadata }),
    status: row.online ? 'available' : 'offline',
    ...(row.statusMessage !== null && { statusMessage: row.statusMessage }),
    role: row.role,
    ...(row.lastActiveAt !== null && { lastActiveAt: row.lastActiveAt }),
    createdAt: row.createdAt,
    ...(row.updatedAt !== null && { updatedAt: row.updatedAt }),
    ...(row.deactivatedAt !== null && { deactivatedAt: row.deactivatedAt }),
    ...(withTags && row.tags.length > 0 && { tags: row.tags }),
  }
}

/** A user as those see them whom they have blocked: whether they are online is not shown. */
export function withoutPresence<Shown extends Partial<User>>(user: Shown): Shown {
  if (user.status === undefined) return user
  const { lastActiveAt: _, ...shown } = user
  return { ...shown, status: 'offline' } as Shown
}

/** A user where nobody is shown whether they are online. */
export function neverPresence<Shown extends object>(user: Shown): Omit<Shown, 'status' | 'lastActiveAt'> {
  const { status: _, lastActiveAt: _at, ...shown } = user as Shown & Pick<Partial<User>, 'status' | 'lastActiveAt'>
  return shown
}

function withoutPrivate(metadata: Record<string, unknown> | null): Record<string, unknown> | null {
  if (metadata === null || !('@private' in metadata)) return metadata
  const { '@private': _, ...visible } = metadata
  return visible
}

/** A user in a response, or the placeholder for a permanently deleted one. */
export function showUserOrDeleted(
  uid: string,
  row: UserRow | undefined,
  view?: UserView,
  options?: ShowUserOptions,
): User {
  return row === undefined ? showDeletedUser(uid) : showUser(row, view, options)
}

/** Stands in for a user who was deleted for good, where something of theirs is still shown. */
export function showDeletedUser(uid: string): { uid: string; name: string } {
  return { uid: shownUid(uid), name: 'Deleted user' }
}

/** A name in the form that lists are ordered and searched by: normal form, lower case. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}
