export {
  bannedFrom,
  isBanned,
  lockGroup,
  type Membership,
  readMembership,
  requireGroup,
  requireGroupAccess,
  requireMembership,
  unknownGroup,
} from './access.ts'
export { readMemberships } from './memberships.ts'
export { countOnlineMembers, countOnlineMembersOf } from './online.ts'
export { checkGroupPassword, digestGroupPassword } from './password.ts'
export {
  allowedScopes,
  permissionDenied,
  readGroupPermissions,
  requireScopePermission,
  type ScopedMember,
  scopeAllows,
} from './permissions.ts'
export {
  type GroupPermissions,
  type GroupRow,
  type GroupType,
  type GroupViewer,
  groupColumns,
  readGroup,
  readGroups,
  showGroup,
} from './rows.ts'
