import { governanceOf, type Permissions, permissionAllows, permissionList } from '@parley/contract'
import type { RolePolicy } from '../roles/policies.ts'
import { deniesWhole } from '../roles/rules.ts'

const listing = governanceOf('get-message-reactions')

/**
 * Whose reactions somebody sees (`listReactions`, `listReactions.allowedScopes`).
 * @param policy of their role
 * @param scope what is set on their scope in the group, where the message stands in one
 * @returns the scopes of those whose reactions they see, empty for nobody's; null for everybody's
 */
export function visibleReactions(
  policy: RolePolicy | undefined,
  scope: Permissions | undefined,
): readonly string[] | null {
  if (policy !== undefined && deniesWhole(policy, listing)) return []
  if (scope === undefined) return null
  return permissionAllows(scope, 'listReactions', 'allow') ? permissionList(scope, 'listReactions.allowedScopes') : []
}
