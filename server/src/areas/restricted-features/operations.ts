import * as contract from '@parley/contract'
import { serve } from '../../call.ts'
import { requireRole } from '../../chat/roles/rows.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { allowFeatures, describeRestrictions, restrictFeatures } from './features.ts'

export const operations = [
  serve(contract.listFeatures, async ({ caller }) => {
    const data = [...contract.restrictedFeatures].map(([key, { title, description, path }]) => ({
      ...{ title, description, key: contract.featureName(key), path },
    }))
    return { data, meta: pageMeta(readPage({}, caller), data.length, data.length) }
  }),

  serve(contract.restrictFeatures, async ({ app, params, body }, context) => {
    return { data: await restrictFeatures(context, app.appId, params.role, body.featuresToRestrict) }
  }),

  serve(contract.listRestrictedFeatures, async ({ app, caller, params, query }, { database }) => {
    const restrictions = describeRestrictions(await requireRole(database, app.appId, params.role))
    const page = readPage(query, caller)
    const data = restrictions.slice(page.offset, page.offset + page.perPage)
    return { data, meta: pageMeta(page, restrictions.length, data.length) }
  }),

  serve(contract.allowFeatures, async ({ app, params, body }, context) => {
    const { featuresToAllow = [], allowAll = false } = body
    await allowFeatures(context, app.appId, params.role, featuresToAllow, allowAll)
    return { data: { success: true, message: 'feature allowed' } }
  }),
]
