import { ApiError, limits } from '@parley/contract'
import { lockConversation } from '../../../chat/conversations/membership.ts'
import type { App } from '../../../chat/identity.ts'
import { requireMessage, unknownMessage } from '../../../chat/messages/read.ts'
import { readMessages } from '../../../chat/messages/rows.ts'
import { traits } from '../../../chat/messages/traits.ts'
import type { Viewer } from '../../../chat/sight/sight.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { refuseUnsuitable } from './pins.ts'

const lockUser = statement(`
  select uid
  from users
  where app_id = $1
  and uid = $2
  for no key update`)

const countSaves = statement(`
  select count(*) as count, count(*) filter (where message_id = $3) as mine
  from saved_messages
  where app_id = $1
  and uid = $2`)

const insertSave = statement(`
  insert into saved_messages (app_id, uid, message_id, saved_at)
  values ($1, $2, $3, $4)`)

const setTrait = statement(`
  update messages
  set traits = traits | $3::int
  where app_id = $1
  and id = $2`)

const removeSave = statement(`
  delete from saved_messages
  where app_id = $1
  and uid = $2
  and message_id = $3
  returning message_id`)

/**
 * Saves a message on a user's private list; saved already, the first time stays.
 * @returns whether it was not saved before
 * @throws 400 `ERR_SAVED_MESSAGES_LIMIT_EXCEEDED`
 */
export async function saveMessage({ database }: Context, app: App, viewer: Viewer, id: number): Promise<boolean> {
  const { uid } = viewer
  const { conversation } = await requireMessage(database, app, id, viewer)
  return database.transaction(async (tx) => {
    // One save of a user at a time, so that two cannot both be the hundredth.
    await tx.query(lockUser, [app.appId, uid])
    // And none of a message that is being removed.
    await lockConversation(tx, app.appId, conversation)
    const message = (await readMessages(tx, app.appId, [id])).get(id)
    if (message === undefined) throw unknownMessage(id)
    refuseUnsuitable(message)
    const [saves] = await tx.query<{ count: number; mine: number }>(countSaves, [app.appId, uid, id])
    if ((saves?.mine ?? 0) > 0) return false
    if ((saves?.count ?? 0) >= limits.savedMessagesPerUser) {
      throw new ApiError(
        'ERR_SAVED_MESSAGES_LIMIT_EXCEEDED',
        `A user may save ${limits.savedMessagesPerUser} messages.`,
      )
    }
    await tx.query(insertSave, [app.appId, uid, id, Math.floor(Date.now() / 1000)])
    await tx.query(setTrait, [app.appId, id, traits.saved])
    return true
  })
}

/** Takes a message off a user's list, if it is there. @returns whether it was */
export async function unsaveMessage({ database }: Context, app: App, viewer: Viewer, id: number): Promise<boolean> {
  await requireMessage(database, app, id, viewer)
  return (await database.query(removeSave, [app.appId, viewer.uid, id])).length > 0
}
