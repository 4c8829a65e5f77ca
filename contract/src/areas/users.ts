import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  enveloped,
  IdIn,
  JsonObject,
  NameIn,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  pageOf,
  pageQuery,
  RoleOfUserIn,
  TagsIn,
  UidParams,
  UrlIn,
  User,
} from '../schemas.ts'

const shared = { area: 'Users', rateLimit: 'standard' } as const

const StatusMessageIn = Type.String({
  maxLength: limits.statusMessageLength,
  description: 'Status text; an empty string clears it',
})

const MetadataIn = Type.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  description: 'At most 5 KB of JSON. Only the user and the app can see the property @private.',
})

/** The uids for an operation on many users. */
const UidsIn = Type.Array(IdIn, { maxItems: 100 })

const CreatedUser = Type.Object(
  { ...User.properties, authToken: Type.Optional(Type.String({ description: 'Only with withAuthToken' })) },
  { additionalProperties: false },
)

export const createUser = defineOperation({
  ...shared,
  id: 'create-user',
  method: 'POST',
  path: '/users',
  summary: 'Create a user',
  description:
    'The uid is stored in lower case and cannot be changed. authOnly keys are used in front ends, so they cannot assign roles: with such a key, role must be absent or default. A uid whose user was permanently deleted can be used again with a fullAccess key only (409 ERR_UID_ALREADY_EXISTS otherwise), and the new user is another person: old group messages stay those of a deleted user, old muids do not count, and bans of the uid stay.',
  access: { authOnly: true },
  onBehalfOf: 'ignored',
  rateLimit: 'core',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({
    uid: IdIn,
    name: NameIn,
    avatar: Type.Optional(UrlIn),
    link: Type.Optional(UrlIn),
    role: Type.Optional(RoleOfUserIn),
    statusMessage: Type.Optional(StatusMessageIn),
    metadata: Type.Optional(MetadataIn),
    tags: Type.Optional(TagsIn),
    withAuthToken: Type.Optional(Type.Boolean({ description: 'Also create an auth token and return it' })),
  }),
  answer: enveloped(CreatedUser),
  errors: ['ERR_UID_ALREADY_EXISTS', 'ERR_ROLE_NOT_FOUND'],
})

const EpochSecondsQuery = Type.Integer({ minimum: 0, maximum: 99_999_999_999 })

export const listUsers = defineOperation({
  ...shared,
  id: 'list-users',
  method: 'GET',
  path: '/users',
  summary: 'List users, by name',
  description:
    'The system user is not listed, nor, with an auth token, the acting user. With sortBy=status, users who are online come first, then the others, both by name. With affix or updatedAt, the list is ordered by the time of the last change (or creation), oldest first, and sortBy and sortOrder are ignored: append returns changes from updatedAt (or from the oldest) on, prepend changes up to updatedAt (or up to the newest). Both include updatedAt itself, since several users may change in one second; a page that goes on by updatedAt alone, without page, has more rows than perPage where that second does. To get what changed since a full read, send the updatedAt of its cursor with affix=append.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: NoParams,
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name or uid' })),
    searchIn: Type.Optional(
      Type.Array(oneOf('name', 'uid'), { maxItems: 2, description: 'Fields that searchKey searches; both by default' }),
    ),
    status: Type.Optional(Type.Array(oneOf('available', 'offline'), { maxItems: 2 })),
    count: Type.Optional(
      Type.Boolean({ description: 'Accepted, without effect: meta.pagination.total is always the number of users' }),
    ),
    role: Type.Optional(Type.String()),
    roles: Type.Optional(
      Type.Array(Type.String(), { maxItems: 100, description: 'Users with any of these roles (or with role)' }),
    ),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 25, description: 'Users with any of these tags' })),
    withTags: Type.Optional(Type.Boolean({ description: 'Return the tags of each user' })),
    onlyDeactivated: Type.Optional(Type.Boolean()),
    withDeactivated: Type.Optional(Type.Boolean()),
    'createdAt[from]': Type.Optional(EpochSecondsQuery),
    'createdAt[to]': Type.Optional(EpochSecondsQuery),
    'updatedAt[from]': Type.Optional(EpochSecondsQuery),
    'updatedAt[to]': Type.Optional(EpochSecondsQuery),
    updatedAt: Type.Optional(EpochSecondsQuery),
    affix: Type.Optional(oneOf('append', 'prepend')),
    uids: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
    friendsOnly: Type.Optional(Type.Boolean({ description: 'Only friends of the acting user; needs an acting user' })),
    hideBlockedUsers: Type.Optional(Type.Boolean({ description: 'Leave out users blocked by the acting user' })),
    sortBy: Type.Optional(oneOf('name', 'uid', 'status')),
    sortOrder: Type.Optional(oneOf('asc', 'desc')),
    ...pageQuery(),
  }),
  answer: pageOf(User),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const reactivateUsers = defineOperation({
  ...shared,
  id: 'reactivate-users',
  method: 'PUT',
  path: '/users',
  summary: 'Reactivate users',
  description:
    'At most 100 at once. Their memberships count again; they need new auth tokens. nonDeactivatedUids are the users who were not deactivated; unknown uids are ignored.',
  access: {},
  onBehalfOf: 'ignored',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ uidsToActivate: Type.Optional(UidsIn) }),
  answer: enveloped(
    Type.Object({ reactivatedUids: Type.Array(Type.String()), nonDeactivatedUids: Type.Array(Type.String()) }),
  ),
  errors: [],
})

