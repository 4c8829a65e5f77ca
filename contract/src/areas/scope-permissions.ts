import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { Permission, PermissionMap, PermissionOutcomes, PermissionsIn } from '../permissions/schemas.ts'
import { enveloped, NoQuery, pageOf, pageQuery } from '../schemas.ts'

const shared = { area: 'RBAC', access: {}, onBehalfOf: 'ignored', rateLimit: 'standard' } as const

const ScopeParams = Type.Object({
  guid: Type.String(),
  scope: Type.String({ description: 'admin, moderator or participant' }),
})

export const listScopePermissions = defineOperation({
  ...shared,
  id: 'list-scope-permissions',
  method: 'GET',
  path: '/groups/{guid}/scopes/{scope}/permissions',
  summary: 'List the permissions of a scope in a group',
  description: 'Every permission that there is, with its default, and its value where one is set.',
  params: ScopeParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(Permission),
  errors: ['ERR_GUID_NOT_FOUND'],
})

export const setScopePermissions = defineOperation({
  ...shared,
  id: 'set-scope-permissions',
  method: 'PUT',
  path: '/groups/{guid}/scopes/{scope}/permissions',
  summary: 'Set permissions of a scope in a group',
  description:
    'Permissions that are not in the request stay unchanged. An unknown key, or a value that the key does not take, is not stored and returned with success: false; the others are stored. data has one entry for each key of the request, and under permissions all that are set afterwards.',
  params: ScopeParams,
  query: NoQuery,
  body: Type.Object({ permissions: PermissionsIn }),
  answer: enveloped(PermissionOutcomes),
  errors: ['ERR_GUID_NOT_FOUND'],
})

export const unsetScopePermission = defineOperation({
  ...shared,
  id: 'unset-scope-permissions',
  method: 'DELETE',
  path: '/groups/{guid}/scopes/{scope}/permissions/{permission}',
  summary: 'Reset one permission of a scope in a group',
  description: 'The default applies again. Resetting a permission that is not set is not an error; an unknown key is.',
  params: Type.Object({ ...ScopeParams.properties, permission: Type.String({ description: 'Permission key' }) }),
  query: NoQuery,
  answer: enveloped(Type.Object({ permissions: PermissionMap })),
  errors: ['ERR_GUID_NOT_FOUND'],
})
