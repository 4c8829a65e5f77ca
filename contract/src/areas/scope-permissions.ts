import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import type { PermissionValue } from '../permissions.ts'
import { enveloped, NoQuery, Outcome, oneOf, pageOf, pageQuery } from '../schemas.ts'

const shared = { area: 'RBAC', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const

const ScopeParams = Type.Object({
  guid: Type.String(),
  scope: Type.String({ description: 'admin, moderator or participant' }),
})

const PermissionValueOut = Type.Unsafe<PermissionValue>({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
})

/** A permission that a scope can be given; `value` is what it is set to, where it is. */
const ScopePermission = Type.Object(
  {
    id: Type.String(),
    type: oneOf('role', 'scope'),
    title: Type.String(),
    description: Type.String(),
    dataType: oneOf('string', 'stringArray', 'rolesStringArray', 'customStringArray'),
    availableValues: Type.Array(Type.String()),
    defaultValue: PermissionValueOut,
    value: Type.Optional(PermissionValueOut),
    createdAt: Type.Integer({ description: 'Epoch seconds' }),
    updatedAt: Type.Integer({ description: 'Epoch seconds' }),
  },
  { additionalProperties: false },
)
export type ScopePermission = Static<typeof ScopePermission>

const PermissionMap = Type.Unsafe<Record<string, PermissionValue>>({
  type: 'object',
  additionalProperties: PermissionValueOut,
})

export const listScopePermissions = defineOperation({
  ...shared,
  id: 'list-scope-permissions',
  method: 'GET',
  path: '/groups/{guid}/scopes/{scope}/permissions',
  summary: 'List the permissions of a scope in a group',
  params: ScopeParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(ScopePermission),
  errors: ['ERR_GUID_NOT_FOUND'],
})

export const setScopePermissions = defineOperation({
  ...shared,
  id: 'set-scope-permissions',
  method: 'PUT',
  path: '/groups/{guid}/scopes/{scope}/permissions',
  summary: 'Set or change permissions of a scope in a group',
  description:
    'Keys that are not named stay as they are. A key that is not known, or a value that it does not take, is answered with success false and not stored; the others are. data holds one entry for each key of the request, and under permissions everything that is then set.',
  params: ScopeParams,
  query: NoQuery,
  body: Type.Object({
    permissions: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      minProperties: 1,
      additionalProperties: true,
      description: 'Value by permission key',
    }),
  }),
  answer: enveloped(
    Type.Unsafe<Record<string, Static<typeof Outcome> | Record<string, PermissionValue>>>({
      type: 'object',
      properties: { permissions: PermissionMap },
      required: ['permissions'],
      additionalProperties: Outcome,
    }),
  ),
  errors: ['ERR_GUID_NOT_FOUND'],
})

export const unsetScopePermission = defineOperation({
  ...shared,
  id: 'unset-scope-permissions',
  method: 'DELETE',
  path: '/groups/{guid}/scopes/{scope}/permissions/{permission}',
  summary: 'Take one permission off a scope in a group',
  description: 'Its default holds again. A permission that is not set is no error, one that does not exist is.',
  params: Type.Object({ ...ScopeParams.properties, permission: Type.String({ description: 'Permission key' }) }),
  query: NoQuery,
  answer: enveloped(Type.Object({ permissions: PermissionMap })),
  errors: ['ERR_GUID_NOT_FOUND'],
})
