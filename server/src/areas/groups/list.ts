import type { AnswerOf, GroupScope, listGroups, QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { type GroupRow, type GroupType, type GroupViewer, groupColumns, showGroup } from '../../chat/groups/rows.ts'
import { findByName, hasText, type NameSearch } from '../../chat/name-search.ts'
import { type PageRequest, pageMeta, passSecond, placeOf, selectTotal } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'

type Query = QueryOf<typeof listGroups>

type ListedRow = GroupRow & { scope: GroupScope | null; joinedAt: number | null; isBanned: boolean }

const changedAt = sql`coalesce(g.updated_at, g.created_at)`

/**
 * A page of groups.
 * @param viewer the acting user; private groups are listed for their members only
 * @param visibleTypes the group types that their role can see, if not all
 */
export async function listPage(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  query: Query,
  page: PageRequest,
  visibleTypes: readonly string[] | null,
): Promise<AnswerOf<typeof listGroups>> {
  const conditions = [sql`g.app_id = ${appKey(appId)}`, ...filters(query)]
  const named = query.searchKey === undefined ? undefined : await findByName(on, appId, 2, query.searchKey)
  if (named !== undefined) conditions.push(sql`g.guid = any(${named}::text[])`)
  if (visibleTypes !== null) conditions.push(sql`g.type = any(${visibleTypes}::text[])`)
  if (viewer !== undefined) conditions.push(sql`(g.type <> 'private' or m.uid is not null)`)
  if (query.hasJoined === true) conditions.push(sql`m.uid is not null`)
  const source = sql`
    from groups g
    ${viewer === undefined ? sql`` : membershipOf(viewer)}
    where ${allOf(conditions)}`

  const readUpTo = (limit: number) =>
    on.run<ListedRow>(sql`
      select ${sql.raw(groupColumns)}, ${viewer === undefined ? sql`null as scope` : viewerColumns}
      ${source}
      ${orderOf(query)}
      limit ${limit} offset ${page.offset}`)
  const [found, [count]] = await Promise.all([readUpTo(page.perPage), on.run(selectTotal(page, source))])
  const { rows } = await passSecond(found, placeOf(query, page), changeOf, readUpTo)
  if (isByChange(query) && query.affix === 'prepend') rows.reverse()
  const cursor = cursorOf(query, rows)
  return {
    data: rows.map((row) =>
      showGroup(row, viewer === undefined ? undefined : viewerOf(row), { withTags: query.withTags === true }),
    ),
    meta: { ...pageMeta(page, count?.total ?? 0, rows.length), ...(cursor && { cursor }) },
  }
}

const viewerColumns = sql`m.scope, m.joined_at as "joinedAt", b.uid is not null as "isBanned"`

function membershipOf(viewer: string): Fragment {
  return sql`
    left join group_members m on m.app_id = g.app_id and m.guid = g.guid and m.uid = ${viewer}
    left join group_bans b on b.app_id = g.app_id and b.guid = g.guid and b.uid = ${viewer}`
}

function viewerOf({ scope, joinedAt, isBanned }: ListedRow): GroupViewer {
  return scope === null || joinedAt === null ? { hasJoined: false, isBanned } : { scope, joinedAt }
}

function changeOf({ updatedAt, createdAt }: GroupRow): number {
  return updatedAt ?? createdAt
}

/** With `affix` or `updatedAt` a list is ordered by change, for clients that sync. */
function isByChange(query: Query): boolean {
  return query.affix !== undefined || query.updatedAt !== undefined
}

/** Towards older the nearest come first, and are turned round afterwards: rows ascend inside a page. */
function orderOf(query: Query): Fragment {
  if (isByChange(query)) {
    return query.affix === 'prepend' ? sql`order by ${changedAt} desc, g.guid desc` : sql`order by ${changedAt}, g.guid`
  }
  const direction = query.sortOrder === 'desc' ? sql`desc` : sql`asc`
  switch (query.sortBy) {
    case 'guid':
      return sql`order by g.guid ${direction}`
    case 'createdAt':
      return sql`order by g.created_at ${direction}, g.guid ${direction}`
    default:
      return sql`order by g.name_key ${direction}, g.guid ${direction}`
  }
}

/** From where a list by change goes on in its direction; of any other, the newest change on the page. */
function cursorOf(
  query: Query,
  rows: readonly GroupRow[],
): { updatedAt: number; affix: 'append' | 'prepend' } | undefined {
  if (rows.length === 0) return undefined
  const changes = rows.map(changeOf)
  if (isByChange(query) && query.affix === 'prepend') return { updatedAt: Math.min(...changes), affix: 'prepend' }
  return { updatedAt: Math.max(...changes), affix: isByChange(query) ? 'append' : 'prepend' }
}

function filters(query: Query): Fragment[] {
  const conditions: Fragment[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => Fragment) => {
    if (value !== undefined) conditions.push(condition(value))
  }
  const types = [...(query.type === undefined ? [] : [query.type]), ...(query.types ?? [])].map(storedType)
  if (types.length > 0) conditions.push(sql`g.type = any(${types}::text[])`)
  add(query.searchKey, (key) => hasText(searchOf(key, query.searchIn), { name: sql`g.name_key`, id: sql`g.guid` }))
  add(query.tags, (tags) => sql`g.tags && ${tags}::text[]`)
  add(query.guid, (guid) => sql`g.guid = ${guid.toLowerCase()}`)
  add(query.guids, (guids) => sql`g.guid = any(${guids.map((guid) => guid.toLowerCase())}::text[])`)
  // The second of the cursor is included: it may hold several changes.
  add(query.updatedAt, (at) => (query.affix === 'prepend' ? sql`${changedAt} <= ${at}` : sql`${changedAt} >= ${at}`))
  add(query['createdAt[from]'], (from) => sql`g.created_at >= ${from}`)
  add(query['createdAt[to]'], (to) => sql`g.created_at <= ${to}`)
  // A group that never changed has no updated_at, so it is in no range.
  add(query['updatedAt[from]'], (from) => sql`g.updated_at >= ${from}`)
  add(query['updatedAt[to]'], (to) => sql`g.updated_at <= ${to}`)
  add(query['membersCount[gt]'], (count) => sql`g.members_count > ${count}`)
  add(query['membersCount[gte]'], (count) => sql`g.members_count >= ${count}`)
  add(query['membersCount[lt]'], (count) => sql`g.members_count < ${count}`)
  add(query['membersCount[lte]'], (count) => sql`g.members_count <= ${count}`)
  add(query['membersCount[eq]'], (count) => sql`g.members_count = ${count}`)
  return conditions
}

/** The contract lists `private` beside `protected`, so that one means the groups with a password. */
function storedType(type: NonNullable<Query['type']>): GroupType {
  return type === 'protected' ? 'password' : type
}

function searchOf(key: string, searchIn: Query['searchIn'] = []): NameSearch {
  const isIn = (field: 'name' | 'guid') => searchIn.length === 0 || searchIn.includes(field)
  return { key, inName: isIn('name'), inId: isIn('guid') }
}
