import { Type } from 'typebox'
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
  TagsIn,
  UidParams,
  UrlIn,
  User,
} from '../schemas.ts'

const shared = { area: 'Users', rateLimit: 'standard' } as const

const StatusMessageIn = Type.String({ maxLength: 255, description: 'Status or mood text; an empty one clears it' })

const MetadataIn = Type.Unsafe<Record<string, unknown>>({
  ...JsonObject,
  description: 'At most 5 KB of JSON. What is under @private only the user himself and the app see.',
})

/** What an operation about many users takes at once. */
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
  summary: 'Make a user',
  description:
    'The uid is kept in lower case and never changes. An authOnly key lies in front ends, so it gives no role: with it, role is left out or default.',
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
    role: Type.Optional(IdIn),
    statusMessage: Type.Optional(StatusMessageIn),
    metadata: Type.Optional(MetadataIn),
    tags: Type.Optional(TagsIn),
    withAuthToken: Type.Optional(Type.Boolean({ description: 'Also make an auth token and answer it' })),
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
  summary: "List the app's users by name",
  description:
    'The system user is not listed, nor, where a token acts, the user who asks. With sortBy=status those who are online come first, each half by name; sortBy and sortOrder say nothing where the list is ordered by change. With affix or updatedAt the list is ordered by change instead of name and rows ascend: append goes from updatedAt (or the oldest change) towards newer, prepend from updatedAt (or the newest) towards older; both include updatedAt itself, since a second may hold several changes, and go on with page. The change of a user that never changed is his creation. To learn what changed since a full read, send the updatedAt of its cursor with affix=append.',
  access: { user: true },
  onBehalfOf: 'optional',
  params: NoParams,
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ maxLength: 100, description: 'Beginning of the name or the uid' })),
    searchIn: Type.Optional(
      Type.Array(oneOf('name', 'uid'), { maxItems: 2, description: 'Where searchKey looks; both when left out' }),
    ),
    status: Type.Optional(Type.Array(oneOf('available', 'offline'), { maxItems: 2 })),
    count: Type.Optional(
      Type.Boolean({ description: 'Accepted; meta.pagination.total is the number of users with and without it' }),
    ),
    role: Type.Optional(Type.String()),
    roles: Type.Optional(Type.Array(Type.String(), { maxItems: 100, description: 'Any of these (or role)' })),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 25, description: 'Any of these' })),
    withTags: Type.Optional(Type.Boolean({ description: 'Put tags in each item' })),
    onlyDeactivated: Type.Optional(Type.Boolean()),
    withDeactivated: Type.Optional(Type.Boolean()),
    'createdAt[from]': Type.Optional(EpochSecondsQuery),
    'createdAt[to]': Type.Optional(EpochSecondsQuery),
    'updatedAt[from]': Type.Optional(EpochSecondsQuery),
    'updatedAt[to]': Type.Optional(EpochSecondsQuery),
    updatedAt: Type.Optional(EpochSecondsQuery),
    affix: Type.Optional(oneOf('append', 'prepend')),
    uids: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
    friendsOnly: Type.Optional(Type.Boolean({ description: 'Friends of the acting user, who must be named' })),
    hideBlockedUsers: Type.Optional(Type.Boolean({ description: 'Without those whom the acting user has blocked' })),
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
  summary: 'Bring deactivated users back, at most 100 at once',
  description:
    'Their tokens and memberships are in force again. nonDeactivatedUids are those that were not deactivated to begin with; unknown uids are left out.',
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
  summary: 'Deactivate users, at most 100 at once',
  description:
    'Their tokens stop working and their memberships are no longer counted or listed; nothing is removed. Those that were deactivated before are answered too; unknown uids and the system user are left out.',
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
  summary: 'Read one user',
  description: 'A deactivated one too; he has deactivatedAt. With an acting user also how the two stand to each other.',
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
  summary: 'Change a user',
  description:
    'What is left out stays as it is; metadata and tags are replaced as a whole; what unset names is cleared. An authOnly key changes neither roles nor the system user.',
  access: { authOnly: true },
  onBehalfOf: 'ignored',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({
    name: Type.Optional(NameIn),
    avatar: Type.Optional(UrlIn),
    link: Type.Optional(UrlIn),
    role: Type.Optional(IdIn),
    statusMessage: Type.Optional(StatusMessageIn),
    metadata: Type.Optional(MetadataIn),
    tags: Type.Optional(TagsIn),
    unset: Type.Optional(Type.Array(oneOf('avatar', 'link', 'metadata'), { maxItems: 25 })),
  }),
  answer: enveloped(User),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_ROLE_NOT_FOUND'],
})

export const deleteUser = defineOperation({
  ...shared,
  id: 'delete-user',
  method: 'DELETE',
  path: '/users/{uid}',
  summary: 'Deactivate a user, or remove him for good',
  description:
    'With permanent: his profile, one-to-one conversations with their messages, tokens, relations and memberships are gone; his messages in groups stay without his name, groups he owned pass to the oldest admin, else to the system user.',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'core',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({ permanent: Type.Optional(Type.Boolean({ default: false })) }),
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})
