import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  enveloped,
  GuidParams,
  Message,
  NoQuery,
  Outcome,
  oneOf,
  pageOf,
  pageQuery,
  ScopeIn,
  User,
} from '../schemas.ts'
import { UidOutcome } from './groups.ts'

const shared = {
  area: 'Group Members',
  access: { user: true },
  onBehalfOf: 'optional',
  rateLimit: 'standard',
} as const

export const MemberParams = Type.Object({ guid: Type.String(), uid: Type.String() })

/** The outcome of adding one user: the action message in the group, or why it failed. */
export const AddOutcome = Type.Object({ ...UidOutcome.properties, data: Type.Optional(Message) })
export type AddOutcome = Static<typeof AddOutcome>

const Outcomes = <T extends typeof UidOutcome>(outcome: T) =>
  Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: outcome })

const AddAnswer = Type.Object({
  admins: Type.Optional(Outcomes(AddOutcome)),
  moderators: Type.Optional(Outcomes(AddOutcome)),
  participants: Type.Optional(Outcomes(AddOutcome)),
  usersToBan: Type.Optional(Outcomes(UidOutcome)),
})
export type AddAnswer = Static<typeof AddAnswer>

/** Errors for an acting user who is not a member, or whose scope does not allow it. */
const memberErrors = [
  'ERR_GUID_NOT_FOUND',
  'ERR_UID_NOT_FOUND',
  'ERR_GROUP_NOT_JOINED',
  'ERR_BANNED_GROUPMEMBER',
  'ERR_PERMISSION_DENIED',
] as const

const SomeUids = Type.Array(Type.String(), { minItems: 1, description: 'uids' })

export const addGroupMembers = defineOperation({
  ...shared,
  id: 'add-group-members',
  method: 'POST',
  path: '/groups/{guid}/members',
  summary: 'Add members, ban users, or join a group',
  description: `With at least one of the four lists, adds and bans users, at most ${limits.membersPerRequest} in all unless the app's settings say otherwise, and returns the outcome for each user under the same keys. A user in several lists gets the highest scope and is not banned. Without any list, the acting user joins the group (with its password, if it has one), and the response is the action message.`,
  rateLimit: 'core',
  params: GuidParams,
  query: NoQuery,
  body: Type.Object({
    admins: Type.Optional(SomeUids),
    moderators: Type.Optional(SomeUids),
    participants: Type.Optional(SomeUids),
    usersToBan: Type.Optional(SomeUids),
    password: Type.Optional(
      Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'Password of the group, to join it' }),
    ),
  }),
  answer: enveloped(Type.Unsafe<Message | AddAnswer>({ anyOf: [Message, AddAnswer] })),
  plain: { answer: enveloped(AddAnswer) },
  errors: [
    ...memberErrors,
    'ERR_ALREADY_JOINED',
    'ERR_EMPTY_GROUP_PASS',
    'ERR_WRONG_GROUP_PASS',
    'ERR_NO_VACANCY',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})

const AnyUids = Type.Array(Type.String(), { default: [], description: 'uids' })

export const putGroupMembers = defineOperation({
  ...shared,
  id: 'put-group-members',
  method: 'PUT',
  path: '/groups/{guid}/members',
  summary: 'Add members and ban users',
  description:
    'Like POST with lists, but lists may be empty, and the response always has all four keys. Used by front ends.',
  params: GuidParams,
  query: NoQuery,
  body: Type.Object({
    admins: Type.Optional(AnyUids),
    moderators: Type.Optional(AnyUids),
    participants: Type.Optional(AnyUids),
    usersToBan: Type.Optional(AnyUids),
  }),
  answer: enveloped(AddAnswer),
  errors: memberErrors,
})

export const leaveGroup = defineOperation({
  ...shared,
  id: 'leave-group',
  method: 'DELETE',
  path: '/groups/{guid}/members',
  summary: 'Leave a group',
  description: 'An owner has to transfer the ownership first.',
  onBehalfOf: 'required',
  rateLimit: 'core',
  params: GuidParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: [...memberErrors, 'ERR_GROUP_NO_SELF_ACTION'],
})

const GroupMember = Type.Object(
  { ...User.properties, scope: ScopeIn, joinedAt: Type.Integer({ description: 'Epoch seconds' }) },
  { additionalProperties: false },
)
export type GroupMember = Static<typeof GroupMember>

export const listGroupMembers = defineOperation({
  ...shared,
  id: 'list-group-members',
  method: 'GET',
  path: '/groups/{guid}/members',
  summary: 'List the members of a group, by name',
  description: 'With their scope and when they joined. With an acting user, only for members of the group.',
  params: GuidParams,
  query: Type.Object({
    status: Type.Optional(oneOf('available', 'offline')),
    scopes: Type.Optional(Type.Array(ScopeIn)),
    searchKey: Type.Optional(Type.String({ description: 'Part of the uid or name' })),
    ...pageQuery(),
  }),
  answer: pageOf(GroupMember),
  errors: memberErrors,
})

export const changeGroupMemberScope = defineOperation({
  ...shared,
  id: 'change-group-member-scope',
  method: 'PUT',
  path: '/groups/{guid}/members/{uid}',
  summary: 'Change the scope of a member',
  description:
    "Without a scope the member becomes a participant. Nobody gives a scope above their own, or changes a member whose scope is above theirs; the owner's cannot be changed.",
  params: MemberParams,
  query: NoQuery,
  body: Type.Object({ scope: Type.Optional(ScopeIn) }),
  answer: enveloped(Type.Object({ guid: Type.String(), uid: Type.String(), scope: ScopeIn, joinedAt: Type.Integer() })),
  errors: [
    'ERR_GUID_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GROUP_NOT_JOINED',
    'ERR_GROUP_NO_MODERATOR_SCOPE',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_NOT_A_MEMBER',
    'ERR_SAME_SCOPE',
    'ERR_GROUP_NO_SCOPE_CLEARANCE',
    'ERR_GROUP_NO_SELF_ACTION',
  ],
})

export const kickGroupMember = defineOperation({
  ...shared,
  id: 'kick-group-member',
  method: 'DELETE',
  path: '/groups/{guid}/members/{uid}',
  summary: 'Kick a member',
  description:
    'They can join again, or be added. The owner cannot be kicked, nor a member whose scope is above that of the acting user.',
  params: MemberParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: [...memberErrors, 'ERR_NOT_A_MEMBER', 'ERR_GROUP_NO_CLEARANCE', 'ERR_GROUP_NO_SELF_ACTION'],
})