export const deactivateUsers = defineOperation({
  ...shared,
  id: 'deactivate-users',
  method: 'DELETE',
  path: '/users',
  summary: 'Deactivate users',
  description:
    'At most 100 at once. Their auth tokens are deleted, and their memberships are no longer counted or listed; nothing else is deleted. The response also has users who were already deactivated; unknown uids and the system user are ignored.',
  access: {},
  onBehalfOf: 'ignored',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ uidsToDeactivate: Type.Optional(UidsIn) }),
  answer: enveloped(Type.Object({ deactivatedUids: Type.Array(Type.String()) })),
  errors: [],
})

export const getUser = defineOperation({
  ...shared,
  id: 'get-user',
  method: 'GET',
  path: '/users/{uid}',
  summary: 'Get a user',
  description:
    'Deactivated users are returned too, with deactivatedAt. With an acting user, the response also has the relation between the two (conversation, blocks).',
  access: { user: true },
  onBehalfOf: 'optional',
  params: UidParams,
  query: NoQuery,
  answer: enveloped(User),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const updateUser = defineOperation({
  ...shared,
  id: 'update-user',
  method: 'PUT',
  path: '/users/{uid}',
  summary: 'Update a user',
  description:
    'Fields that are left out stay unchanged; metadata and tags are replaced as a whole; fields named in unset are cleared. An authOnly key cannot change roles or the system user.',
  access: { authOnly: true },
  onBehalfOf: 'ignored',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({
    name: Type.Optional(NameIn),
    avatar: Type.Optional(UrlIn),
    link: Type.Optional(UrlIn),
    role: Type.Optional(RoleOfUserIn),
    statusMessage: Type.Optional(StatusMessageIn),
    metadata: Type.Optional(MetadataIn),
    tags: Type.Optional(TagsIn),
    unset: Type.Optional(Type.Array(oneOf('avatar', 'link', 'metadata'), { maxItems: 25 })),
  }),
  answer: enveloped(User),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_ROLE_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})

export const deleteUser = defineOperation({
  ...shared,
  id: 'delete-user',
  method: 'DELETE',
  path: '/users/{uid}',
  summary: 'Deactivate or delete a user',
  description:
    "Without permanent, the user is deactivated. With permanent, the user's profile, one-to-one conversations with their messages, auth tokens, relations and memberships are deleted; their messages in groups stay without their name, except those that moderation holds; groups they own are transferred to the admin who joined first, or else to the system user. Digests of the uid and of muids stay, so that an import does not bring back what was erased; list-user-erasures has the certificate.",
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'core',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({ permanent: Type.Optional(Type.Boolean({ default: false })) }),
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})

const Count = Type.Integer()

/** The certificate of an erasure. */
export const Erasure = Type.Object({
  uid: Type.String(),
  erasedAt: Type.Integer({ description: 'Epoch seconds' }),
  isClean: Type.Boolean({ description: 'Nothing was left in any table when it was read back' }),
  messages: Type.Integer({ description: 'Messages that were removed' }),
  digests: Type.Object(
    { uids: Count, muids: Count },
    { description: 'Digests under the master key, by which imports refuse what was erased' },
  ),
  kept: Type.Object(
    { groupMessages: Count, groupBans: Count },
    { description: 'What stays on purpose: messages in groups, of a deleted user, and bans of the uid' },
  ),
  places: Type.Array(
    Type.Object({
      table: Type.String(),
      removed: Type.Optional(Type.Integer({ description: 'Rows that were removed' })),
      changed: Type.Optional(
        Type.Integer({ description: 'Rows that named the user, or their files, and no longer do' }),
      ),
      left: Type.Optional(Type.Integer({ description: 'Rows that were found when it was read back' })),
      untouched: Type.Optional(Type.String({ description: 'Why nothing is of the user in it' })),
    }),
  ),
})
export type Erasure = Static<typeof Erasure>

/** Beyond the public contract: what was done when a user was erased. */
export const listUserErasures = defineOperation({
  ...shared,
  id: 'list-user-erasures',
  method: 'GET',
  path: '/users/{uid}/erasures',
  summary: 'List the certificates of the erasures of a user',
  description:
    'Each permanent deletion of somebody with this uid, the last first: every table that was looked at, what was removed from it, and what was found there when it was read back in the same transaction.',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  query: NoQuery,
  answer: enveloped(Type.Array(Erasure)),
  errors: ['ERR_ERASURE_NOT_FOUND'],
})
