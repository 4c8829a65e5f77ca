import { ApiError, badRequest } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { changeMessage } from '../../../chat/messages/change.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'

const insert = statement(`
  insert into interactions (app_id, message_id, uid, element_id, interacted_at)
  select $1, $2, $3, e.id, $5
  from unnest($4::text[]) as e(id)
  on conflict do nothing`)

/**
 * Notes that a user used elements of an interactive message, under its conversation's lock, so that nothing is left behind
 * by one that is removed at the same time; the first time of each is kept.
 * @throws 403 `ERR_MESSAGE_ACTION_NOT_ALLOWED` for a message of another category, 400 for an element that it has not
 */
export async function markInteracted(
  context: Context,
  app: App,
  uid: string,
  id: number,
  elementIds: readonly string[],
): Promise<void> {
  await changeMessage(context, app, uid, id, async (tx, message) => {
    if (message.category !== 'interactive' || message.deletedAt !== null) {
      throw new ApiError('ERR_MESSAGE_ACTION_NOT_ALLOWED', `The message ${id} is not interactive.`)
    }
    const declared = new Set(elementIdsOf(message.data))
    const unknown = elementIds.flatMap((element, i) => (declared.has(element) ? [] : [i]))
    if (unknown.length > 0) {
      throw badRequest(
        unknown.map((i) => ({ path: `body/interactions/${i}`, message: 'is not an element of this message' })),
      )
    }
    await tx.query(insert, [app.appId, id, uid, [...new Set(elementIds)], Math.floor(Date.now() / 1000)])
  })
}

/** Every `elementId` that the content of an interactive message declares, wherever it stands. */
export function elementIdsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(elementIdsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'elementId' && typeof member === 'string' ? [member] : elementIdsOf(member),
  )
}
