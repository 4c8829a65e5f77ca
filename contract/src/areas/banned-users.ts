import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, GuidParams, NoQuery, Outcome, pageOf, pageQuery, User } from '../schemas.ts'
import { MemberParams } from './group-members.ts'

const shared = {
  area: 'Banned Users',
  access: { user: true },
  onBehalfOf: 'optional',
  rateLimit: 'standard',
} as const

const actorErrors = [
  'ERR_GUID_NOT_FOUND',
  'ERR_UID_NOT_FOUND',
  'ERR_GROUP_NOT_JOINED',
  'ERR_BANNED_GROUPMEMBER',
  'ERR_PERMISSION_DENIED',
] as const

export const banGroupUser = defineOperation({
  ...shared,
  id: 'ban-group-user',
  method: 'POST',
  path: '/groups/{guid}/bannedusers/{uid}',
  summary: 'Ban a user from a group',
  description: 'A member is removed from the group. A banned user cannot join.',
  params: MemberParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: [...actorErrors, 'ERR_ALREADY_BANNED', 'ERR_GROUP_NO_CLEARANCE', 'ERR_GROUP_NO_SELF_ACTION'],
})

export const unbanGroupUser = defineOperation({
  ...shared,
  id: 'unban-group-user',
  method: 'DELETE',
  path: '/groups/{guid}/bannedusers/{uid}',
  summary: 'Unban a user',
  description: 'The user does not become a member again.',
  params: MemberParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: [...actorErrors, 'ERR_NOT_A_BANNED_USER'],
})

export const listBannedGroupUsers = defineOperation({
  ...shared,
  id: 'list-banned-group-users',
  method: 'GET',
  path: '/groups/{guid}/bannedusers',
  summary: 'List the banned users of a group, newest ban first',
  description: 'With an acting user, only for admins and moderators of the group unless its permissions say otherwise.',
  params: GuidParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(User),
  errors: actorErrors,
})
