import {
  ApiError,
  defaultScopePermission,
  type GroupScope,
  permissionAllows,
  permissionList,
  type ScopePermissionKey,
} from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { GroupPermissions, GroupRow } from './rows.ts'

/** What permissions depend on in a member. */
export interface ScopedMember {
  readonly uid: string
  readonly scope: GroupScope
}

type Ruled = Pick<GroupRow, 'guid' | 'owner' | 'permissions'>

/**
 * Whether a member's scope allows something in the group. What is set overrides the default. The owner is exempt from what
 * is denied by default (and so can delete the group), not from what is set.
 */
export function scopeAllows(group: Ruled, member: ScopedMember, key: ScopePermissionKey): boolean {
  const isOwner = member.uid === group.owner
  const defaultValue = isOwner ? 'allow' : defaultScopePermission(key, member.scope)
  return permissionAllows(group.permissions[member.scope] ?? {}, key, defaultValue)
}

/** The scopes that `<key>.allowedScopes` narrows a member to, or null where nothing is narrowed. */
export function allowedScopes(
  group: Ruled,
  member: ScopedMember,
  key: 'listMembers' | 'addMembers' | 'kickMembers' | 'ban',
): GroupScope[] | null {
  const explicit = group.permissions[member.scope] ?? {}
  return permissionList(explicit, `${key}.allowedScopes`) as GroupScope[] | null
}

/** @throws 403 `ERR_PERMISSION_DENIED` where `scopeAllows` says no */
export function requireScopePermission(group: Ruled, member: ScopedMember, key: ScopePermissionKey): void {
  if (!scopeAllows(group, member, key)) throw permissionDenied(group, member, key)
}

export function permissionDenied(group: Ruled, member: ScopedMember, key: ScopePermissionKey): ApiError {
  return new ApiError(
    'ERR_PERMISSION_DENIED',
    `${key} is denied to ${member.uid}, whose scope in the group ${group.guid} is ${member.scope}.`,
  )
}

const select = statement(`
  select permissions_version as version, permissions as scopes, revision
  from groups
  where app_id = $1
  and guid = $2`)

/**
 * What is set in a group, its version, for those who judge ahead of a write, and the revision of the group; undefined for an
 * unknown group.
 */
export async function readGroupPermissions(
  on: Queryable,
  appId: number,
  guid: string,
): Promise<{ version: number; scopes: GroupPermissions; revision: number } | undefined> {
  const [row] = await on.query<{ version: number; scopes: GroupPermissions; revision: number }>(select, [appId, guid])
  return row
}
