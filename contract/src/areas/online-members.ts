import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, IdIn, NoParams, NoQuery } from '../schemas.ts'

/** The version in the paths that front ends request on the host of the socket; their settings name it. */
export const socketApiVersion = 'v3.0'

export const countOnlineMembers = defineOperation({
  id: 'count-online-members',
  area: 'Users',
  method: 'POST',
  path: `/api/${socketApiVersion}/online-members`,
  summary: 'Count the users who are online',
  description:
    'Without groups: users of the app, the acting user among them. With groups: members of each group. Groups that the acting user cannot see, or whose members they cannot list, are left out; users who blocked the acting user, or whom they blocked, are not counted. Front ends send the token of the socket in the header Authorization.',
  access: { user: true, jwt: true },
  onBehalfOf: 'optional',
  rateLimit: 'standard',
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ groups: Type.Optional(Type.Array(IdIn, { maxItems: 100 })) }),
  answer: enveloped(
    Type.Object({
      onlineUsersCount: Type.Optional(Type.Integer()),
      groups: Type.Optional(Type.Record(Type.String(), Type.Integer(), { description: 'By guid' })),
    }),
  ),
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED'],
})
