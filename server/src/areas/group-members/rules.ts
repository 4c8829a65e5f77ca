import { ApiError, type GroupScope, limits } from '@parley/contract'
import { bannedFrom, type Membership } from '../../chat/groups/access.ts'
import { allowedScopes, permissionDenied, scopeAllows } from '../../chat/groups/permissions.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import type { UserRow } from '../../chat/users/rows.ts'

/** What the rules look at in a group. */
export type RuledGroup = Pick<GroupRow, 'guid' | 'owner' | 'permissions' | 'membersCount'>

/** What the rules look at in the one who acts. */
export type RuledActor = { readonly kind: 'app' } | { readonly kind: 'member'; readonly membership: Membership }

/** What the rules look at in the one whom something is done to. */
export interface Target {
  readonly uid: string
  /** Absent when there is no such user. */
  readonly user: UserRow | undefined
  readonly membership: Membership | undefined
  readonly isBanned: boolean
  /** Groups that he is a member of. */
  readonly groups: number
}

/** Members that a group still takes. */
export function vacancies({ membersCount }: Pick<GroupRow, 'membersCount'>): number {
  return limits.membersPerGroup - membersCount
}

const rank: Readonly<Record<GroupScope, number>> = { participant: 1, moderator: 2, admin: 3 }

export function isAbove(scope: GroupScope, other: GroupScope): boolean {
  return rank[scope] > rank[other]
}

/**
 * Why somebody may not be added with this scope: the actor's rights first, then the state of things.
 * @param room members that the group still takes
 */
export function refuseAddition(
  group: RuledGroup,
  actor: RuledActor,
  target: Target,
  scope: GroupScope,
  room: number,
): ApiError | undefined {
  return (
    refuseUnknown(target) ??
    (actor.kind === 'member' ? refuseGiving(group, actor.membership, scope) : undefined) ??
    refuseMembership(group, target, room)
  )
}

function refuseUnknown({ uid, user }: Target): ApiError | undefined {
  if (user !== undefined && user.deactivatedAt === null) return undefined
  const reason = user === undefined ? `There is no user with the uid ${uid}.` : `The user ${uid} is deactivated.`
  return new ApiError('ERR_UID_NOT_FOUND', reason)
}

/** Why a member may not make somebody a member of this scope: nobody gives a scope above his own. */
function refuseGiving(group: RuledGroup, actor: Membership, scope: GroupScope): ApiError | undefined {
  if (!scopeAllows(group, actor, 'addMembers')) return permissionDenied(group, actor, 'addMembers')
  if (isAbove(scope, actor.scope)) return noScopeClearance(`A ${actor.scope} cannot give the scope ${scope}.`)
  if (allowedScopes(group, actor, 'addMembers')?.includes(scope) === false) {
    return permissionDenied(group, actor, 'addMembers.allowedScopes')
  }
  return undefined
}

/** Why a user cannot become a member, whoever adds him. @param room members that the group still takes */
export function refuseMembership(
  { guid }: Pick<GroupRow, 'guid'>,
  { uid, membership, isBanned, groups }: Target,
  room: number,
): ApiError | undefined {
  if (membership !== undefined) {
    return new ApiError('ERR_ALREADY_JOINED', `${uid} is a member of the group ${guid} already.`)
  }
  if (isBanned) return bannedFrom(guid, uid)
  if (groups >= limits.groupsPerUser) return tooManyGroups(uid)
  if (room <= 0) {
    return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', `A group may have ${limits.membersPerGroup} members.`)
  }
  return undefined
}

export function tooManyGroups(uid: string): ApiError {
  const devMessage = `A user may be in ${limits.groupsPerUser} groups, and ${uid} is.`
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', devMessage)
}

/**
 * Why somebody may not be kicked or banned. The owner is out of everybody's reach, the app's too: he passes his
 * ownership on first.
 */
export function refuseRemoval(
  group: RuledGroup,
  actor: RuledActor,
  target: Pick<Target, 'uid' | 'membership'>,
  key: 'kickMembers' | 'ban',
): ApiError | undefined {
  if (actor.kind === 'member' && target.uid === actor.membership.uid) {
    return new ApiError('ERR_GROUP_NO_SELF_ACTION', `${target.uid} cannot do that to himself.`)
  }
  if (target.uid === group.owner) {
    return new ApiError('ERR_GROUP_NO_CLEARANCE', `${target.uid} owns the group ${group.guid}.`)
  }
  if (actor.kind === 'app') return undefined
  const { membership } = actor
  if (target.membership !== undefined && isAbove(target.membership.scope, membership.scope)) {
    const devMessage = `${target.uid} is ${target.membership.scope}, ${membership.uid} only ${membership.scope}.`
    return new ApiError('ERR_GROUP_NO_CLEARANCE', devMessage)
  }
  if (!scopeAllows(group, membership, key)) return permissionDenied(group, membership, key)
  const touchable = allowedScopes(group, membership, key)
  if (target.membership !== undefined && touchable?.includes(target.membership.scope) === false) {
    return permissionDenied(group, membership, `${key}.allowedScopes`)
  }
  return undefined
}

/** Why somebody may not be banned; who is no member may. */
export function refuseBan(group: RuledGroup, actor: RuledActor, target: Target): ApiError | undefined {
  const refusal = refuseUnknown(target) ?? refuseRemoval(group, actor, target, 'ban')
  if (refusal !== undefined || !target.isBanned) return refusal
  return new ApiError('ERR_ALREADY_BANNED', `${target.uid} is banned from the group ${group.guid} already.`)
}

/**
 * Why a member's scope may not be changed. There is no permission for it: admins and moderators may, among members of
 * their own scope and below, the owner excepted, who is always an admin.
 */
export function refuseScopeChange(
  group: RuledGroup,
  actor: RuledActor,
  target: Pick<Target, 'uid' | 'membership'>,
  scope: GroupScope,
): ApiError | undefined {
  if (actor.kind === 'member' && target.uid === actor.membership.uid) {
    return new ApiError('ERR_GROUP_NO_SELF_ACTION', `${target.uid} cannot change his own scope.`)
  }
  if (target.uid === group.owner) {
    return noScopeClearance(`${target.uid} owns the group ${group.guid} and stays an admin.`)
  }
  if (actor.kind === 'app') return undefined
  const own = actor.membership.scope
  if (own === 'participant') return noScopeClearance('A participant cannot change scopes.')
  if (isAbove(scope, own)) return noScopeClearance(`A ${own} cannot give the scope ${scope}.`)
  if (target.membership !== undefined && isAbove(target.membership.scope, own)) {
    return noScopeClearance(`A ${own} cannot change the scope of a member who is ${target.membership.scope}.`)
  }
  return undefined
}

function noScopeClearance(devMessage: string): ApiError {
  return new ApiError('ERR_GROUP_NO_SCOPE_CLEARANCE', devMessage)
}

export function notAMember(guid: string, uid: string): ApiError {
  return new ApiError('ERR_NOT_A_MEMBER', `${uid} is not a member of the group ${guid}.`)
}
