import { Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import { enveloped, IdIn, NoParams, NoQuery, Outcome, pageQuery, syncPageOf, UidParams, User } from '../schemas.ts'
import { OutcomeByUid } from './blocked-users.ts'

const shared = { area: 'Friends', rateLimit: 'standard', errors: ['ERR_UID_NOT_FOUND'] } as const

const Uids = Type.Array(IdIn, {
  description: `At most ${limits.friendsPerRequest}, unless the app's settings say otherwise`,
})

const listQuery = Type.Object({
  searchKey: Type.Optional(Type.String({ description: 'Part of a uid or name' })),
  ...pageQuery(),
})

export const addFriends = defineOperation({
  ...shared,
  id: 'add-friend',
  method: 'POST',
  path: '/users/{uid}/friends',
  summary: 'Add friends of a user',
  description: 'Friendship is mutual. With addToConversations, each new friendship also gets a conversation.',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({ accepted: Type.Optional(Uids), addToConversations: Type.Optional(Type.Boolean()) }),
  answer: enveloped(Type.Object({ accepted: OutcomeByUid })),
})

export const listFriends = defineOperation({
  ...shared,
  id: 'list-all-friends',
  method: 'GET',
  path: '/users/{uid}/friends',
  summary: 'List the friends of a user, by name',
  description: 'Deactivated friends are left out.',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  query: listQuery,
  answer: syncPageOf(User),
})

export const removeFriends = defineOperation({
  ...shared,
  id: 'remove-friend',
  method: 'DELETE',
  path: '/users/{uid}/friends',
  summary: 'Remove friends of a user',
  description: 'Both ways. Users who are no friends are passed over, unless none of those named is one.',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  query: NoQuery,
  body: Type.Object({ friends: Type.Optional(Uids) }),
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_NOT_A_FRIEND'],
})

export const listMyFriends = defineOperation({
  ...shared,
  id: 'list-my-friends',
  method: 'GET',
  path: '/friends',
  summary: "List the acting user's friends, by name",
  description: 'Deactivated friends are left out.',
  access: { user: true },
  onBehalfOf: 'required',
  params: NoParams,
  query: listQuery,
  answer: syncPageOf(User),
})
