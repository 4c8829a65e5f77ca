import type { AnswerOf, GroupScope, listGroupMembers, QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { requireGroup, requireMembership } from '../../chat/groups/access.ts'
import { allowedScopes, requireScopePermission } from '../../chat/groups/permissions.ts'
import { everywhere, findByName, hasText } from '../../chat/name-search.ts'
import { isOnlineTo } from '../../chat/users/presence.ts'
import { type UserRow, userColumns } from '../../chat/users/rows.ts'
import { showUsers } from '../../chat/users/view.ts'
import { type PageRequest, pageMeta, selectTotal, syncCursor } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'

type MemberRow = UserRow & { scope: GroupScope; joinedAt: number }

/**
 * A page of the members of a group, by name. Deactivated ones are neither listed nor counted.
 * @param viewer the acting user, who must be a member; their scope may only see some scopes
 */
export async function listMembers(
  on: Queryable,
  appId: number,
  guid: string,
  viewer: string | undefined,
  query: QueryOf<typeof listGroupMembers>,
  page: PageRequest,
): Promise<AnswerOf<typeof listGroupMembers>> {
  const group = await requireGroup(on, appId, guid)
  const conditions: Fragment[] = []
  if (viewer !== undefined) {
    const membership = await requireMembership(on, appId, group, viewer)
    requireScopePermission(group, membership, 'listMembers')
    const visible = allowedScopes(group, membership, 'listMembers')
    if (visible !== null) conditions.push(sql`m.scope = any(${visible}::text[])`)
  }
  conditions.push(...filters(viewer, query))
  const named = query.searchKey === undefined ? undefined : await findByName(on, appId, 1, query.searchKey)
  if (named !== undefined) conditions.push(sql`m.uid = any(${named}::text[])`)

  const matching = membersWhere(appId, group.guid, conditions)
  const [rows, [count]] = await Promise.all([
    (conditions.length === 0 ? await selectByWalk(on, appId, group, page) : undefined) ??
      on.run(
        pageOf(sql`
        select m.app_id, m.uid, m.scope, m.joined_at, u.name_key
        ${matching}
        order by u.name_key, m.uid
        limit ${page.perPage} offset ${page.offset}`),
      ),
    // How many members there are is kept with the group.
    conditions.length === 0 ? [{ total: group.membersCount }] : on.run(selectTotal(page, matching)),
  ])
  const users = await showUsers(on, appId, viewer, rows)
  const cursor = syncCursor(rows)
  return {
    data: users.map((user, i) => {
      const { scope, joinedAt } = rows[i] as MemberRow
      return { ...user, scope, joinedAt }
    }),
    meta: pageMeta(page, count?.total ?? 0, rows.length),
    ...(cursor && { cursor }),
  }
}

/** @param members a query of the members of the page */
function pageOf(members: Fragment): Fragment<MemberRow> {
  return sql`
      select ${sql.raw(userColumns)}, p.scope, p.joined_at as "joinedAt"
      from (${members}) p
      join users u on u.app_id = p.app_id and u.uid = p.uid
      order by p.name_key, p.uid`
}

/** Of so many members one may be on a page that is sought among all users. */
const walkedPart = 8

/**
 * An early page of a large group: sought among the users of the app in the order of their names, of whom a quarter as many as the
 * group has members are looked at. All members would have to be looked up and sorted else.
 * @returns undefined where that does not fill the page
 */
async function selectByWalk(
  on: Queryable,
  appId: number,
  { guid, membersCount }: { readonly guid: string; readonly membersCount: number },
  { perPage, offset }: PageRequest,
): Promise<MemberRow[] | undefined> {
  if ((offset + perPage) * walkedPart > membersCount) return undefined
  const rows = await on.run<MemberRow>(
    pageOf(sql`
        select m.app_id, m.uid, m.scope, m.joined_at, u.name_key
        from (
          select u.uid, u.name_key
          from users u
          where u.app_id = ${appKey(appId)}
          and u.deactivated_at is null
          order by u.name_key, u.uid
          limit ${Math.floor(membersCount / 4)}
        ) u
        cross join lateral (
          select m.app_id, m.uid, m.scope, m.joined_at
          from group_members m
          where m.app_id = ${appKey(appId)}
          and m.guid = ${guid}
          and m.uid = u.uid
          offset 0
        ) m
        order by u.name_key, u.uid
        limit ${perPage} offset ${offset}`),
  )
  return rows.length === perPage ? rows : undefined
}

/** The offset keeps it a look by key for each member; the planner would rather read all users of the app. */
function membersWhere(appId: number, guid: string, conditions: readonly Fragment[]): Fragment {
  return sql`
        from group_members m
        cross join lateral (
          select u.uid, u.name_key, u.deactivated_at
          from users u
          where u.app_id = m.app_id
          and u.uid = m.uid
          offset 0
        ) u
        where m.app_id = ${appKey(appId)}
        and m.guid = ${guid}
        and ${allOf([sql`u.deactivated_at is null`, ...conditions])}`
}

function filters(
  viewer: string | undefined,
  { scopes, searchKey, status }: QueryOf<typeof listGroupMembers>,
): Fragment[] {
  const conditions: Fragment[] = []
  if (scopes !== undefined) conditions.push(sql`m.scope = any(${scopes}::text[])`)
  if (searchKey !== undefined) {
    conditions.push(hasText({ key: searchKey, ...everywhere }, { name: sql`u.name_key`, id: sql`u.uid` }))
  }
  const isOnline = isOnlineTo(viewer, 'm')
  if (status !== undefined) conditions.push(status === 'available' ? isOnline : sql`not ${isOnline}`)
  return conditions
}
