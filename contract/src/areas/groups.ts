import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  enveloped,
  Group,
  GroupTypeIn,
  GuidParams,
  IdIn,
  JsonObject,
  NameIn,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  pageQuery,
  syncPageOf,
  TagsIn,
  UrlIn,
} from '../schemas.ts'

const shared = { area: 'Groups', access: { user: true }, onBehalfOf: 'optional', rateLimit: 'standard' } as const

/** Used by groups of type password only; for other groups it may be sent empty. */
const PasswordIn = Type.String({ maxLength: limits.groupPasswordLength })
const DescriptionIn = Type.String({ maxLength: limits.descriptionLength })

const Uids = Type.Array(Type.String(), { default: [], description: 'uids' })

/** The outcome for one user of a request that names several. */
export const UidOutcome = Type.Object({
  success: Type.Boolean(),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String(), devMessage: Type.String() })),
})
export type UidOutcome = Static<typeof UidOutcome>

const UidOutcomes = Type.Unsafe<Record<string, UidOutcome>>({ type: 'object', additionalProperties: UidOutcome })

/** A new group. `members` has the outcome for each user whom a list of the request names, under the same four keys. */
const CreatedGroup = Type.Object(
  {
    ...Group.properties,
    members: Type.Optional(
      Type.Object({
        data: Type.Object({
          admins: UidOutcomes,
          moderators: UidOutcomes,
          participants: UidOutcomes,
          usersToBan: UidOutcomes,
        }),
      }),
    ),
  },
  { additionalProperties: false },
)

export const createGroup = defineOperation({
  ...shared,
  id: 'create-group',
  method: 'POST',
  path: '/groups',
  summary: 'Create a group, with its first members',
  description: `The owner is the acting user, else the user in owner, else app_system. A user who becomes the owner is also an admin of the group, and the response shows the group as they see it. The four lists of members can have at most ${limits.membersPerRequest} users in all unless the app's settings say otherwise; a user in several lists gets the highest scope.`,
  rateLimit: 'core',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    guid: IdIn,
    name: NameIn,
    type: GroupTypeIn,
    password: Type.Optional(PasswordIn),
    icon: Type.Optional(UrlIn),
    description: Type.Optional(DescriptionIn),
    metadata: Type.Optional(JsonObject),
    owner: Type.Optional(IdIn),
    tags: Type.Optional(TagsIn),
    members: Type.Optional(
      Type.Object(
        {
          admins: Type.Optional(Uids),
          moderators: Type.Optional(Uids),
          participants: Type.Optional(Uids),
          usersToBan: Type.Optional(Uids),
        },
        { additionalProperties: false },
      ),
    ),
  }),
  answer: enveloped(CreatedGroup),
  errors: ['ERR_GUID_ALREADY_EXISTS', 'ERR_UID_NOT_FOUND', 'ERR_EMPTY_GROUP_PASS', 'ERR_PLAN_QUOTA_RESTRICTION'],
})

/** Of lists: newer documents of the contract say `protected` there where older ones say `password`. */
const ListedType = oneOf('public', 'password', 'private', 'protected')

const Epoch = Type.Integer({ minimum: 0, description: 'Epoch seconds' })
const Count = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })

