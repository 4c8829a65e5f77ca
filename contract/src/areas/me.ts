import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, JsonObject, NoParams, NoQuery, Outcome, User } from '../schemas.ts'
import { createAuthToken } from './auth-tokens.ts'
import { updateUser } from './users.ts'

const shared = {
  area: 'Users',
  access: { user: true },
  onBehalfOf: 'required',
  rateLimit: 'standard',
  params: NoParams,
  query: NoQuery,
} as const

const FlagReason = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  createdAt: Type.Integer({ description: 'Epoch seconds' }),
  updatedAt: Type.Integer({ description: 'Epoch seconds' }),
  default: Type.Boolean(),
})

/** The settings that front ends read at login. Hosts are those of the request. */
export const ClientSettings = Type.Object({
  APP_VERSION: Type.Integer({
    description: 'Required: without it, front ends lose the login when the page is reloaded',
  }),
  CLIENT_API_HOST: Type.String({ description: 'Host and port of all REST requests' }),
  ADMIN_API_HOST: Type.String(),
  CHAT_HOST: Type.String({ description: 'Host of the socket' }),
  CHAT_HOST_OVERRIDE: Type.String(),
  CHAT_HOST_APP_SPECIFIC: Type.String(),
  CHAT_WSS_PORT: Type.String(),
  CHAT_API_VERSION: Type.String(),
  WS_API_VERSION: Type.String({
    description: 'Version in the paths that front ends request on the host of the socket',
  }),
  MODE: Type.String(),
  ANALYTICS_PING_DISABLED: Type.Boolean(),
  SECURED_MEDIA_HOST: Type.String(),
  'file.count.max': Type.Integer({ description: 'Maximum number of files in a message' }),
  'file.size.max': Type.Integer({ description: 'Maximum bytes of one file' }),
  parameters: Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Integer()]), {
    description: 'Feature switches and limits, with dotted names',
  }),
  extensions: Type.Array(JsonObject),
  flagReasons: Type.Array(FlagReason, { description: 'Reasons that users can give for flagging a message' }),
  settingsHash: Type.String(),
  settingsHashReceivedAt: Type.Integer({ description: 'Epoch seconds' }),
})

const Me = Type.Object(
  {
    ...User.properties,
    authToken: Type.Optional(Type.String({ description: 'The auth token of this request' })),
    jwt: Type.Optional(Type.String({ description: 'The token for the auth frame of the socket' })),
    wsChannel: Type.Optional(Type.Object({ identity: Type.String(), secret: Type.String(), service: Type.String() })),
    settings: Type.Optional(ClientSettings),
  },
  { additionalProperties: false },
)

const { name, avatar, link, statusMessage, metadata, tags, unset } = updateUser.body.properties

export const updateMe = defineOperation({
  ...shared,
  id: 'update-me',
  method: 'PUT',
  path: '/me',
  summary: "Log in, or update the acting user's profile",
  description:
    'Returns the user with what a front end needs after login: auth token, token for the socket, settings. Updates the profile fields in the body. The role cannot be changed.',
  body: Type.Object({
    name,
    avatar,
    link,
    statusMessage,
    metadata,
    tags,
    unset,
    platform: Type.Optional(Type.String({ maxLength: 100 })),
    deviceId: Type.Optional(Type.String({ maxLength: 1000 })),
    appInfo: createAuthToken.body.properties.appInfo,
  }),
  answer: enveloped(Me),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})

export const getMe = defineOperation({
  ...shared,
  id: 'get-me',
  method: 'GET',
  path: '/me',
  summary: 'Get the acting user',
  description: 'With an auth token the answer also has the token for the socket.',
  answer: enveloped(Me),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const logOut = defineOperation({
  ...shared,
  id: 'log-out',
  method: 'DELETE',
  path: '/me',
  summary: 'Log out: delete the auth token of this request',
  description: 'Its sockets are closed. An API key has no login to end: that is refused.',
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'AUTH_ERR_EMPTY_AUTH_TOKEN'],
})

export const getSettings = defineOperation({
  ...shared,
  id: 'get-settings',
  method: 'GET',
  path: '/settings',
  summary: 'Get the settings for front ends',
  description: 'Addresses, limits and switches, and the reasons for flagging messages.',
  onBehalfOf: 'optional',
  answer: enveloped(ClientSettings),
  errors: [],
})

export const recordUserSession = defineOperation({
  ...shared,
  id: 'record-user-session',
  method: 'POST',
  path: '/user_sessions',
  summary: 'Accept telemetry of front ends; nothing is stored',
  description: 'For front ends that send it; the answer is always the same.',
  onBehalfOf: 'optional',
  body: Type.Object({}),
  plain: { body: Type.Object({}, { additionalProperties: true }) },
  answer: enveloped(Type.Object({ success: Type.Boolean() })),
  errors: [],
})
