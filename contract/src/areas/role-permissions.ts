import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { Permission, PermissionMap, PermissionOutcomes, PermissionsIn } from '../permissions/schemas.ts'
import { enveloped, NoQuery, pageOf, pageQuery } from '../schemas.ts'

const shared = {
  area: 'RBAC',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  errors: ['ERR_ROLE_NOT_FOUND'],
} as const

const RoleParams = Type.Object({ role: Type.String() })

export const listRolePermissions = defineOperation({
  ...shared,
  id: 'list-role-permissions',
  method: 'GET',
  path: '/roles/{role}/permissions',
  summary: 'List the permissions of a role',
  params: RoleParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(Permission),
})

export const setRolePermissions = defineOperation({
  ...shared,
  id: 'set-role-permissions',
  method: 'PUT',
  path: '/roles/{role}/permissions',
  summary: 'Set or change permissions of a role',
  description:
    'Keys that are not named stay as they are. A key that is not known, or a value that it does not take, is answered with success false and not stored; the others are. data holds one entry for each key of the request, and under permissions everything that is then set. What is set binds the users of the role from the next call on, never the app itself.',
  params: RoleParams,
  query: NoQuery,
  body: Type.Object({ permissions: PermissionsIn }),
  answer: enveloped(PermissionOutcomes),
})

export const unsetRolePermission = defineOperation({
  ...shared,
  id: 'unset-role-permissions',
  method: 'DELETE',
  path: '/roles/{role}/permissions/{permission}',
  summary: 'Take one permission off a role',
  description: 'Its default holds again. A permission that is not set is no error, one that does not exist is.',
  params: Type.Object({ ...RoleParams.properties, permission: Type.String({ description: 'Permission key' }) }),
  query: NoQuery,
  answer: enveloped(Type.Object({ permissions: PermissionMap })),
})
