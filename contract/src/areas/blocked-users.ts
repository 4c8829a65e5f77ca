import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, IdIn, NoParams, NoQuery, oneOf, pageQuery, syncPageOf, UidParams, User } from '../schemas.ts'

const shared = { area: 'Blocked Users', rateLimit: 'standard' } as const

/** The outcome for each uid. */
export const OutcomeByUid = Type.Record(
  Type.String(),
  Type.Object({
    success: Type.Boolean(),
    message: Type.Optional(Type.String()),
    error: Type.Optional(Type.Unsafe<object>({ type: 'object', additionalProperties: true })),
  }),
)

const BlockBody = Type.Object({ blockedUids: Type.Array(IdIn, { minItems: 1, maxItems: 100 }) })

const listQuery = Type.Object({
  direction: Type.Optional(oneOf('blockedByMe', 'hasBlockedMe', 'both')),
  searchKey: Type.Optional(Type.String({ description: 'Part of the name or uid' })),
  ...pageQuery(),
})

/** For any user, with an API key. */
const ofUser = {
  ...shared,
  path: '/users/{uid}/blockedusers',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  errors: ['ERR_UID_NOT_FOUND'],
} as const

/** For the acting user, from front ends. */
const own = {
  ...shared,
  path: '/blockedusers',
  access: { user: true },
  onBehalfOf: 'required',
  params: NoParams,
  errors: ['ERR_UID_NOT_FOUND'],
} as const

const block = {
  method: 'POST',
  description:
    'At most 100 at once. While one of two users blocks the other, neither can send the other one-to-one messages.',
  query: NoQuery,
  body: BlockBody,
  answer: enveloped(OutcomeByUid),
} as const

const unblock = {
  ...block,
  method: 'DELETE',
  description: 'At most 100 at once. Blocks by the other users stay in force.',
} as const

const list = {
  method: 'GET',
  description:
    'By default the users whom this user blocked, newest block first. direction selects these, the users who blocked this user, or both. Deactivated users are left out.',
  query: listQuery,
  answer: syncPageOf(User),
} as const

export const blockUsers = defineOperation({ ...ofUser, ...block, id: 'block-users', summary: 'Block users for a user' })
export const unblockUsers = defineOperation({
  ...ofUser,
  ...unblock,
  id: 'unblock-users',
  summary: 'Unblock users for a user',
})
export const listBlockedUsers = defineOperation({
  ...ofUser,
  ...list,
  id: 'list-blocked-users',
  summary: 'List the blocked users of a user',
})
export const blockUsersAsMe = defineOperation({
  ...own,
  ...block,
  id: 'block-users-as-me',
  summary: 'Block users as the acting user',
})
export const unblockUsersAsMe = defineOperation({
  ...own,
  ...unblock,
  id: 'unblock-users-as-me',
  summary: 'Unblock users as the acting user',
})
export const listUsersBlockedByMe = defineOperation({
  ...own,
  ...list,
  id: 'list-users-blocked-by-me',
  summary: "List the acting user's blocked users",
})
