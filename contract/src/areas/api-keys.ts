import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, NameIn, NoParams, NoQuery, Outcome, oneOf, pageOf, pageQuery } from '../schemas.ts'

const KeyScopeIn = oneOf('fullAccess', 'authOnly')

const ApiKey = Type.Object(
  { apiKey: Type.String(), name: Type.String(), scope: KeyScopeIn, createdAt: Type.Integer() },
  { additionalProperties: false },
)

const KeyParams = Type.Object({ apiKey: Type.String({ description: 'The key itself' }) })

const shared = { area: 'API Keys', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const

export const createApiKey = defineOperation({
  ...shared,
  id: 'create-apikey',
  method: 'POST',
  path: '/apikeys',
  summary: 'Create an API key',
  description: 'Without a scope the key is authOnly. It is random, and can be read again with a fullAccess key.',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ name: NameIn, scope: Type.Optional(KeyScopeIn) }),
  answer: enveloped(ApiKey),
  errors: [],
})

export const listApiKeys = defineOperation({
  ...shared,
  id: 'list-apikeys',
  method: 'GET',
  path: '/apikeys',
  summary: 'List API keys, newest first',
  description:
    'Keys are shown in full. The list has those of one scope, or whose name contains searchKey, if asked for.',
  params: NoParams,
  query: Type.Object({
    scope: Type.Optional(KeyScopeIn),
    searchKey: Type.Optional(Type.String({ description: 'Part of the name' })),
    ...pageQuery(),
  }),
  answer: pageOf(ApiKey),
  errors: [],
})

export const getApiKey = defineOperation({
  ...shared,
  id: 'get-apikey',
  method: 'GET',
  path: '/apikeys/{apiKey}',
  summary: 'Get an API key',
  description: 'Name, scope and time of creation of a key of this app.',
  params: KeyParams,
  query: NoQuery,
  answer: enveloped(ApiKey),
  errors: ['ERR_APIKEY_NOT_FOUND'],
})

export const updateApiKey = defineOperation({
  ...shared,
  id: 'update-apikey',
  method: 'PUT',
  path: '/apikeys/{apiKey}',
  summary: 'Update the name or scope of another API key',
  description: 'What is left out stays unchanged. The key of the request itself cannot be changed.',
  params: KeyParams,
  query: NoQuery,
  body: Type.Object({ name: Type.Optional(NameIn), scope: Type.Optional(KeyScopeIn) }),
  answer: enveloped(ApiKey),
  errors: ['ERR_APIKEY_NOT_FOUND', 'ERR_APIKEY_NO_SELF_ACTION'],
})

export const deleteApiKey = defineOperation({
  ...shared,
  id: 'delete-apikey',
  method: 'DELETE',
  path: '/apikeys/{apiKey}',
  summary: 'Delete another API key',
  description: 'Requests with it are refused from then on. The key of the request itself cannot be deleted.',
  params: KeyParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ['ERR_APIKEY_NOT_FOUND', 'ERR_APIKEY_NO_SELF_ACTION'],
})
