import { ApiError, type GroupScope } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'

/** 400: somebody who is to be kicked, changed or made the owner is not in the group. */
export function notAMember(guid: string, uid: string): ApiError {
  return new ApiError('ERR_NOT_A_MEMBER', `${uid} is not a member of the group ${guid}.`)
}

export function alreadyJoined(guid: string, uid: string): ApiError {
  return new ApiError('ERR_ALREADY_JOINED', `${uid} is already a member of the group ${guid}.`)
}

export function alreadyBanned(guid: string, uid: string): ApiError {
  return new ApiError('ERR_ALREADY_BANNED', `${uid} is already banned from the group ${guid}.`)
}

/** 403: the system user acts for the app, in every group. */
export function systemIsNoMember(guid: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `${systemUid} cannot be a member of the group ${guid}.`)
}

/** 403, for the same reason. */
export function systemCannotBeBanned(guid: string): ApiError {
  return new ApiError('ERR_PERMISSION_DENIED', `${systemUid} cannot be banned from the group ${guid}.`)
}

/** 403 for a user who joins a full group; `tooManyMembers` is for those who are added. */
export function noVacancy(guid: string, most: number): ApiError {
  return new ApiError('ERR_NO_VACANCY', `The group ${guid} has ${most} members, the maximum.`)
}

export function tooManyMembers(most: number): ApiError {
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', `A group can have at most ${most} members.`)
}

export function tooManyGroups(uid: string, most: number): ApiError {
  const devMessage = `${uid} is a member of ${most} groups, the maximum.`
  return new ApiError('ERR_PLAN_QUOTA_RESTRICTION', devMessage)
}

/** 403: nobody can kick or ban themselves, or change their own scope. */
export function noSelfAction(uid: string, what: 'kick or ban themselves' | 'change their own scope'): ApiError {
  return new ApiError('ERR_GROUP_NO_SELF_ACTION', `A member cannot ${what} (${uid}).`)
}

/** 403: the owner cannot leave. */
export function ownerCannotLeave(guid: string, uid: string): ApiError {
  const devMessage = `${uid} owns the group ${guid} and has to transfer the ownership before leaving.`
  return new ApiError('ERR_GROUP_NO_SELF_ACTION', devMessage)
}

/** 403: nobody can kick or ban the owner. */
export function isOwner(guid: string, uid: string): ApiError {
  return new ApiError('ERR_GROUP_NO_CLEARANCE', `${uid} owns the group ${guid}.`)
}

/** 403: rules of moderation leave admins to people. */
export function isAdmin(guid: string, uid: string): ApiError {
  return new ApiError('ERR_GROUP_NO_CLEARANCE', `${uid} is an admin of the group ${guid}.`)
}

/** 403: a member cannot kick or ban members with a higher scope. */
export function outranked(
  target: { uid: string; scope: GroupScope },
  by: { uid: string; scope: GroupScope },
): ApiError {
  const devMessage = `The scope of ${target.uid} (${target.scope}) is higher than that of ${by.uid} (${by.scope}).`
  return new ApiError('ERR_GROUP_NO_CLEARANCE', devMessage)
}

export function sameScope(uid: string, scope: GroupScope): ApiError {
  return new ApiError('ERR_SAME_SCOPE', `${uid} already has the scope ${scope}.`)
}

/** 403: nobody can give a scope above their own. */
export function cannotGiveScope(own: GroupScope, scope: GroupScope): ApiError {
  return noScopeClearance(`A member with the scope ${own} cannot give the scope ${scope}.`)
}

export function participantCannotChangeScopes(): ApiError {
  return new ApiError('ERR_GROUP_NO_MODERATOR_SCOPE', 'Participants cannot change scopes.')
}

/** 403: nobody can change the scope of a member with a higher one. */
export function cannotChangeScopeOf(own: GroupScope, scope: GroupScope): ApiError {
  return noScopeClearance(`A member with the scope ${own} cannot change the scope of a member with the scope ${scope}.`)
}

/** 403: the owner is always an admin. */
export function ownerStaysAdmin(guid: string, uid: string): ApiError {
  return noScopeClearance(`${uid} owns the group ${guid} and is always an admin.`)
}

function noScopeClearance(devMessage: string): ApiError {
  return new ApiError('ERR_GROUP_NO_SCOPE_CLEARANCE', devMessage)
}
