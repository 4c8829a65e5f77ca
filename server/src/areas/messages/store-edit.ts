import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import { type ActingEditor, changedAt, type RecordedChange, recordChange } from '../../chat/messages/change.ts'
import { mediaKeysOf, recordUses, releaseUses } from '../../chat/messages/file-uses.ts'
import { forgetAnswersAbout } from '../../chat/messages/forget-answers.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { contentTraits, isHeld, traits, traitsOf } from '../../chat/messages/traits.ts'
import { forgetEngineAnswers, forgetJudgedText, wasJudged } from '../../chat/moderation/forget.ts'
import { placeOf } from '../../chat/place.ts'
import { readUsers } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Content } from './content.ts'
import { dropWaiting } from './held/waiting.ts'
import { replaceEntry } from './search/entries.ts'
import { followEditedReply } from './threads/follow.ts'

const update = statement(`
  update messages
  set data = $3::json,
    tags = coalesce($4::text[], tags),
    mentioned = $9::text[],
    traits = traits & ~$5::int | $6::int,
    edited_at = $7,
    edited_by = $8,
    updated_at = ${changedAt('$7')}
  where app_id = $1
  and id = $2`)

/**
 * Writes an edit, under the lock, with all that hangs on what a message says. It takes the place of one that waits.
 * @param isJudged whether rules of moderation were asked about the new text
 */
export async function storeEdit(
  context: Context,
  tx: Transaction,
  app: App,
  by: ActingEditor,
  message: StoredMessage,
  content: Content,
  tags: readonly string[] | undefined,
  isJudged: boolean,
): Promise<RecordedChange> {
  const { id, conversation } = message
  const now = Math.floor(Date.now() / 1000)
  await tx.query(update, [
    app.appId,
    id,
    content.json,
    tags ?? null,
    contentTraits,
    traitsOf(content) | (isJudged ? traits.moderated : 0),
    now,
    by.editor ?? systemUid,
    content.mentioned.length > 0 ? content.mentioned : null,
  ])
  await forgetAnswersAbout(tx, app.appId, message)
  if (!isHeld(message)) await replaceEntry(tx, { appId: app.appId, id, conversation, data: content.data })
  const keys = mediaKeysOf(app, content.data)
  await recordUses(tx, app, id, keys)
  await releaseUses(tx, app.appId, [id], keys)
  if (wasJudged(message)) {
    await tx.run(forgetEngineAnswers(app.appId, sql`array[${id}::bigint]`))
    await forgetJudgedText(tx, app.appId, id)
    if (!isHeld(message)) await dropWaiting(tx, app.appId, id, now)
  }
  const edited = await recordChange(context, tx, app, 'edited', message, by, now)
  if (isHeld(message)) return edited
  const added = content.mentioned.filter((uid) => message.mentioned?.includes(uid) !== true)
  await followEditedReply(tx, app.appId, message, added, now)
  if ((await readUsers(tx, app.appId, added)).size > 0) {
    await context.events.raise(tx, app.appId, [{ trigger: 'user_mentioned', place: placeOf(message), messageId: id }])
  }
  return edited
}
