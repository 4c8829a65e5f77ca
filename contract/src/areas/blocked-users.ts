import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, IdIn, NoParams, NoQuery, oneOf, pageOf, pageQuery, UidParams, User } from '../schemas.ts'

const shared = { area: 'Blocked Users', rateLimit: 'standard' } as const

/** What became of each uid. */
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
  searchKey: Type.Optional(Type.String({ description: 'Beginning of a name or uid' })),
  ...pageQuery(),
})

/** Of any user, by an API key. */
const ofUser = {
  ...shared,
  path: '/users/{uid}/blockedusers',
  access: {},
  onBehalfOf: 'ignored',
  params: UidParams,
  errors: ['ERR_UID_NOT_FOUND'],
} as const

/** The acting user's own list, for front ends. */
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
  summary: 'Block users',
  description: 'Blocks go one way and work both ways: no messages one-to-one in either direction.',
  query: NoQuery,
  body: BlockBody,
  answer: enveloped(OutcomeByUid),
} as const

const unblock = {
  ...block,
  method: 'DELETE',
  summary: 'Unblock users',
  description: 'The blocks of others stay.',
} as const

const list = {
  method: 'GET',
  summary: 'List blocked users, newest block first',
  description: 'Those that the user blocked; with direction also, or only, those who blocked him.',
  query: listQuery,
  answer: pageOf(User),
} as const

export const blockUsers = defineOperation({ ...ofUser, ...block, id: 'block-users' })
export const unblockUsers = defineOperation({ ...ofUser, ...unblock, id: 'unblock-users' })
export const listBlockedUsers = defineOperation({ ...ofUser, ...list, id: 'list-blocked-users' })
export const blockUsersAsMe = defineOperation({ ...own, ...block, id: 'block-users-as-me' })
export const unblockUsersAsMe = defineOperation({ ...own, ...unblock, id: 'unblock-users-as-me' })
export const listUsersBlockedByMe = defineOperation({ ...own, ...list, id: 'list-users-blocked-by-me' })
