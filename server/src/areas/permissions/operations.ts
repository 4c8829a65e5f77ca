import { listScopePermissions, setScopePermissions, unsetScopePermission } from '@parley/contract'
import { serve } from '../../call.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { requireGroup } from '../groups/index.ts'
import { describeScope, readScope, setPermissions, unsetPermission } from './scope.ts'

export const operations = [
  serve(listScopePermissions, async ({ app, params, query }, { database }) => {
    const scope = readScope(params.scope)
    const described = describeScope(await requireGroup(database, app.appId, params.guid), scope)
    const page = readPage(query)
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
