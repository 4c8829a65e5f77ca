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
  description: 'Every permission that there is, with its default, and its value where one is set.',
  params: RoleParams,
  query: Type.Object(pageQuery()),
  answer: pageOf(Permission),
})

export const setRolePermissions = defineOperation({
  ...shared,
  id: 'set-role-permissions',
  method: 'PUT',
  path: '/roles/{role}/permissions',
  summary: 'Set permissions of a role',
  description:
    'Permissions that are not in the request stay unchanged. An unknown key, or a value that the key does not take, is not stored and returned with success: false; the others are stored. data has one entry for each key of the request, and under permissions all that are set afterwards. Permissions apply to the users with the role from their next request on, never to the app itself.',
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
  summary: 'Reset one permission of a role',
  description: 'The default applies again. Resetting a permission that is not set is not an error; an unknown key is.',
  params: Type.Object({ ...RoleParams.properties, permission: Type.String({ description: 'Permission key' }) }),
  query: NoQuery,
  answer: enveloped(Type.Object({ permissions: PermissionMap })),
})
