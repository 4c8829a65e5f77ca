import { type Governance, governanceOf } from '@parley/contract'
import type { RolePolicy } from '../roles/policies.ts'
import { deniesWhole, isFriendsMode, roleList } from '../roles/rules.ts'

/** The users that somebody may list. */
export interface Listed {
  /** Their friends alone. */
  readonly friendsOnly: boolean
  /** Those with these roles; null: with any. */
  readonly roles: readonly string[] | null
}

/** What a role is denied, whose users may list nobody. */
export const listing = governanceOf('list-users') as Governance

/** Whom the role of a user lets them list (`listUsers` and its sub-keys, the setting): everybody where nothing is set on it. */
export function listedFor(policy: RolePolicy | undefined): Listed | 'nobody' {
  if (policy !== undefined && deniesWhole(policy, listing)) return 'nobody'
  return {
    friendsOnly: policy?.settings.listUsers === 'friendsOnly' || isFriendsMode(policy, 'listUsers.mode'),
    roles: roleList(policy, 'listUsers.allowedRoles'),
  }
}
