import { createRole, deleteRole, getRole, listRoles, updateRole } from '@parley/contract'
import { serve } from '../../call.ts'
import { requireRole, showRole } from '../../chat/roles/rows.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { changeRole, insertRole, removeRole, selectRoles } from './roles.ts'

export const operations = [
  serve(createRole, async ({ app, body }, context) => {
    return { data: await insertRole(context, app.appId, body) }
  }),

  serve(listRoles, async ({ app, caller, query }, { database }) => {
    const page = readPage(query, caller)
    const { roles, total } = await selectRoles(database, app.appId, page)
    return { data: roles, meta: pageMeta(page, total, roles.length) }
  }),

  serve(getRole, async ({ app, params }, { database }) => {
    return { data: showRole(await requireRole(database, app.appId, params.role)) }
  }),

  serve(updateRole, async ({ app, params, body }, context) => {
    return { data: await changeRole(context, app.appId, params.role, body) }
  }),

  serve(deleteRole, async ({ app, params }, context) => {
    const role = await removeRole(context, app.appId, params.role)
    return { data: { success: true, message: `role ${role} removed` } }
  }),
]
