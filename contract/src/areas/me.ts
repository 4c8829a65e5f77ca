import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, JsonObject, NoParams, NoQuery, Outcome, User } from '../schemas.ts'
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

/** What front ends read at login to find their way. Hosts are those that the client itself used. */
export const ClientSettings = Type.Object({
  APP_VERSION: Type.Integer({ description: 'Without it, front ends forget who is logged in when a page is loaded' }),
  CLIENT_API_HOST: Type.String({ description: 'Host, with port, of all REST calls' }),
  ADMIN_API_HOST: Type.String(),
  CHAT_HOST: Type.String({ description: 'Host of the socket' }),
  CHAT_HOST_OVERRIDE: Type.String(),
  CHAT_HOST_APP_SPECIFIC: Type.String(),
  CHAT_WSS_PORT: Type.String(),
  CHAT_API_VERSION: Type.String(),
  WS_API_VERSION: Type.String({ description: 'Version in the paths that front ends call on the host of the socket' }),
  MODE: Type.String(),
  ANALYTICS_PING_DISABLED: Type.Boolean(),
  SECURED_MEDIA_HOST: Type.String(),
  'file.count.max': Type.Integer({ description: 'Files that a message may come with' }),
  'file.size.max': Type.Integer({ description: 'Bytes of one file' }),
  parameters: Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Integer()]), {
    description: 'What is on, and limits, by dotted names',
  }),
  extensions: Type.Array(JsonObject),
  flagReasons: Type.Array(FlagReason, { description: 'What users may give as the reason for flagging a message' }),
  settingsHash: Type.String(),
  settingsHashReceivedAt: Type.Integer({ description: 'Epoch seconds' }),
})

const Me = Type.Object(
  {
    ...User.properties,
    authToken: Type.Optional(Type.String({ description: 'The token that the call came with' })),
    jwt: Type.Optional(Type.String({ description: 'What the socket takes to log in' })),
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
  summary: 'Log in on this device, or change the own profile',
  description:
    'Answers the user with what a front end needs to go on: its token, what the socket takes, settings. Profile fields that are sent are changed; a role is not among them.',
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
    appInfo: Type.Optional(JsonObject),
  }),
  answer: enveloped(Me),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})

export const getMe = defineOperation({
  ...shared,
  id: 'get-me',
  method: 'GET',
  path: '/me',
  summary: 'Read the acting user',
  answer: enveloped(Me),
  errors: ['ERR_UID_NOT_FOUND'],
})

export const logOut = defineOperation({
  ...shared,
  id: 'log-out',
  method: 'DELETE',
  path: '/me',
  summary: 'Log out: the token of this call stops working',
  answer: enveloped(Outcome),
  errors: ['ERR_UID_NOT_FOUND', 'AUTH_ERR_EMPTY_AUTH_TOKEN'],
})

export const getSettings = defineOperation({
  ...shared,
  id: 'get-settings',
  method: 'GET',
  path: '/settings',
  summary: 'Read the settings for front ends',
  onBehalfOf: 'optional',
  answer: enveloped(ClientSettings),
  errors: [],
})

export const recordUserSession = defineOperation({
  ...shared,
  id: 'record-user-session',
  method: 'POST',
  path: '/user_sessions',
  summary: 'Take telemetry of a front end; nothing is stored',
  onBehalfOf: 'optional',
  body: Type.Object({}),
  answer: enveloped(Type.Object({ success: Type.Boolean() })),
  errors: [],
})
