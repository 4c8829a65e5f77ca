import type { AnswerOf, listBannedGroupUsers } from '@parley/contract'
import { requireGroup, requireMembership } from '../../chat/groups/access.ts'
import { requireScopePermission } from '../../chat/groups/permissions.ts'
import { type UserRow, userColumns } from '../../chat/users/rows.ts'
import { showUsers } from '../../chat/users/view.ts'
import { type PageRequest, pageMeta, syncCursor } from '../../paging.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** The offset keeps it a look by key for each; the planner would rather read the users of the app. */
const bannedUsers = `
  from group_bans b
  cross join lateral (
    select *
    from users u
    where u.app_id = b.app_id
    and u.uid = b.uid
    offset 0
  ) u`

const select = statement(`
  select ${userColumns}${bannedUsers}
  where b.app_id = $1
  and b.guid = $2
  and u.deactivated_at is null
  order by b.ordinal desc
  limit $3 offset $4`)

const count = statement(`
  select count(*) as total${bannedUsers}
  where b.app_id = $1
  and b.guid = $2
  and u.deactivated_at is null`)

/** A page of the users banned from a group, newest ban first; deactivated ones are not listed. */
export async function listBanned(
  on: Queryable,
  appId: number,
  guid: string,
  viewer: string | undefined,
  page: PageRequest,
): Promise<AnswerOf<typeof listBannedGroupUsers>> {
  const group = await requireGroup(on, appId, guid)
  if (viewer !== undefined) {
    const membership = await requireMembership(on, appId, group, viewer)
    requireScopePermission(group, membership, 'listBannedUsers')
  }
  const [rows, [counted]] = await Promise.all([
    on.query<UserRow>(select, [appId, group.guid, page.perPage, page.offset]),
    on.query<{ total: number }>(count, [appId, group.guid]),
  ])
  const cursor = syncCursor(rows)
  return {
    data: await showUsers(on, appId, viewer, rows),
    meta: pageMeta(page, counted?.total ?? 0, rows.length),
    ...(cursor && { cursor }),
  }
}
