import { governanceOf, type Permissions, permissionAllows, permissionList } from '@parley/contract'
import type { RolePolicy } from '../roles/policies.ts'
import { deniesWhole, isFriendsMode, roleList } from '../roles/rules.ts'
import type { Condition, Position } from './condition.ts'

/*
 * Every rule that hides messages from somebody, each said once. Lists, counts, single messages, quotes, subjects of edits
 * and deletions, last messages, threads and sockets all come here by `sight.ts`. What hides a message whatever is set (a
 * reset, moderation that holds it) is in `participation.ts`.
 */

/** A rule: what its key is, and the condition that messages must meet where it is set. */
interface Rule<SetOn> {
  readonly key: string
  readonly conditionOf: (on: SetOn) => Condition | undefined
}

/** What is set for the scope of a member, and where their membership began. */
export interface ScopeRules {
  readonly permissions: Permissions
  /** The first position since they joined. */
  readonly joined: Position
}

interface WithPermissions {
  readonly permissions: Permissions
}

/** Of a role and of a scope alike. Actions and calls have types of their own, which no list of types names. */
const contentRules: ReadonlyArray<Rule<WithPermissions>> = [
  {
    key: 'listMessages.allowedMessageCategories',
    conditionOf: ({ permissions }) =>
      among('categoryIn', permissionList(permissions, 'listMessages.allowedMessageCategories')),
  },
  {
    key: 'listMessages.allowedMessageTypes',
    conditionOf({ permissions }) {
      const ofType = among('typeIn', permissionList(permissions, 'listMessages.allowedMessageTypes'))
      const plain: Condition = { is: 'categoryIn', values: ['message'] }
      return ofType && { is: 'either', conditions: [{ is: 'not', condition: plain }, ofType] }
    },
  },
]

const listing = [
  ['user', governanceOf('user-list-user-messages')],
  ['group', governanceOf('user-list-group-messages')],
] as const

/** What somebody wrote is theirs to see, whoever else they may read, and what the app itself says is for everybody. */
const orOwn = (condition: Condition): Condition => ({ is: 'either', conditions: [{ is: 'ownOrOfApp' }, condition] })

export const roleRules: ReadonlyArray<Rule<RolePolicy>> = [
  {
    key: 'listMessages',
    conditionOf(policy) {
      const open = listing.flatMap(([type, governance]) => (deniesWhole(policy, governance) ? [] : type))
      if (open.length === listing.length) return undefined
      return open.length === 0 ? { is: 'never' } : { is: 'receiverTypeIn', values: open }
    },
  },
  ...contentRules,
  {
    key: 'listMessages.allowedReceiverTypes',
    conditionOf: (policy) => among('receiverTypeIn', roleList(policy, 'listMessages.allowedReceiverTypes')),
  },
  {
    key: 'listMessages.allowedSenderRoles',
    conditionOf(policy) {
      const ofRole = among('senderRoleIn', roleList(policy, 'listMessages.allowedSenderRoles'))
      return ofRole && orOwn(ofRole)
    },
  },
  {
    key: 'listMessages.mode',
    conditionOf: (policy) => (isFriendsMode(policy, 'listMessages.mode') ? orOwn({ is: 'fromFriend' }) : undefined),
  },
]

export const scopeRules: ReadonlyArray<Rule<ScopeRules>> = [
  ...contentRules,
  {
    key: 'listMessages.historyBeforeJoin',
    conditionOf: ({ permissions, joined }) =>
      permissionAllows(permissions, 'listMessages.historyBeforeJoin', 'allow')
        ? undefined
        : { is: 'from', position: joined },
  },
]

function among(
  is: Extract<Condition, { values: readonly string[] }>['is'],
  values: readonly string[] | null,
): Condition | undefined {
  return values === null ? undefined : { is, values }
}

/** What rules demand of messages, as somebody meets them who is under what is set there. */
export function conditionsOf<SetOn>(rules: ReadonlyArray<Rule<SetOn>>, on: SetOn | undefined): Condition[] {
  return on === undefined ? [] : rules.flatMap(({ conditionOf }) => conditionOf(on) ?? [])
}
