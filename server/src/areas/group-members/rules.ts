import { type ApiError, type AppSettings, type GroupScope, hasReached } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { bannedFrom, type Membership } from '../../chat/groups/access.ts'
import { allowedScopes, permissionDenied, scopeAllows } from '../../chat/groups/permissions.ts'
import type { GroupRow } from '../../chat/groups/rows.ts'
import { deactivatedUser, unknownUser } from '../../chat/users/require.ts'
import type { UserRow } from '../../chat/users/rows.ts'
import * as errors from './errors.ts'

/** What the rules need to know about a group. */
export type RuledGroup = Pick<GroupRow, 'guid' | 'owner' | 'permissions' | 'membersCount'>

/** What the rules need to know about whoever acts. */
export type RuledActor = { readonly kind: 'app' } | { readonly kind: 'member'; readonly membership: Membership }

/** What the rules need to know about the user to whom something is done. */
export interface Target {
  readonly uid: string
  /** Absent when there is no such user. */
  readonly user: UserRow | undefined
  readonly membership: Membership | undefined
  readonly isBanned: boolean
  /** Number of groups that they are a member of. */
  readonly groups: number
}

/** How large groups can become, and how many a user can be in. */
export type GroupLimits = Pick<AppSettings, 'maxGroupMembers' | 'maxGroupsPerUser'>

const rank: Readonly<Record<GroupScope, number>> = { participant: 1, moderator: 2, admin: 3 }

export function isAbove(scope: GroupScope, other: GroupScope): boolean {
  return rank[scope] > rank[other]
}

/**
 * Why a user cannot be added with this scope: first the rights of the actor, then the state of the group.
 */
export function refuseAddition(
  group: RuledGroup,
  actor: RuledActor,
  target: Target,
  scope: GroupScope,
  limits: GroupLimits,
): ApiError | undefined {
  return (
    refuseUnknown(target) ??
    (actor.kind === 'member' ? refuseGiving(group, actor.membership, scope) : undefined) ??
    refuseMembership(group, target, limits)
  )
}

function refuseUnknown({ uid, user }: Target): ApiError | undefined {
  if (user === undefined) return unknownUser(uid)
  return user.deactivatedAt === null ? undefined : deactivatedUser(uid)
}

/** Why a member cannot add somebody with this scope: nobody can give a scope above their own. */
function refuseGiving(group: RuledGroup, actor: Membership, scope: GroupScope): ApiError | undefined {
  if (!scopeAllows(group, actor, 'addMembers')) return permissionDenied(group, actor, 'addMembers')
  if (isAbove(scope, actor.scope)) return errors.cannotGiveScope(actor.scope, scope)
  if (allowedScopes(group, actor, 'addMembers')?.includes(scope) === false) {
    return permissionDenied(group, actor, 'addMembers.allowedScopes')
  }
  return undefined
}

/** Why a user cannot become a member, whoever adds them. */
export function refuseMembership(
  { guid, membersCount }: Pick<GroupRow, 'guid' | 'membersCount'>,
  { uid, membership, isBanned, groups }: Target,
  { maxGroupMembers, maxGroupsPerUser }: GroupLimits,
): ApiError | undefined {
  if (uid === systemUid) return errors.systemIsNoMember(guid)
  if (membership !== undefined) return errors.alreadyJoined(guid, uid)
  if (isBanned) return bannedFrom(guid, uid)
  if (hasReached(maxGroupsPerUser, groups)) return errors.tooManyGroups(uid, maxGroupsPerUser)
  return hasReached(maxGroupMembers, membersCount) ? errors.tooManyMembers(maxGroupMembers) : undefined
}

/**
 * Why a user cannot be kicked or banned. Nobody can remove the owner, not even the app: the ownership has to be
 * transferred first.
 */
export function refuseRemoval(
  group: RuledGroup,
  actor: RuledActor,
  target: Pick<Target, 'uid' | 'membership'>,
  key: 'kickMembers' | 'ban',
): ApiError | undefined {
  if (actor.kind === 'member' && target.uid === actor.membership.uid) {
    return errors.noSelfAction(target.uid, 'kick or ban themselves')
  }
  if (target.uid === group.owner) return errors.isOwner(group.guid, target.uid)
  if (actor.kind === 'app') return undefined
  const { membership } = actor
  if (target.membership !== undefined && isAbove(target.membership.scope, membership.scope)) {
    return errors.outranked(target.membership, membership)
  }
  if (!scopeAllows(group, membership, key)) return permissionDenied(group, membership, key)
  const touchable = allowedScopes(group, membership, key)
  if (target.membership !== undefined && touchable?.includes(target.membership.scope) === false) {
    return permissionDenied(group, membership, `${key}.allowedScopes`)
  }
  return undefined
}

/** Why a rule of moderation does not remove a member: rules never remove admins, a person has to. */
export function refuseAdmin({ guid }: Pick<GroupRow, 'guid'>, { uid, membership }: Pick<Target, 'uid' | 'membership'>) {
  return membership?.scope === 'admin' ? errors.isAdmin(guid, uid) : undefined
}

/** Why a user cannot be banned. They need not be a member. */
export function refuseBan(group: RuledGroup, actor: RuledActor, target: Target): ApiError | undefined {
  const refusal = refuseUnknown(target) ?? refuseRemoval(group, actor, target, 'ban')
  if (refusal !== undefined) return refusal
  if (target.uid === systemUid) return errors.systemCannotBeBanned(group.guid)
  return target.isBanned ? errors.alreadyBanned(group.guid, target.uid) : undefined
}

/**
 * Why a member's scope cannot be changed. There is no permission for it: admins and moderators can change the scopes of
 * members with their own scope or a lower one, except for the owner, who is always an admin.
 */
export function refuseScopeChange(
  group: RuledGroup,
  actor: RuledActor,
  target: Pick<Target, 'uid' | 'membership'>,
  scope: GroupScope,
): ApiError | undefined {
  if (actor.kind === 'member' && target.uid === actor.membership.uid) {
    return errors.noSelfAction(target.uid, 'change their own scope')
  }
  if (target.uid === group.owner) return errors.ownerStaysAdmin(group.guid, target.uid)
  if (actor.kind === 'app') return undefined
  const own = actor.membership.scope
  if (own === 'participant') return errors.participantCannotChangeScopes()
  if (isAbove(scope, own)) return errors.cannotGiveScope(own, scope)
  if (target.membership !== undefined && isAbove(target.membership.scope, own)) {
    return errors.cannotChangeScopeOf(own, target.membership.scope)
  }
  return undefined
}
