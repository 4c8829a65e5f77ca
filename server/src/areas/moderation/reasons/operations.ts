import * as contract from '@parley/contract'
import { limits, type Reason } from '@parley/contract'
import { type Route, serve } from '../../../call.ts'
import { type ReasonRow, readReasons } from '../../../chat/moderation/reasons.ts'
import { makeReason, removeReason, renameReason, requireReason } from './reasons.ts'

function showReason({ id, name, description, createdAt, updatedAt, predefined }: ReasonRow): Reason {
  const described = { id, name, ...(description !== null && { description }) }
  return { ...described, createdAt, updatedAt, ...(predefined && { default: true }) }
}

/** Times of a reason among others are texts. */
function showListed(row: ReasonRow) {
  const times = { createdAt: String(row.createdAt), updatedAt: String(row.updatedAt) }
  return { ...showReason(row), ...times, default: row.predefined }
}

export const operations: readonly Route[] = [
  serve(contract.createReason, async ({ app, body }, context) => {
    return { data: showReason(await makeReason(context, app.appId, body)) }
  }),

  serve(contract.listReasons, async ({ app, query }, { database }) => {
    const { limit = limits.moderationLimit.default } = query
    const data = (await readReasons(database, app.appId)).slice(0, limit).map(showListed)
    return { data, meta: { current: { limit, count: data.length } } }
  }),

  serve(contract.getReason, async ({ app, params }, { database }) => {
    return { data: showReason(await requireReason(database, app.appId, params.id)) }
  }),

  serve(contract.updateReason, async ({ app, params, body }, context) => {
    return { data: showReason(await renameReason(context, app.appId, params.id, body)) }
  }),

  serve(contract.deleteReason, async ({ app, params }, context) => {
    await removeReason(context, app.appId, params.id)
    return { success: true, message: `reason ${params.id} removed` }
  }),
]
