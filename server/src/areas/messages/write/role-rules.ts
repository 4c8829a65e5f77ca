import { messageSendDenial } from '@parley/contract'
import type { PolicyMap, RolePolicy } from '../../../chat/roles/policies.ts'
import { isFriendsMode, roleList } from '../../../chat/roles/rules.ts'
import type { Content } from '../content.ts'
import { describeForPermissions, type SendPrefix } from './permissions.ts'

/** What roles say about one message. The batch statement compares it with the roles of its sender and receiver. */
interface RoleRules {
  /** Roles that may not send it at all. */
  readonly denied: readonly string[]
  /** Roles that may send it to friends only. */
  readonly friendsOnly: readonly string[]
  /** Roles that may send it to users of certain roles only. */
  readonly receivers: Readonly<Record<string, readonly string[]>>
}

/**
 * Judges a message by every role of the app on which something is set, before it is written: the sender's own role is
 * known only then. Rules on whom one may write to are for one-to-one talks; a reply is a message to the same person, so
 * those of `sendMessage.mode` bind it too, it has no mode of its own.
 * @returns `RoleRules` as JSON text, or null (nearly always) where no role is refused anything
 */
export function judgeByRoles(policies: PolicyMap, kind: 1 | 2, prefix: SendPrefix, content: Content): string | null {
  if (policies.size === 0) return null
  const all = [...policies.values()]
  const denied = all.filter((policy) => isDenied(policy, kind, prefix, content)).map(({ role }) => role)
  const narrowed = kind === 1 ? all : []
  const friendsOnly = narrowed.filter(isFriendsOnly).map(({ role }) => role)
  const receivers = narrowed.flatMap((policy): Array<[string, string[]]> => {
    const roles = roleList(policy, `${prefix}.allowedReceiverRoles`)
    return roles === null ? [] : [[policy.role, roles]]
  })
  if (denied.length + friendsOnly.length + receivers.length === 0) return null
  return JSON.stringify({ denied, friendsOnly, receivers: Object.fromEntries(receivers) } satisfies RoleRules)
}

function isDenied(policy: RolePolicy, kind: 1 | 2, prefix: SendPrefix, content: Content): boolean {
  if (policy.restricted.has(prefix === 'sendMessage' ? 'createMessage' : 'createMessageThread')) return true
  if (roleList(policy, `${prefix}.allowedReceiverTypes`)?.includes(kind === 1 ? 'user' : 'group') === false) return true
  return messageSendDenial(policy.permissions, prefix, describeForPermissions(content), true) !== undefined
}

function isFriendsOnly(policy: RolePolicy): boolean {
  return policy.settings.sendMessagesTo === 'friendsOnly' || isFriendsMode(policy, 'sendMessage.mode')
}