export const listGroups = defineOperation({
  ...shared,
  id: 'list-groups',
  method: 'GET',
  path: '/groups',
  summary: 'List groups',
  description:
    "With an acting user: the public and password groups, and the private groups they are a member of, each with their scope. Ordered by name, or with updatedAt by the time of the last change, from the cursor in the direction of affix; the cursor's own second is included, so that no change is missed; without page, a page is longer than perPage where more groups share that second. In type and types, protected is another word for password.",
  params: NoParams,
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ description: 'Part of the guid or name' })),
    searchIn: Type.Optional(Type.Array(oneOf('guid', 'name'))),
    sortBy: Type.Optional(oneOf('name', 'guid', 'createdAt')),
    sortOrder: Type.Optional(oneOf('asc', 'desc')),
    affix: Type.Optional(oneOf('append', 'prepend')),
    updatedAt: Type.Optional(Epoch),
    withTags: Type.Optional(Type.Boolean({ description: 'Return the tags of each group' })),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 25, description: 'Groups with any of these tags' })),
    type: Type.Optional(ListedType),
    types: Type.Optional(Type.Array(ListedType)),
    hasJoined: Type.Optional(Type.Boolean({ description: 'Only groups that the acting user is a member of' })),
    guid: Type.Optional(Type.String()),
    guids: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
    'createdAt[from]': Type.Optional(Epoch),
    'createdAt[to]': Type.Optional(Epoch),
    'updatedAt[from]': Type.Optional(Epoch),
    'updatedAt[to]': Type.Optional(Epoch),
    'membersCount[gt]': Type.Optional(Count),
    'membersCount[gte]': Type.Optional(Count),
    'membersCount[lt]': Type.Optional(Count),
    'membersCount[lte]': Type.Optional(Count),
    'membersCount[eq]': Type.Optional(Count),
    ...pageQuery(),
  }),
  answer: syncPageOf(Group),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const getGroup = defineOperation({
  ...shared,
  id: 'get-group',
  method: 'GET',
  path: '/groups/{guid}',
  summary: 'Get a group',
  description:
    'For users who are not members, a private group does not exist. onlineMembersCount counts as POST /online-members does, and is left out for members who may not list the others.',
  params: GuidParams,
  query: NoQuery,
  answer: enveloped(Group),
  errors: ['ERR_GUID_NOT_FOUND', 'ERR_UID_NOT_FOUND'],
})

/** Errors for an acting user who is not a member, or whose scope does not allow it. */
const memberErrors = [
  'ERR_GUID_NOT_FOUND',
  'ERR_UID_NOT_FOUND',
  'ERR_GROUP_NOT_JOINED',
  'ERR_BANNED_GROUPMEMBER',
  'ERR_PERMISSION_DENIED',
] as const

export const updateGroup = defineOperation({
  ...shared,
  id: 'update-group',
  method: 'PUT',
  path: '/groups/{guid}',
  summary: 'Update a group',
  description:
    'What is left out stays unchanged, unset removes. With an acting user, only for admins unless the permissions of the group say otherwise; the type can be changed only to one in createGroup.allowedGroupTypes of their role.',
  params: GuidParams,
  query: NoQuery,
  body: Type.Object({
    name: Type.Optional(NameIn),
    type: Type.Optional(GroupTypeIn),
    password: Type.Optional(PasswordIn),
    icon: Type.Optional(UrlIn),
    description: Type.Optional(DescriptionIn),
    metadata: Type.Optional(JsonObject),
    owner: Type.Optional(Type.String({ description: 'uid of the new owner; ignored with an acting user' })),
    tags: Type.Optional(TagsIn),
    unset: Type.Optional(Type.Array(oneOf('icon', 'description', 'metadata'))),
  }),
  answer: enveloped(Group),
  errors: [...memberErrors, 'ERR_EMPTY_GROUP_PASS', 'ERR_PLAN_QUOTA_RESTRICTION'],
})

export const deleteGroup = defineOperation({
  ...shared,
  id: 'delete-group',
  method: 'DELETE',
  path: '/groups/{guid}',
  summary: 'Delete a group with its members and all its messages',
  description: 'For good. With an acting user, only for the owner unless the permissions of the group say otherwise.',
  params: GuidParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: memberErrors,
})

export const transferOwnership = defineOperation({
  ...shared,
  id: 'pass-on-group-ownership',
  method: 'PATCH',
  path: '/groups/{guid}/owner',
  summary: 'Transfer the ownership of a group to another member',
  description: 'The new owner becomes an admin; the old owner stays an admin. Only for the owner, or the app itself.',
  params: GuidParams,
  query: NoQuery,
  body: Type.Object({ owner: Type.String({ minLength: 1, description: 'uid of the new owner' }) }),
  answer: enveloped(Group),
  errors: [
    'ERR_BLOCKED_SENDER',
    'ERR_GUID_NOT_FOUND',
    'ERR_UID_NOT_FOUND',
    'ERR_GROUP_NOT_JOINED',
    'ERR_BANNED_GROUPMEMBER',
    'ERR_GROUP_NO_CLEARANCE',
    'ERR_GROUP_NO_SELF_ACTION',
    'ERR_NOT_A_MEMBER',
    'ERR_PLAN_QUOTA_RESTRICTION',
  ],
})
