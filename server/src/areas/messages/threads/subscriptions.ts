import type { App } from '../../../chat/identity.ts'
import { changeMessage } from '../../../chat/messages/change.ts'
import { requireMessage } from '../../../chat/messages/read.ts'
import { requireMessageScopePermission } from '../../../chat/messages/scope-permissions.ts'
import { traits } from '../../../chat/messages/traits.ts'
import type { Viewer } from '../../../chat/sight/sight.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { nestedThread, noThreadOfActions } from '../errors.ts'

const insert = statement(`
  insert into thread_subscriptions (app_id, uid, parent_id, subscribed_at)
  values ($1, $2, $3, $4)
  on conflict do nothing`)

const setTrait = statement(`
  update messages
  set traits = traits | $3::int
  where app_id = $1
  and id = $2
  and traits & $3::int = 0`)

const remove = statement(`
  delete from thread_subscriptions
  where app_id = $1
  and uid = $2
  and parent_id = $3`)

/**
 * Lets a user follow the thread of a message, also one without replies yet. Under the conversation's lock, so that
 * nothing is left behind by a message that is removed at the same time.
 * @throws 400 `ERR_MESSAGE_THREAD_NESTING` for a reply, `ERR_WRONG_MESSAGE_THREAD_CATEGORY` for an action message
 */
export async function subscribeToThread(context: Context, app: App, uid: string, id: number): Promise<void> {
  await changeMessage(context, app, uid, id, async (tx, message) => {
    await requireMessageScopePermission(tx, app, uid, message, 'listThreadedMessages')
    if (message.category === 'action') throw noThreadOfActions(id)
    if (message.parentId !== null) throw nestedThread(id)
    await tx.query(insert, [app.appId, uid, id, Math.floor(Date.now() / 1000)])
    await tx.query(setTrait, [app.appId, id, traits.followed])
  })
}

/** Unfollows a thread; the user's next reply, or mention in one, makes them follow it again. */
export async function unsubscribeFromThread(
  { database }: Context,
  app: App,
  viewer: Viewer,
  id: number,
): Promise<void> {
  await requireMessage(database, app, id, viewer)
  await database.query(remove, [app.appId, viewer.uid, id])
}
