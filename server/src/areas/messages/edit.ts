import { isDeepStrictEqual } from 'node:util'
import type { BodyOf, Message, updateMessage } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { type ActingEditor, changeSeen, requireVisible } from '../../chat/messages/change.ts'
import type { HeldFor } from '../../chat/messages/read.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { isJudged, passJudges } from '../../chat/writing/judges.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { checkEdit } from './content.ts'
import { editedMeanwhile } from './errors.ts'
import { editByOutcome } from './held/judged-edit.ts'
import { inTurn, publishInTurn, type Turn } from './in-turn.ts'
import { requireEditable, requireMayEdit } from './may-edit.ts'

const maxAttempts = 5

/**
 * Edits a message: members of `data` that are sent replace those of the message, `tags` its tags. `sentAt` stays. What it
 * says afterwards is judged before anything is locked; where another edit came between, it is judged again. Where nobody
 * judges, edits wait for each other and none is refused for the others.
 * @param heldFor who edits it while moderation holds it
 * @returns the action message of the edit
 * @throws 403 `ERR_MESSAGE_NOT_A_SENDER`: only its sender edits a message (and the app); `ERR_MESSAGE_ACTION_NOT_ALLOWED` where
 *   a rule of moderation stops the new text; and as sending does, whose rules hold for what the message says afterwards
 */
export async function editMessage(
  context: Context,
  app: App,
  by: ActingEditor,
  id: number,
  { data, tags }: BodyOf<typeof updateMessage>,
  heldFor: HeldFor = 'sender',
): Promise<Message> {
  const isToBeJudged = await isJudged(context.judges, app)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const seen = await requireVisible(context, app, by.editor, id, heldFor)
    requireEditable(seen, by.editor)
    const { content, outcome } = await passJudges(
      context.judges,
      app,
      checkEdit(seen, data),
      (left) => ({ ...seen, app, byApp: by.editor === undefined, tags: tags ?? seen.tags, edits: id, content: left }),
      () => requireMayEdit(context, context.database, app, by.editor, seen, checkEdit(seen, data)),
    )
    const change = async (tx: Transaction, message: StoredMessage, turn: Turn) => {
      requireEditable(message, by.editor)
      const isAsSeen = isDeepStrictEqual(message.data, seen.data)
      if (!isAsSeen && isToBeJudged) return undefined
      const edited = isAsSeen ? content : checkEdit(message, data)
      await requireMayEdit(context, tx, app, by.editor, message, edited)
      const done = await editByOutcome(context, tx, app, message, { by, content: edited, tags, outcome }, turn)
      if (done.is !== 'stored') return done
      const answer = await publishInTurn(tx, app, done.change, by.editor, turn)
      return { is: 'stored', answer } as const
    }
    const done = await inTurn(context, app.appId, (turn) =>
      changeSeen(context.database, app, by.editor, seen, (tx, message) => change(tx, message, turn), heldFor),
    )
    if (done?.is === 'refused') throw done.error
    if (done !== undefined) return done.answer
  }
  throw editedMeanwhile()
}
