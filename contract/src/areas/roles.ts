import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  enveloped,
  IdIn,
  JsonObject,
  NameIn,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  pageOf,
  pageQuery,
} from '../schemas.ts'

const shared = { area: 'Roles', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const

const RoleParams = Type.Object({ role: Type.String() })

/** Which users the users with this role can list, and send one-to-one messages to. */
const RoleSettings = Type.Object({
  listUsers: Type.Optional(oneOf('all', 'friendsOnly')),
  sendMessagesTo: Type.Optional(oneOf('all', 'friendsOnly')),
})
export type RoleSettings = Static<typeof RoleSettings>

const Role = Type.Object(
  {
    role: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    metadata: Type.Optional(JsonObject),
    settings: Type.Optional(RoleSettings),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    updatedAt: Type.Optional(Type.Integer({ description: 'Epoch seconds; only after an update' })),
  },
  { additionalProperties: false },
)
export type Role = Static<typeof Role>

const details = {
  description: Type.Optional(Type.String({ maxLength: limits.descriptionLength })),
  metadata: Type.Optional(JsonObject),
  settings: Type.Optional(RoleSettings),
}

export const createRole = defineOperation({
  ...shared,
  id: 'create-role',
  method: 'POST',
  path: '/roles',
  summary: 'Create a role',
  description: `A user's role is set with the field role of the user. An app can have ${limits.rolesPerApp} roles, including the role default, which users have if they get no other.`,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ role: IdIn, name: NameIn, ...details }),
  bodyLimit: limits.bodyBytes.role,
  answer: enveloped(Role),
  errors: ['ERR_ROLE_ALREADY_EXISTS'],
})

export const listRoles = defineOperation({
  ...shared,
  id: 'list-roles',
  method: 'GET',
  path: '/roles',
  summary: 'List roles, newest first',
  description: 'Those of the app, and the built-in ones.',
  params: NoParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(Role),
  errors: [],
})

export const getRole = defineOperation({
  ...shared,
  id: 'get-role',
  method: 'GET',
  path: '/roles/{role}',
  summary: 'Get a role',
  description: 'Its name, description, metadata and settings.',
  params: RoleParams,
  query: NoQuery,
  answer: enveloped(Role),
  errors: ['ERR_ROLE_NOT_FOUND'],
})

export const updateRole = defineOperation({
  ...shared,
  id: 'update-role',
  method: 'PUT',
  path: '/roles/{role}',
  summary: 'Update a role',
  description:
    'Fields and settings that are left out stay unchanged. A field that is both set and named in unset is cleared.',
  params: RoleParams,
  query: NoQuery,
  body: Type.Object({
    name: Type.Optional(NameIn),
    ...details,
    unset: Type.Optional(Type.Array(oneOf('settings', 'description', 'metadata'), { maxItems: 3 })),
  }),
  bodyLimit: limits.bodyBytes.role,
  answer: enveloped(Role),
  errors: ['ERR_ROLE_NOT_FOUND'],
})

export const deleteRole = defineOperation({
  ...shared,
  id: 'delete-role',
  method: 'DELETE',
  path: '/roles/{role}',
  summary: 'Delete a role',
  description: 'Its users get the role default, which cannot be deleted.',
  params: RoleParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ['ERR_ROLE_NOT_FOUND', 'ERR_ROLE_DELETE_DENIED'],
})
