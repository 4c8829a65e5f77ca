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

/** Whom the users of a role see in the list of users, and whom they may write to one-to-one. */
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
  summary: 'Make a role',
  description: `Users get it by their field role. An app may have ${limits.rolesPerApp}, the role default among them, which every user has who is given no other.`,
  params: NoParams,
  query: NoQuery,
  body: Type.Object({ role: IdIn, name: NameIn, ...details }),
  answer: enveloped(Role),
  errors: ['ERR_ROLE_ALREADY_EXISTS'],
})

export const listRoles = defineOperation({
  ...shared,
  id: 'list-roles',
  method: 'GET',
  path: '/roles',
  summary: 'List roles, newest first',
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
  summary: 'Read one role',
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
  summary: 'Change a role',
  description:
    'Fields that are not given stay as they are, and so does each of the settings. Where a field is both given and unset, it is unset.',
  params: RoleParams,
  query: NoQuery,
  body: Type.Object({
    name: Type.Optional(NameIn),
    ...details,
    unset: Type.Optional(Type.Array(oneOf('settings', 'description', 'metadata'), { maxItems: 3 })),
  }),
  answer: enveloped(Role),
  errors: ['ERR_ROLE_NOT_FOUND'],
})

export const deleteRole = defineOperation({
  ...shared,
  id: 'delete-role',
  method: 'DELETE',
  path: '/roles/{role}',
  summary: 'Remove a role',
  description: 'Users who hold it get the role default, which cannot be removed.',
  params: RoleParams,
  query: NoQuery,
  answer: enveloped(Outcome),
  errors: ['ERR_ROLE_NOT_FOUND', 'ERR_ROLE_DELETE_DENIED'],
})
