import {
  listRolePermissions,
  listScopePermissions,
  setRolePermissions,
  setScopePermissions,
  unsetRolePermission,
  unsetScopePermission,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { requireGroup } from '../../chat/groups/access.ts'
import { requireRole } from '../../chat/roles/rows.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { describeRole, setPermissionsOfRole, unsetPermissionOfRole } from './role.ts'
import { describeScope, readScope, setPermissions, unsetPermission } from './scope.ts'

export const operations = [
  serve(listRolePermissions, async ({ app, caller, params, query }, { database }) => {
    const described = describeRole(await requireRole(database, app.appId, params.role))
    const page = readPage(query, caller)
    const data = described.slice(page.offset, page.offset + page.perPage)
    return { data, meta: pageMeta(page, described.length, data.length) }
  }),

  serve(setRolePermissions, async ({ app, params, body }, context) => {
    return { data: await setPermissionsOfRole(context, app.appId, params.role, body.permissions) }
  }),

  serve(unsetRolePermission, async ({ app, params }, context) => {
    return { data: { permissions: await unsetPermissionOfRole(context, app.appId, params.role, params.permission) } }
  }),

  serve(listScopePermissions, async ({ app, caller, params, query }, { database }) => {
    const scope = readScope(params.scope)
    const described = describeScope(await requireGroup(database, app.appId, params.guid), scope)
    const page = readPage(query, caller)
    const data = described.slice(page.offset, page.offset + page.perPage)
    return { data, meta: pageMeta(page, described.length, data.length) }
  }),

  serve(setScopePermissions, async ({ app, params, body }, context) => {
    const scope = readScope(params.scope)
    return { data: await setPermissions(context, app.appId, params.guid, scope, body.permissions) }
  }),

  serve(unsetScopePermission, async ({ app, params }, context) => {
    const scope = readScope(params.scope)
    return { data: { permissions: await unsetPermission(context, app.appId, params.guid, scope, params.permission) } }
  }),
]
