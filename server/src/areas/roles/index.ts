export { createRolePolicies, type PolicyMap, type RolePolicies, type RolePolicy } from './policies.ts'
export { tellOfChange } from './roles.ts'
export { lockRole, type RoleRow, requireRole } from './rows.ts'
export {
  isFriendsMode,
  requireFeature,
  requireGoverned,
  requireListed,
  requireRolePermission,
  roleDenied,
  roleList,
} from './rules.ts'
