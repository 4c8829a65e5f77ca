import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, JsonObject, NoQuery, Outcome, pageOf, pageQuery, UidParams } from '../schemas.ts'

const shared = { area: 'Auth Tokens', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const

const AuthToken = Type.Object(
  {
    uid: Type.String(),
    authToken: Type.String({ description: '<uid>_<epoch seconds><30 hexadecimal characters>' }),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    platform: Type.Optional(Type.String()),
    userAgent: Type.Optional(Type.String()),
    appInfo: Type.Optional(JsonObject),
  },
  { additionalProperties: false },
)

const TokenParams = Type.Object({ uid: Type.String(), authToken: Type.String({ description: 'The token itself' }) })

/** Where a token is used. */
const use = {
  platform: Type.Optional(Type.String({ maxLength: 100, description: 'What it is used on, e.g. WEB' })),
  userAgent: Type.Optional(Type.String({ maxLength: 1000, description: 'Client that it is used from' })),
  appInfo: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description: 'About the front end; at most 5 KB of JSON' }),
  ),
}

export const createAuthToken = defineOperation({
  ...shared,
  id: 'create-authtoken',
  method: 'POST',
  path: '/users/{uid}/auth_tokens',
  summary: 'Issue a token that logs a user in',
  description:
    'Always a new one, with and without force. It does not expire; a user has 100 at most, and the oldest drop out.',
  access: { authOnly: true },
  params: UidParams,
  query: NoQuery,
  body: Type.Object({
    force: Type.Optional(Type.Boolean()),
    ...use,
    deviceId: Type.Optional(Type.String({ maxLength: 1000, description: 'Sent by front ends; not kept' })),
  }),
  answer: enveloped(AuthToken),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})

export const listAuthTokens = defineOperation({
  ...shared,
  id: 'list-authtokens',
  method: 'GET',
  path: '/users/{uid}/auth_tokens',
  summary: "List a user's tokens, newest first",
  params: UidParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(AuthToken),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const flushAuthTokens = defineOperation({
  ...shared,
  id: 'flush-authtokens',
  method: 'DELETE',
  path: '/users/{uid}/auth_tokens',
  summary: 'Log a user out everywhere: drop all his tokens',
  params: UidParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND'],
})

/** A token that exists and is another user's is refused as such; whoever asks has a fullAccess key. */
const ofOneToken = ['ERR_UID_NOT_FOUND', 'ERR_AUTH_TOKEN_NOT_FOUND', 'ERR_AUTHTOKEN_NOT_ACCESSIBLE'] as const

export const getAuthToken = defineOperation({
  ...shared,
  id: 'get-authtoken',
  method: 'GET',
  path: '/users/{uid}/auth_tokens/{authToken}',
  summary: 'Read one token',
  params: TokenParams,
  query: NoQuery,
  answer: enveloped(AuthToken),
  errors: ofOneToken,
})

export const updateAuthToken = defineOperation({
  ...shared,
  id: 'update-authtoken',
  method: 'PUT',
  path: '/users/{uid}/auth_tokens/{authToken}',
  summary: 'Record where a token is used',
  params: TokenParams,
  query: NoQuery,
  body: Type.Object(use),
  answer: enveloped(AuthToken),
  errors: ofOneToken,
})

export const deleteAuthToken = defineOperation({
  ...shared,
  id: 'delete-authtoken',
  method: 'DELETE',
  path: '/users/{uid}/auth_tokens/{authToken}',
  summary: 'Drop one token; it stops working at once',
  params: TokenParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ofOneToken,
})
