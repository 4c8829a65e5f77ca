import type { ConversationKind } from '../kind.ts'
import type { PolicyMap, RolePolicy } from '../roles/policies.ts'
import { isFriendsMode, roleList } from '../roles/rules.ts'
import { type Deed, featureOf, isDenied } from './deeds.ts'

/** What roles say about one deed. The statement that asks the rules compares it with the roles of the two users. */
interface RoleRules {
  /** Roles that may not do it at all. */
  readonly denied: readonly string[]
  /** Roles that may do it to friends only. */
  readonly friendsOnly: readonly string[]
  /** Roles that may do it to users of certain roles only. */
  readonly receivers: Readonly<Record<string, readonly string[]>>
}

/**
 * Judges a deed by every role of the app on which something is set, before it is done: the writer's own role is known
 * only then. Rules on whom one may write to are for one-to-one conversations; a reply is a message to the same person,
 * so those of `sendMessage.mode` bind it too, it has no mode of its own.
 * @returns `RoleRules` as JSON text, or null (nearly always) where no role is refused anything
 */
export function judgeByRoles(policies: PolicyMap, kind: ConversationKind, deed: Deed): string | null {
  if (policies.size === 0) return null
  const all = [...policies.values()]
  const denied = all.filter((policy) => isDeniedToRole(policy, kind, deed)).map(({ role }) => role)
  const { key } = deed
  const narrowed = kind === 'group' || key === 'addReaction' ? [] : all
  const friendsOnly = narrowed.filter(isFriendsOnly).map(({ role }) => role)
  const receivers =
    key === 'addReaction'
      ? []
      : narrowed.flatMap((policy): Array<[string, string[]]> => {
          const roles = roleList(policy, `${key}.allowedReceiverRoles`)
          return roles === null ? [] : [[policy.role, roles]]
        })
  if (denied.length + friendsOnly.length + receivers.length === 0) return null
  return JSON.stringify({ denied, friendsOnly, receivers: Object.fromEntries(receivers) } satisfies RoleRules)
}

function isDeniedToRole(policy: RolePolicy, kind: ConversationKind, deed: Deed): boolean {
  const feature = featureOf[deed.key]
  if (feature !== undefined && policy.restricted.has(feature)) return true
  if (deed.key !== 'addReaction') {
    const receiverTypes = roleList(policy, `${deed.key}.allowedReceiverTypes`)
    if (receiverTypes?.includes(kind) === false) return true
  }
  return isDenied(policy.permissions, deed)
}

function isFriendsOnly(policy: RolePolicy): boolean {
  return policy.settings.sendMessagesTo === 'friendsOnly' || isFriendsMode(policy, 'sendMessage.mode')
}
