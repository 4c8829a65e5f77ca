import * as contract from '@parley/contract'
import { type Route, serve } from '../../../call.ts'
import { unknownExample } from '../errors.ts'
import { requireRule } from '../rules/change.ts'
import { labelHit } from './label.ts'
import { beginDryRun, endDryRun, requireRun } from './runs.ts'
import { showRun } from './show.ts'
import { tryTexts } from './test.ts'

const shownExamples = 50

export const operations: readonly Route[] = [
  serve(contract.testRule, async ({ app, params, body }, context) => {
    return { data: await tryTexts(context, app, params.ruleId, body) }
  }),

  serve(contract.startDryRun, async ({ app, params, body }, context) => {
    const run = await beginDryRun(context, app, params.ruleId, body)
    return { data: await showRun(context.database, app, params.ruleId, run, 0) }
  }),

  serve(contract.getDryRun, async ({ app, params, query }, { database }) => {
    await requireRule(database, app, params.ruleId)
    const run = await requireRun(database, app.appId, params.ruleId)
    return { data: await showRun(database, app, params.ruleId, run, query.examples ?? shownExamples) }
  }),

  serve(contract.stopDryRun, async ({ app, params }, context) => {
    await requireRule(context.database, app, params.ruleId)
    await endDryRun(context, app.appId, params.ruleId)
    return { data: { success: true, message: `dry run of ${params.ruleId} stopped` } }
  }),

  serve(contract.labelExample, async ({ app, params, body }, { database }) => {
    const { ruleId, messageId } = params
    await requireRule(database, app, ruleId)
    await requireRun(database, app.appId, ruleId)
    const id = /^[0-9]{1,15}$/.test(messageId) ? Number(messageId) : undefined
    if (id === undefined || !(await labelHit(database, app.appId, ruleId, id, body.label))) {
      throw unknownExample(messageId, ruleId)
    }
    return { data: { messageId: String(id), ...(body.label !== null && { label: body.label }) } }
  }),
]
