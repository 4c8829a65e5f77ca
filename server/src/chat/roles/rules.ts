import {
  ApiError,
  type FeatureKey,
  featureName,
  type Governance,
  permissionAllows,
  permissionList,
  type RolePermissionKey,
} from '@parley/contract'
import type { RolePolicy } from './policies.ts'

// Nothing is denied to a role by default, so a policy of undefined (nothing is set, or the app acts) allows everything.
type Policy = RolePolicy | undefined

/** @throws 403 `ERR_PERMISSION_DENIED` for an operation that is denied to the role as a whole */
export function requireGoverned(policy: Policy, { permissions, features }: Governance): void {
  for (const feature of features) requireFeature(policy, feature)
  for (const key of permissions) requireRolePermission(policy, key)
}

/** Whether `requireGoverned` would refuse. @param governance undefined for what no role can be denied */
export function deniesWhole({ restricted, permissions }: RolePolicy, governance: Governance | undefined): boolean {
  if (governance === undefined) return false
  return (
    governance.features.some((feature) => restricted.has(feature)) ||
    governance.permissions.some((key) => !permissionAllows(permissions, key, 'allow'))
  )
}

/** @throws 403 `ERR_PERMISSION_DENIED` */
export function requireRolePermission(policy: Policy, key: RolePermissionKey): void {
  if (policy !== undefined && !permissionAllows(policy.permissions, key, 'allow')) throw roleDenied(policy, key)
}

/** @throws 403 `ERR_PERMISSION_DENIED` for a feature that is restricted */
export function requireFeature(policy: Policy, feature: FeatureKey): void {
  if (policy?.restricted.has(feature)) throw roleDenied(policy, featureName(feature))
}

/** The values that a list permission is narrowed to, or null where it narrows nothing. */
export function roleList(policy: Policy, key: RolePermissionKey): string[] | null {
  return policy === undefined ? null : permissionList(policy.permissions, key)
}

/** Whether a `.mode` is set to friends. */
export function isFriendsMode(policy: Policy, key: RolePermissionKey & `${string}.mode`): boolean {
  return policy?.permissions[key] === 'friends'
}

/** @throws 403 `ERR_PERMISSION_DENIED` where a value is not among those that a list permission is narrowed to */
export function requireListed(policy: Policy, key: RolePermissionKey, value: string): void {
  if (policy !== undefined && roleList(policy, key)?.includes(value) === false) throw roleDenied(policy, key)
}

export function roleDenied({ role }: Pick<RolePolicy, 'role'>, what: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `${what} is denied to users with the role ${role}.`)
}
