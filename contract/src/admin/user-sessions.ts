import { Type } from 'typebox'
import { defineAdminOperation } from './operation.ts'

const NoQuery = Type.Object({})
const Epoch = (description: string) => Type.Integer({ description: `${description}, epoch seconds` })
const OfUser = Type.Object({ appId: Type.String(), uid: Type.String() })

const Device = Type.Object({
  platform: Type.String(),
  type: Type.String({ description: '`chat` or `voip`' }),
  provider: Type.String({ description: 'ID of the provider that pushes to it' }),
  updatedAt: Epoch('When it was last registered'),
})

const UserSession = Type.Object({
  id: Type.String(),
  platform: Type.Optional(Type.String()),
  agent: Type.Optional(Type.String({ description: 'The client, as it names itself' })),
  createdAt: Epoch('When the auth token was made'),
  usedAt: Type.Optional(Epoch('When it was last used, where the app has an idle timeout')),
  devices: Type.Array(Device, { description: 'Devices that pushes are sent to' }),
})

export const listUserSessions = defineAdminOperation({
  id: 'list-user-sessions',
  area: 'Apps',
  method: 'GET',
  path: '/apps/{appId}/users/{uid}/sessions',
  summary: 'List where a user is logged in, newest first, with the devices that are pushed to',
  description: 'One for each auth token that has not expired, without the token itself.',
  access: 'look',
  params: OfUser,
  query: NoQuery,
  answer: Type.Object({ data: Type.Array(UserSession) }),
  errors: ['ERR_APP_NOT_FOUND', 'ERR_UID_NOT_FOUND'],
})

export const endUserSession = defineAdminOperation({
  id: 'end-user-session',
  area: 'Apps',
  method: 'DELETE',
  path: '/apps/{appId}/users/{uid}/sessions/{id}',
  summary: 'Log a user out of one device',
  description:
    'The auth token opens nothing any more, its sockets are closed, and nothing is pushed to its devices. `DELETE /apps/{appId}/users/{uid}/auth_tokens` logs them out everywhere.',
  access: 'moderate',
  params: Type.Object({ ...OfUser.properties, id: Type.String({ pattern: '^[0-9]{1,15}$' }) }),
  query: NoQuery,
  answer: Type.Object({ data: Type.Object({ success: Type.Literal(true) }) }),
  errors: ['ERR_APP_NOT_FOUND', 'ERR_UID_NOT_FOUND', 'ERR_SESSION_NOT_FOUND'],
})
