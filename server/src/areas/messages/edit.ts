import { isDeepStrictEqual } from 'node:util'
import type { BodyOf, Message, updateMessage } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import { writeMessageAction } from '../../chat/messages/actions.ts'
import {
  type ActingEditor,
  changeSeen,
  type Editor,
  publishAction,
  refuseActions,
  requireMessagePermission,
  requireVisible,
} from '../../chat/messages/change.ts'
import { mediaKeysOf, recordUses, releaseUses } from '../../chat/messages/file-uses.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { contentTraits, traitsOf } from '../../chat/messages/traits.ts'
import { placeOf } from '../../chat/place.ts'
import { identifyViewer } from '../../chat/sight/sight.ts'
import { readUsers } from '../../chat/users/rows.ts'
import { messageTraits, sendKeyOf } from '../../chat/writing/deeds.ts'
import { isJudged, passJudges } from '../../chat/writing/judges.ts'
import { requireMayWriteTo } from '../../chat/writing/may-write.ts'
import { changedTooOften } from '../../chat/writing/refusals.ts'
import type { Context } from '../../context.ts'
import type { MessageChanged } from '../../events/types.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { type Content, checkEdit } from './content.ts'
import { alreadyDeleted, notTheSender } from './errors.ts'
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

const maxAttempts = 5

/**
 * Edits a message: members of `data` that are sent replace those of the message, `tags` its tags. `sentAt` stays. What it
 * says afterwards is judged before anything is locked; where another edit came between, it is judged again. Where nobody
 * judges, edits wait for each other and none is refused for the others.
 * @returns the action message that tells of the edit
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`: only its sender edits a message (and the app); and as sending does, whose rules
 *   hold for what the message says afterwards
 */
export async function editMessage(
  context: Context,
  app: App,
  by: ActingEditor,
  id: number,
  { data, tags }: BodyOf<typeof updateMessage>,
): Promise<Message> {
  const isToBeJudged = await isJudged(context.judges, app)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const seen = await requireVisible(context, app, by.editor, id)
    requireEditable(seen, by.editor)
    const content = await passJudges(
      context.judges,
      app,
      checkEdit(seen, data),
      () => ({ ...seen, app, tags: tags ?? seen.tags, edits: id }),
      () => requireRight(context, context.database, app, by.editor, seen, checkEdit(seen, data)),
    )
    const event = await changeSeen(context.database, app, seen, async (tx, message) => {
      requireEditable(message, by.editor)
      const isAsSeen = isDeepStrictEqual(message.data, seen.data)
      if (!isAsSeen && isToBeJudged) return undefined
      const edited = isAsSeen ? content : checkEdit(message, data)
      await requireRight(context, tx, app, by.editor, message, edited)
      return store(context, tx, app, by, message, edited, tags)
    })
    if (event !== undefined) return publishAction(context, app, event, by.editor)
  }
  throw changedTooOften()
}

function requireEditable(message: StoredMessage, editor: Editor): void {
  refuseActions(message)
  if (editor !== undefined && message.sender !== editor) {
    throw notTheSender(message.id, editor, 'edit')
  }
  if (message.deletedAt !== null) {
    throw alreadyDeleted(message.id)
  }
}

/** May they edit it, and could they send what it says then? The app may. */
async function requireRight(
  context: Context,
  on: Queryable,
  app: App,
  editor: Editor,
  message: StoredMessage,
  content: Content,
): Promise<void> {
  if (editor === undefined) return
  // As it is now: judges may have taken their time.
  const { policy } = await identifyViewer(on, context.policies, app.appId, editor)
  await requireMessagePermission(on, app, editor, policy, message, 'edit')
  const deed = { key: sendKeyOf(message.parentId), says: messageTraits(content) }
  await requireMayWriteTo(context, on, app.appId, editor, message, deed)
}

/** Writes an edit, under the lock, with all that hangs on what a message says. */
async function store(
  context: Context,
  tx: Transaction,
  app: App,
  { editor, device }: ActingEditor,
  message: StoredMessage,
  content: Content,
  tags: readonly string[] | undefined,
): Promise<MessageChanged> {
  const { id, conversation } = message
  const now = Math.floor(Date.now() / 1000)
  await tx.query(update, [
    app.appId,
    id,
    content.json,
    tags ?? null,
    contentTraits,
    traitsOf(content),
    now,
    editor ?? systemUid,
    content.mentioned.length > 0 ? content.mentioned : null,
  ])
  await replaceEntry(tx, { appId: app.appId, id, conversation, data: content.data })
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
}
