import { badRequest } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { changeMessage } from '../../../chat/messages/change.ts'
import { placeOf } from '../../../chat/place.ts'
import { requireUser } from '../../../chat/users/require.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { notInteractive } from '../errors.ts'
import { reachesGoal } from './goal.ts'

const insert = statement(`
  insert into interactions (app_id, message_id, uid, element_id, interacted_at)
  select $1, $2, $3, e.id, $5
  from unnest($4::text[]) as e(id)
  on conflict do nothing
  returning element_id`)

const select = statement(`
  select element_id as "elementId", interacted_at as "interactedAt"
  from interactions
  where app_id = $1
  and message_id = $2
  and uid = $3
  order by interacted_at, element_id`)

/**
 * Notes that a user used elements of an interactive message, under its conversation's lock, so that nothing is left behind
 * by one that is removed at the same time; the first time of each is kept. Who reaches the goal of the message by it makes
 * that known to its sender.
 * @throws 403 `ERR_MESSAGE_ACTION_NOT_ALLOWED` for a message of another category, 400 for an element that it has not
 */
export async function markInteracted(
  context: Context,
  app: App,
  { uid, device }: { readonly uid: string; readonly device: string | undefined },
  id: number,
  elementIds: readonly string[],
): Promise<void> {
  await changeMessage(context, app, uid, id, async (tx, message) => {
    // An erasure has the lock of the conversation, too: whoever is still there has it before that.
    await requireUser(tx, app.appId, uid)
    if (message.category !== 'interactive' || message.deletedAt !== null) {
      throw notInteractive(id)
    }
    const declared = new Set(elementIdsOf(message.data))
    const unknown = elementIds.flatMap((element, i) => (declared.has(element) ? [] : [i]))
    if (unknown.length > 0) {
      throw badRequest(
        unknown.map((i) => ({ path: `body/interactions/${i}`, message: 'is not an element of this message' })),
      )
    }
    const values = [app.appId, id, uid, [...new Set(elementIds)], Math.floor(Date.now() / 1000)]
    const added = await tx.query<{ element_id: string }>(insert, values)
    if (added.length === 0) return
    const interactions = await tx.query<{ elementId: string; interactedAt: number }>(select, [app.appId, id, uid])
    const used = new Set(interactions.map(({ elementId }) => elementId))
    const before = new Set(used)
    for (const { element_id: elementId } of added) before.delete(elementId)
    if (reachesGoal(message.data, before) || !reachesGoal(message.data, used)) return
    const goal = { goalOf: id, place: placeOf(message), messageSender: message.sender, uid, device, interactions }
    await context.events.note(tx, app.appId, { note: 'goal_reached', place: goal.place, messageId: id, uid })
    tx.afterCommit(() => context.events.publish(app.appId, goal))
  })
}

/** Every `elementId` that the content of an interactive message declares, wherever it stands. */
function elementIdsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(elementIdsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'elementId' && typeof member === 'string' ? [member] : elementIdsOf(member),
  )
}
