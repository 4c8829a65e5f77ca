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
  platform: Type.Optional(Type.String({ maxLength: 100, description: 'Platform that it is used on, e.g. WEB' })),
  userAgent: Type.Optional(Type.String({ maxLength: 1000, description: 'Client that it is used from' })),
  appInfo: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description: 'About the app that uses it; at most 5 KB of JSON',
    }),
  ),
}

export const createAuthToken = defineOperation({
  ...shared,
  id: 'create-authtoken',
  method: 'POST',
  path: '/users/{uid}/auth_tokens',
  summary: 'Create an auth token for a user',
  description:
    'Every call creates a new token, with or without force. Tokens do not expire unless the settings tokenLifetime or tokenIdleTimeout of the app say so. A user can have 100; a new token beyond that deletes the oldest.',
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
  summary: "List a user's auth tokens, newest first",
  description: 'One for each login that was not ended, with where it is used.',
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
  summary: 'Delete all auth tokens of a user',
  description:
    'Ends all logins of the user: requests with these tokens are refused, and their sockets are closed. So are JWTs that the own issuer of the app has signed until now.',
  params: UidParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND'],
})

/** A token of another user has an error of its own. This reveals nothing: the caller has a fullAccess key. */
const ofOneToken = ['ERR_UID_NOT_FOUND', 'ERR_AUTH_TOKEN_NOT_FOUND', 'ERR_AUTHTOKEN_NOT_ACCESSIBLE'] as const

export const getAuthToken = defineOperation({
  ...shared,
  id: 'get-authtoken',
  method: 'GET',
  path: '/users/{uid}/auth_tokens/{authToken}',
  summary: 'Get an auth token',
  description: 'When it was created, and where it is used.',
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
  summary: 'Update where an auth token is used',
  description: 'Platform, user agent and app info: shown in lists, without any effect on the login.',
  params: TokenParams,
  query: NoQuery,
  body: Type.Object(use),
  needsBody: true,
  answer: enveloped(AuthToken),
  errors: ofOneToken,
})

export const deleteAuthToken = defineOperation({
  ...shared,
  id: 'delete-authtoken',
  method: 'DELETE',
  path: '/users/{uid}/auth_tokens/{authToken}',
  summary: 'Delete an auth token',
  description: 'Ends one login: requests with the token are refused, and its sockets are closed.',
  params: TokenParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ofOneToken,
})
