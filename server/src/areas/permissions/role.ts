import {
  type AnswerOf,
  badRequest,
  checkPermissionValue,
  type Permissions,
  type PermissionValue,
  rolePermissions,
  type setRolePermissions,
} from '@parley/contract'
import { changesOf } from '../../chat/audit/changes.ts'
import { lockRole, type RoleRow } from '../../chat/roles/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { notifyOfChange } from '../roles/index.ts'

const store = statement(`
  update roles
  set permissions = $3
  where app_id = $1
  and role = $2`)

/** What a role can be given, in the order of the contract's table, with what is set on this one. */
export function describeRole(row: Pick<RoleRow, 'permissions' | 'createdAt' | 'updatedAt'>) {
  return [...rolePermissions.values()].map((definition) => {
    const value = row.permissions[definition.id]
    return {
      ...definition,
      availableValues: [...definition.availableValues],
      ...(value !== undefined && { value }),
      createdAt: row.createdAt,
      updatedAt: row.updatedAt ?? row.createdAt,
    }
  })
}

/**
 * Sets what can be set of the permissions of a role, and answers for each key. Requests at the same time merge: the role
 * is locked between reading and writing.
 * @throws 404 `ERR_ROLE_NOT_FOUND`
 */
export function setPermissionsOfRole(
  context: Context,
  appId: number,
  role: string,
  sent: Readonly<Record<string, unknown>>,
): Promise<AnswerOf<typeof setRolePermissions>['data']> {
  return context.database.transaction(async (tx) => {
    const row = await lockRole(tx, appId, role)
    const permissions: Record<string, PermissionValue> = { ...row.permissions }
    const outcomes = Object.entries(sent).map(([key, value]) => {
      const wrong = checkPermissionValue('role', key, value)
      if (wrong !== undefined) return [key, { success: false, message: wrong }] as const
      permissions[key] = value as PermissionValue
      return [key, { success: true, message: `${key} mapped to role ${row.role}` }] as const
    })
    if (outcomes.some(([, { success }]) => success)) await storePermissions(context, tx, appId, row, permissions)
    return { ...Object.fromEntries(outcomes), permissions }
  })
}

/**
 * Takes a permission off a role, so that its default holds again.
 * @returns what is set then
 * @throws 400 for a key that does not exist, 404 `ERR_ROLE_NOT_FOUND`
 */
export function unsetPermissionOfRole(
  context: Context,
  appId: number,
  role: string,
  key: string,
): Promise<Permissions> {
  if (!rolePermissions.has(key)) {
    throw badRequest([{ path: 'params/permission', message: 'is not a permission of a role' }])
  }
  return context.database.transaction(async (tx) => {
    const row = await lockRole(tx, appId, role)
    const { [key]: removed, ...permissions } = row.permissions
    if (removed !== undefined) await storePermissions(context, tx, appId, row, permissions)
    return permissions
  })
}

async function storePermissions(
  context: Context,
  tx: Transaction,
  appId: number,
  row: RoleRow,
  permissions: Permissions,
): Promise<void> {
  await tx.query(store, [appId, row.role, JSON.stringify(permissions)])
  const details = changesOf(row.permissions, permissions)
  await context.audit.record(tx, appId, { action: 'role_permissions_updated', type: 'role', target: row.role, details })
  await notifyOfChange(context, tx, appId)
}
