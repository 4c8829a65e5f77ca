import { hasReached } from '@parley/contract'
import { lockConversation } from '../../../chat/conversations/membership.ts'
import type { App } from '../../../chat/identity.ts'
import { requireMessage, unknownMessage } from '../../../chat/messages/read.ts'
import { readMessages } from '../../../chat/messages/rows.ts'
import { isHeld, traits } from '../../../chat/messages/traits.ts'
import { placeOf } from '../../../chat/place.ts'
import { readVisible, type Viewer } from '../../../chat/sight/sight.ts'
import { lockUser } from '../../../chat/users/locks.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { tooManySavedMessages } from '../errors.ts'
import { requireMarkable } from './pins.ts'

const selectSaves = statement(`
  select message_id as id
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

const removeSaves = statement(`
  delete from saved_messages
  where app_id = $1
  and uid = $2
  and message_id = any($3::bigint[])
  returning message_id as id`)

/**
 * Saves a message on a user's private list; saved already, the first time stays. Where no place is left, messages that
 * they do not see any more make room. Deleted ones have left the list.
 * @returns whether it was not saved before
 * @throws 400 `ERR_SAVED_MESSAGES_LIMIT_EXCEEDED`
 */
export async function saveMessage(
  { database, settings, events }: Context,
  app: App,
  viewer: Viewer,
  id: number,
): Promise<boolean> {
  const { uid } = viewer
  const { maxSavedMessages } = await settings.of(app.appId)
  const { conversation } = await requireMessage(database, app, id, viewer)
  return database.transaction(async (tx) => {
    // One save of a user at a time, so that two cannot both be the last, and none of one who was erased meanwhile.
    await lockUser(tx, app.appId, uid)
    // And none of a message that is being removed.
    await lockConversation(tx, app.appId, conversation)
    const message = (await readMessages(tx, app.appId, [id])).get(id)
    if (message === undefined || isHeld(message)) throw unknownMessage(id)
    requireMarkable(message)
    const saves = (await tx.query<{ id: number }>(selectSaves, [app.appId, uid])).map((save) => save.id)
    if (saves.includes(id)) return false
    const isFull = hasReached(maxSavedMessages, saves.length)
    if (isFull && (await releaseHidden(tx, app.appId, viewer, saves)) < saves.length - maxSavedMessages + 1) {
      throw tooManySavedMessages(maxSavedMessages)
    }
    await tx.query(insertSave, [app.appId, uid, id, Math.floor(Date.now() / 1000)])
    await tx.query(setTrait, [app.appId, id, traits.saved])
    await events.note(tx, app.appId, { note: 'message_saved', place: placeOf(message), messageId: id, uid })
    return true
  })
}

/** Takes what a user does not see off their list. @returns how many places that made */
async function releaseHidden(
  tx: Transaction,
  appId: number,
  viewer: Viewer,
  saves: readonly number[],
): Promise<number> {
  const messages = [...(await readMessages(tx, appId, saves)).values()]
  const visible = await readVisible(tx, appId, viewer, messages)
  const hidden = saves.filter((id) => !visible.has(id))
  return (await tx.query(removeSaves, [appId, viewer.uid, hidden])).length
}

/**
 * Takes a message off a user's list, if it is there; also one that they do not see any more.
 * @returns whether it was
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND` for one that is not there, and that they do not see
 */
export async function unsaveMessage(
  { database, events }: Context,
  app: App,
  viewer: Viewer,
  id: number,
): Promise<boolean> {
  const isRemoved = await database.transaction(async (tx) => {
    const removed = await tx.query(removeSaves, [app.appId, viewer.uid, [id]])
    const message = removed.length > 0 ? (await readMessages(tx, app.appId, [id])).get(id) : undefined
    if (message !== undefined) {
      const place = placeOf(message)
      await events.note(tx, app.appId, { note: 'message_unsaved', place, messageId: id, uid: viewer.uid })
    }
    return removed.length > 0
  })
  if (!isRemoved) await requireMessage(database, app, id, viewer)
  return isRemoved
}
