import * as contract from '@parley/contract'
import { limits } from '@parley/contract'
import { type Route, serve } from '../../../call.ts'
import { changeRule, makeRule, removeRule, requireRule } from './change.ts'
import { showRule } from './show.ts'
import { ruleStore } from './store.ts'

export const operations: readonly Route[] = [
  serve(contract.createRule, async ({ app, body }, context) => {
    return { data: showRule(app, await makeRule(context, app, body)) }
  }),

  serve(contract.listRules, async ({ app, query }, { database }) => {
    const { limit = limits.moderationLimit.default } = query
    const data = (await ruleStore.readAll(database, app.appId)).slice(0, limit).map((row) => showRule(app, row))
    return { data, meta: { current: { limit, count: data.length } } }
  }),

  serve(contract.getRule, async ({ app, params }, { database }) => {
    return { data: showRule(app, await requireRule(database, app, params.ruleId)) }
  }),

  serve(contract.updateRule, async ({ app, params, body }, context) => {
    return { data: showRule(app, await changeRule(context, app, params.ruleId, body)) }
  }),

  serve(contract.deleteRule, async ({ app, params }, context) => {
    await removeRule(context, app, params.ruleId)
    return { data: { success: true, message: `rule ${params.ruleId} removed` } }
  }),

  serve(contract.listRuleRevisions, async ({ app, params, query }, { database }) => {
    const { limit = limits.moderationLimit.default } = query
    await requireRule(database, app, params.ruleId)
    const rows = await ruleStore.readRevisions(database, app.appId, params.ruleId, limit)
    return { data: rows.map((row) => showRule(app, row)), meta: { current: { limit, count: rows.length } } }
  }),
]
