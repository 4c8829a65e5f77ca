import { type GroupScope, type Permissions, permissionAllows, permissionList } from '@parley/contract'
import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'

/** A membership in a group whose permissions were set at some time. */
interface RestrictedMembership {
  readonly guid: string
  readonly scope: GroupScope
  readonly joinedAt: number
  readonly permissions: Partial<Record<GroupScope, Permissions>>
}

const selectRestricted = statement(`
  select g.guid, m.scope, m.joined_at as "joinedAt", g.permissions
  from group_members m
  join groups g on g.app_id = m.app_id and g.guid = m.guid
  where m.app_id = $1
  and m.uid = $2
  and g.permissions_version > 0`)

const selectRestrictedAmong = statement(`
  select g.guid, m.scope, m.joined_at as "joinedAt", g.permissions
  from group_members m
  join groups g on g.app_id = m.app_id and g.guid = m.guid
  where m.app_id = $1
  and m.uid = $2
  and m.guid = any($3::text[])
  and g.permissions_version > 0`)

/**
 * What the scopes of a user let him see of the histories of his groups (`listMessages.*`), as conditions on `m`.
 * @param guids only these groups; else all of his
 * @param ofThreads also `listThreadedMessages`
 */
export async function groupLimits(
  on: Queryable,
  appId: number,
  uid: string,
  guids?: readonly string[],
  { ofThreads = false } = {},
): Promise<Fragment[]> {
  const memberships = await (guids === undefined
    ? on.query<RestrictedMembership>(selectRestricted, [appId, uid])
    : on.query<RestrictedMembership>(selectRestrictedAmong, [appId, uid, guids]))
  return memberships.flatMap((membership) => {
    const conditions = [...limitsOf(membership), ...(ofThreads ? threadLimitsOf(membership) : [])]
    if (conditions.length === 0) return []
    return [sql`(m.kind = 1 or m.receiver <> ${membership.guid} or (${allOf(conditions)}))`]
  })
}

function limitsOf({ scope, joinedAt, permissions }: RestrictedMembership): Fragment[] {
  const explicit = permissions[scope] ?? {}
  const conditions = contentLimits(explicit)
  if (!permissionAllows(explicit, 'listMessages.historyBeforeJoin', 'allow')) {
    conditions.push(sql`m.sent_at >= ${joinedAt}`)
  }
  return conditions
}

/** What messages may be of, to be seen: conditions on `m`, of a role and of a scope alike. */
export function contentLimits(explicit: Permissions): Fragment[] {
  const conditions: Fragment[] = []
  const categories = permissionList(explicit, 'listMessages.allowedMessageCategories')
  if (categories !== null) conditions.push(sql`m.category = any(${categories}::text[])`)
  const types = permissionList(explicit, 'listMessages.allowedMessageTypes')
  if (types !== null) conditions.push(sql`(m.category <> 'message' or m.type = any(${types}::text[]))`)
  return conditions
}

function threadLimitsOf({ scope, permissions }: RestrictedMembership): Fragment[] {
  const explicit = permissions[scope] ?? {}
  return permissionAllows(explicit, 'listThreadedMessages', 'allow') ? [] : [sql`false`]
}
