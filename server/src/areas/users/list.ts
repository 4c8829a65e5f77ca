import { badRequest, type listUsers, type QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { findByName, hasText, type NameSearch } from '../../chat/name-search.ts'
import { isOnlineTo } from '../../chat/users/presence.ts'
import { type UserRow, userColumns } from '../../chat/users/rows.ts'
import { type PageRequest, passSecond, placeOf, selectTotal } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'
import { isFriendOf } from './role-limits.ts'

export type UserFilters = QueryOf<typeof listUsers>

interface UserPage {
  readonly users: UserRow[]
  readonly total: number
  /** Where a client that syncs goes on; absent on an empty page. */
  readonly cursor?: { updatedAt: number; affix: 'append' | 'prepend' }
}

/** When a user last changed; the index users_by_update has this very expression. */
const changedAt = sql`coalesce(u.updated_at, u.created_at)`

/**
 * A page of an app's users and how many there are in all: by name, or by change where the filters say so.
 * @param limits further conditions on `u`, such as what a role may see
 * @throws 400 when a filter needs an acting user and there is none
 */
export async function selectUsers(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  filters: UserFilters,
  page: PageRequest,
  limits: readonly Fragment[] = [],
): Promise<UserPage> {
  const affix = filters.affix ?? (filters.updatedAt === undefined ? undefined : 'append')
  const found = await findNamed(on, appId, filters)
  const conditions = allOf([
    ...conditionsOf(appId, viewer, filters),
    ...(found === undefined ? [] : [sql`u.uid = any(${found}::text[])`]),
    ...cursorConditions(filters.updatedAt, affix),
    ...limits,
  ])
  // Which users are on the page is read from an index alone, so that a late page skips index entries and no rows.
  const readUpTo = (limit: number) =>
    on.run<UserRow>(
      sql`
    select ${sql.raw(userColumns)}
    from (
      select u.app_id, u.uid
      from users u
      where ${conditions}
      order by ${orderOf(viewer, affix, filters)}
      limit ${limit}
      offset ${page.offset}
    ) p
    join users u on u.app_id = p.app_id and u.uid = p.uid
    order by ${orderOf(viewer, affix, filters)}` as Fragment<UserRow>,
    )
  const rows = await readUpTo(page.perPage)
  const { rows: users } = await passSecond(rows, placeOf(filters, page), changeOf, readUpTo)
  const total = await countUsers(on, conditions, users.length, page)
  if (affix === 'prepend') users.reverse()
  const [first] = users
  if (first === undefined) return { users, total }
  // By name, the cursor is the newest change on the page.
  const newest = Math.max(...users.map(changeOf))
  return {
    users,
    total,
    cursor: { updatedAt: affix === 'prepend' ? changeOf(first) : newest, affix: affix ?? 'prepend' },
  }
}

const userText = { name: sql`u.name_key`, id: sql`u.uid` }

function searchOf(key: string, searchIn: UserFilters['searchIn'] = []): NameSearch {
  const isIn = (field: 'name' | 'uid') => searchIn.length === 0 || searchIn.includes(field)
  return { key, inName: isIn('name'), inId: isIn('uid') }
}

/** Whom the index of names finds, where that is few. */
async function findNamed(on: Queryable, appId: number, { searchKey }: UserFilters) {
  return searchKey === undefined ? undefined : findByName(on, appId, 1, searchKey)
}

function changeOf(user: UserRow): number {
  return user.updatedAt ?? user.createdAt
}

function orderOf(
  viewer: string | undefined,
  affix: 'append' | 'prepend' | undefined,
  { sortBy, sortOrder }: UserFilters,
): Fragment {
  if (affix === 'append') return sql`${changedAt}, u.uid`
  if (affix === 'prepend') return sql`${changedAt} desc, u.uid desc`
  const [direction, opposite] = sortOrder === 'desc' ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  if (sortBy === 'uid') return sql`u.uid ${direction}`
  const byName = sql`u.name_key ${direction}, u.uid ${direction}`
  return sortBy === 'status' ? sql`${isOnlineTo(viewer, 'u')} ${opposite}, ${byName}` : byName
}

/** Everybody but this user. */
export function isAnother(uid: string): Fragment {
  return sql`u.uid <> ${uid}`
}

/** A page that is not full tells the total by itself. */
async function countUsers(on: Queryable, conditions: Fragment, found: number, page: PageRequest): Promise<number> {
  if (found < page.perPage && (found > 0 || page.offset === 0)) return page.offset + found
  const [row] = await on.run(
    selectTotal(
      page,
      sql`
    from users u
    where ${conditions}`,
    ),
  )
  return row?.total ?? 0
}

/** Both directions include the cursor's own second, which may hold more changes than were seen. */
function cursorConditions(updatedAt: number | undefined, affix: 'append' | 'prepend' | undefined): Fragment[] {
  if (updatedAt === undefined) return []
  return [affix === 'prepend' ? sql`${changedAt} <= ${updatedAt}` : sql`${changedAt} >= ${updatedAt}`]
}

function conditionsOf(appId: number, viewer: string | undefined, filters: UserFilters): Fragment[] {
  const conditions: Fragment[] = [sql`u.app_id = ${appKey(appId)}`, sql`u.uid <> ${systemUid}`]
  const { searchKey, status, role, roles = [], tags = [], uids } = filters
  if (filters.onlyDeactivated === true) conditions.push(sql`u.deactivated_at is not null`)
  else if (filters.withDeactivated !== true) conditions.push(sql`u.deactivated_at is null`)
  if (searchKey !== undefined) conditions.push(hasText(searchOf(searchKey, filters.searchIn), userText))
  const wantedRoles = [...roles, ...(role === undefined ? [] : [role])].map((id) => id.toLowerCase())
  if (wantedRoles.length === 1) conditions.push(sql`u.role = ${wantedRoles[0]}`)
  if (wantedRoles.length > 1) conditions.push(sql`u.role = any(${wantedRoles}::text[])`)
  if (tags.length > 0) conditions.push(sql`u.tags && ${tags}::text[]`)
  if (uids !== undefined) conditions.push(sql`u.uid = any(${uids.map((uid) => uid.toLowerCase())}::text[])`)
  const [wantsOnline, wantsOffline] = [status?.includes('available') === true, status?.includes('offline') === true]
  if (wantsOnline !== wantsOffline) {
    const isOnline = isOnlineTo(viewer, 'u')
    conditions.push(wantsOnline ? isOnline : sql`not ${isOnline}`)
  }
  const ranges: Array<[Fragment, keyof UserFilters, Fragment]> = [
    [sql`u.created_at`, 'createdAt[from]', sql`>=`],
    [sql`u.created_at`, 'createdAt[to]', sql`<=`],
    [changedAt, 'updatedAt[from]', sql`>=`],
    [changedAt, 'updatedAt[to]', sql`<=`],
  ]
  for (const [time, name, compared] of ranges) {
    if (filters[name] !== undefined) conditions.push(sql`${time} ${compared} ${filters[name]}`)
  }
  if (filters.friendsOnly === true) conditions.push(isFriendOf(appId, required(viewer, 'friendsOnly')))
  if (filters.hideBlockedUsers === true) {
    conditions.push(sql`u.uid not in (
      select b.blocked
      from blocks b
      where b.app_id = ${appKey(appId)}
      and b.blocker = ${required(viewer, 'hideBlockedUsers')}
    )`)
  }
  return conditions
}

function required(viewer: string | undefined, filter: string): string {
  if (viewer !== undefined) return viewer
  throw badRequest([{ path: `query/${filter}`, message: 'needs an acting user (header onBehalfOf)' }])
}
