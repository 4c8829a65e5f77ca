import { ApiError, type BodyOf, type Message, type updateMessage } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import { writeMessageAction } from '../../chat/messages/actions.ts'
import {
  type ActingEditor,
  changeMessage,
  publishAction,
  refuseActions,
  requireMessagePermission,
} from '../../chat/messages/change.ts'
import { mediaKeysOf, recordUses, releaseUses } from '../../chat/messages/file-uses.ts'
import { contentTraits, traitsOf } from '../../chat/messages/traits.ts'
import { placeOf } from '../../chat/place.ts'
import { readUsers } from '../../chat/users/rows.ts'
import { messageTraits, sendKeyOf } from '../../chat/writing/deeds.ts'
import { requireMayWriteTo } from '../../chat/writing/may-write.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import { checkContent } from './content.ts'
import { replaceEntry } from './search/entries.ts'

const update = statement(`
  update messages
  set data = $3::json,
    tags = coalesce($4::text[], tags),
    mentioned = $9::text[],
    traits = traits & ~$5::int | $6::int,
    edited_at = $7,
    edited_by = $8,
    updated_at = greatest($7, sent_at)
  where app_id = $1
  and id = $2`)

/**
 * Edits a message: members of `data` that are sent replace those of the message, `tags` its tags. `sentAt` stays.
 * @returns the action message that tells of the edit
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`: only its sender edits a message (and the app); and as sending does, whose rules
 *   hold for what the message says afterwards
 */
export async function editMessage(
  context: Context,
  app: App,
  { editor, policy, device }: ActingEditor,
  id: number,
  { data, tags }: BodyOf<typeof updateMessage>,
): Promise<Message> {
  const now = Math.floor(Date.now() / 1000)
  const event = await changeMessage(context, app, editor, id, async (tx, message) => {
    refuseActions(message)
    if (editor !== undefined && message.sender !== editor) {
      throw new ApiError('ERR_MESSAGE_NOT_A_SENDER', `${editor} is not the sender of the message ${id}.`)
    }
    if (editor !== undefined) await requireMessagePermission(tx, app, editor, policy, message, 'edit')
    if (message.deletedAt !== null) {
      throw new ApiError('ERR_MESSAGE_ACTION_NOT_ALLOWED', `The message ${id} was deleted.`)
    }
    const content = checkContent({ ...message, data: { ...message.data, ...data } })
    if (editor !== undefined) {
      const deed = { key: sendKeyOf(message.parentId), says: messageTraits(content) }
      await requireMayWriteTo(context, tx, app.appId, editor, message, deed)
    }
    await tx.query(update, [
      app.appId,
      id,
      JSON.stringify(content.data),
      tags ?? null,
      contentTraits,
      traitsOf(content),
      now,
      editor ?? systemUid,
      content.mentioned.length > 0 ? content.mentioned : null,
    ])
    await replaceEntry(tx, { appId: app.appId, id, conversation: message.conversation, data: content.data })
    const keys = mediaKeysOf(app, content.data)
    await recordUses(tx, app, id, keys)
    await releaseUses(tx, app.appId, [id], keys)
    const actionId = await writeMessageAction(tx, app.appId, 'edited', message, editor ?? message.sender, now)
    const place = placeOf(message)
    const edited = { trigger: 'message_edited', place, messageId: id, actionId, device } as const
    await context.events.record(tx, app.appId, [edited])
    const added = content.mentioned.filter((uid) => message.mentioned?.includes(uid) !== true)
    if ((await readUsers(tx, app.appId, added)).size > 0) {
      await context.events.raise(tx, app.appId, [{ trigger: 'user_mentioned', place, messageId: id }])
    }
    return edited
  })
  return publishAction(context, app, event, editor)
}
