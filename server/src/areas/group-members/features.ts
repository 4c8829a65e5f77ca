import type { RolePolicy } from '../../chat/roles/policies.ts'
import { requireFeature } from '../../chat/roles/rules.ts'
import { listScopes, type MemberLists } from './additions.ts'

/** @throws 403 `ERR_PERMISSION_DENIED` where a list names somebody and its use is forbidden to the role */
export function requireListFeatures(policy: RolePolicy | undefined, lists: MemberLists): void {
  for (const [list, scope] of listScopes) {
    if (isUsed(lists, list)) requireFeature(policy, scope === undefined ? 'ban' : 'addMember')
  }
}

/**
 * The same of the first members of a group that is made: they are added and banned as those of a group that is there. Lists that
 * name nobody do nothing.
 */
export function requireFirstMemberFeatures(policy: RolePolicy | undefined, lists: MemberLists): void {
  if (listScopes.some(([list]) => isUsed(lists, list))) requireFeature(policy, 'massMemberOperate')
  requireListFeatures(policy, lists)
}

function isUsed(lists: MemberLists, list: keyof MemberLists): boolean {
  return (lists[list]?.length ?? 0) > 0
}
