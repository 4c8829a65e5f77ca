import {
  type AnswerOf,
  badRequest,
  checkPermissionValue,
  type GroupScope,
  type Permissions,
  type PermissionValue,
  scopePermissions,
  type setScopePermissions,
} from '@parley/contract'
import { changesOf } from '../../chat/audit/changes.ts'
import { lockGroup } from '../../chat/groups/access.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A version that no group ever had, so that whoever judged by an older one is found out. */
const store = statement(`
  update groups
  set permissions = $3,
    permissions_version = nextval('revisions')
  where app_id = $1
  and guid = $2`)

/** @throws 400 if there is no such scope */
export function readScope(scope: string): GroupScope {
  if (scope === 'admin' || scope === 'moderator' || scope === 'participant') return scope
  throw badRequest([{ path: 'params/scope', message: 'must be one of admin, moderator, participant' }])
}

/** What a scope can be given, in the order of the contract's table, with what is set in this group. */
export function describeScope(group: Pick<GroupRow, 'permissions' | 'createdAt'>, scope: GroupScope) {
  const explicit = group.permissions[scope] ?? {}
  return [...scopePermissions[scope].values()].map((definition) => {
    const value = explicit[definition.id]
    return {
      ...definition,
      availableValues: [...definition.availableValues],
      ...(value !== undefined && { value }),
      createdAt: group.createdAt,
      updatedAt: group.createdAt,
    }
  })
}

/**
 * Sets what can be set of the permissions of a scope, and answers for each key. Requests at the same time merge: the
 * group is locked between reading and writing.
 * @throws 404 `ERR_GUID_NOT_FOUND`
 */
export function setPermissions(
  context: Context,
  appId: number,
  guid: string,
  scope: GroupScope,
  sent: Readonly<Record<string, unknown>>,
): Promise<AnswerOf<typeof setScopePermissions>['data']> {
  return context.database.transaction(async (tx) => {
    const group = await lockGroup(tx, appId, guid)
    const permissions: Record<string, PermissionValue> = { ...group.permissions[scope] }
    const outcomes = Object.entries(sent).map(([key, value]) => {
      const wrong = checkPermissionValue('scope', key, value)
      if (wrong !== undefined) return [key, { success: false, message: wrong }] as const
      permissions[key] = value as PermissionValue
      return [key, { success: true, message: `${key} mapped to scope ${scope} of group ${group.guid}` }] as const
    })
    if (outcomes.some(([, { success }]) => success)) await storeScope(context, tx, appId, group, scope, permissions)
    return { ...Object.fromEntries(outcomes), permissions }
  })
}

/**
 * Takes a permission off a scope, so that its default holds again.
 * @returns what is set then
 * @throws 400 for a key that does not exist, 404 `ERR_GUID_NOT_FOUND`
 */
export function unsetPermission(
  context: Context,
  appId: number,
  guid: string,
  scope: GroupScope,
  key: string,
): Promise<Permissions> {
  if (!scopePermissions[scope].has(key)) {
    throw badRequest([{ path: 'params/permission', message: 'is not a permission of a scope' }])
  }
  return context.database.transaction(async (tx) => {
    const group = await lockGroup(tx, appId, guid)
    const { [key]: removed, ...permissions } = group.permissions[scope] ?? {}
    if (removed !== undefined) await storeScope(context, tx, appId, group, scope, permissions)
    return permissions
  })
}

async function storeScope(
  { audit }: Context,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  scope: GroupScope,
  permissions: Permissions,
): Promise<void> {
  await tx.query(store, [appId, group.guid, JSON.stringify({ ...group.permissions, [scope]: permissions })])
  const target = group.guid
  const details = { scope, ...changesOf(group.permissions[scope] ?? {}, permissions) }
  await audit.record(tx, appId, { action: 'scope_permissions_updated', type: 'group', target, details })
}
