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
  summary: 'Set or change permissions of a scope in a group',
  description:
    'Keys that are not named stay as they are. A key that is not known, or a value that it does not take, is answered with success false and not stored; the others are. data holds one entry for each key of the request, and under permissions everything that is then set.',
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
  summary: 'Take one permission off a scope in a group',
  description: 'Its default holds again. A permission that is not set is no error, one that does not exist is.',
  params: Type.Object({ ...ScopeParams.properties, permission: Type.String({ description: 'Permission key' }) }),
  query: NoQuery,
  answer: enveloped(Type.Object({ permissions: PermissionMap })),
  errors: ['ERR_GUID_NOT_FOUND'],
})
