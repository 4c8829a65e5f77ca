import { hasReached } from '@parley/contract'
import { systemUid } from '../../../chat/apps.ts'
import type { App } from '../../../chat/identity.ts'
import { changeMessage, type Editor } from '../../../chat/messages/change.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { traits } from '../../../chat/messages/traits.ts'
import { placeOf } from '../../../chat/place.ts'
import type { Deed } from '../../../chat/writing/deeds.ts'
import { requireMayWriteTo } from '../../../chat/writing/may-write.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { actionNotMarkable, alreadyDeleted, tooManyPinnedMessages } from '../errors.ts'

/** How many pins a conversation has, and whether one message is among them. */
const selectPins = statement(`
  select count(*) as count, coalesce(bool_or(message_id = $3), false) as "isPinned"
  from pinned_messages
  where app_id = $1
  and conversation = $2`)

const insertPin = statement(`
  insert into pinned_messages (app_id, conversation, message_id, pinned_by, pinned_at)
  values ($1, $2, $3, $4, $5)`)

const removePin = statement(`
  delete from pinned_messages
  where app_id = $1
  and conversation = $2
  and message_id = $3
  returning message_id`)

const setTrait = statement(`
  update messages
  set traits = traits | $3::int
  where app_id = $1
  and id = $2`)

const clearTrait = statement(`
  update messages
  set traits = traits & ~$3::int
  where app_id = $1
  and id = $2`)

/** A pin is shown to everyone in the conversation, so it takes the permission to write there; it has none of its own. */
const pinning: Deed = { key: 'sendMessage' }

/**
 * Pins a message in its conversation, under the conversation's lock, so that two pins cannot both be the last.
 * Pinned already, the first pin stays.
 * @returns whether it was not pinned before
 * @throws 400 `ERR_PINNED_MESSAGES_LIMIT_EXCEEDED`; 403 if they may not write there
 */
export async function pinMessage(context: Context, app: App, editor: Editor, id: number): Promise<boolean> {
  return changeMessage(context, app, editor, id, async (tx, message) => {
    if (editor !== undefined) await requireMayWriteTo(context, tx, app.appId, editor, message, pinning)
    requireMarkable(message)
    const values = [app.appId, message.conversation, id]
    const [pins] = await tx.query<{ count: number; isPinned: boolean }>(selectPins, values)
    if (pins?.isPinned === true) return false
    const { maxPinnedMessages } = await context.settings.of(app.appId)
    if (hasReached(maxPinnedMessages, pins?.count ?? 0)) throw tooManyPinnedMessages(maxPinnedMessages)
    const now = Math.floor(Date.now() / 1000)
    await tx.query(insertPin, [app.appId, message.conversation, id, editor ?? systemUid, now])
    await tx.query(setTrait, [app.appId, id, traits.pinned])
    await note(context, tx, app, message, editor, 'message_pinned')
    return true
  })
}

/**
 * Unpins a message, whoever pinned it; one that is not pinned stays as it is. In a one-to-one conversation that is possible
 * while a block stands, as taking a reaction back is.
 * @returns whether it was pinned
 */
export async function unpinMessage(context: Context, app: App, editor: Editor, id: number): Promise<boolean> {
  return changeMessage(context, app, editor, id, async (tx, message) => {
    if (editor !== undefined && message.kind === 'group') {
      await requireMayWriteTo(context, tx, app.appId, editor, message, pinning)
    }
    const removed = await tx.query(removePin, [app.appId, message.conversation, id])
    await tx.query(clearTrait, [app.appId, id, traits.pinned])
    if (removed.length > 0) await note(context, tx, app, message, editor, 'message_unpinned')
    return removed.length > 0
  })
}

/** For those who were not connected. */
function note(
  { events }: Context,
  tx: Transaction,
  app: App,
  message: StoredMessage,
  editor: Editor,
  kind: 'message_pinned' | 'message_unpinned',
): Promise<void> {
  const about = { place: placeOf(message), messageId: message.id, uid: editor ?? systemUid }
  return events.note(tx, app.appId, { note: kind, ...about })
}

/** @throws 403 `ERR_MESSAGE_ACTION_NOT_ALLOWED` for actions and deleted messages, which take no pin, save or reaction */
export function requireMarkable({ id, category, deletedAt }: StoredMessage): void {
  if (category === 'action') throw actionNotMarkable(id)
  if (deletedAt !== null) throw alreadyDeleted(id)
}
