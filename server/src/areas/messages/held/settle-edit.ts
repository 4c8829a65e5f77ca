import type { App } from '../../../chat/identity.ts'
import type { Editor } from '../../../chat/messages/change.ts'
import { mediaKeysOf, releaseUses } from '../../../chat/messages/file-uses.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { isHeld } from '../../../chat/messages/traits.ts'
import { flagByRules } from '../../../chat/moderation/queue.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import type { Content } from '../content.ts'
import { inTurn, publishInTurn } from '../in-turn.ts'
import { requireMayEdit } from '../may-edit.ts'
import { mentionedIn } from '../mentions/text.ts'
import { storeEdit } from '../store-edit.ts'
import { type Deciding, decided, deleted, forbidden, isLate, late, type Refused, underLock } from './holding.ts'
import { logDecision } from './log.ts'
import { dropWaiting } from './waiting.ts'

export interface SettledEdit {
  readonly settled: 'approved' | 'disapproved'
}

/**
 * Decides about an edit that waits: approved, it is stored and published as any edit, if the rules of writing still allow it;
 * disapproved, the old text stays for good.
 */
export async function settleEdit(
  context: Context,
  app: App,
  id: number,
  to: 'approved' | 'disapproved',
  deciding: Deciding,
): Promise<SettledEdit | Refused> {
  const { appId } = app
  const done = await inTurn(context, appId, (turn) =>
    underLock(context, app, id, async (tx, message, row) => {
      const now = Math.floor(Date.now() / 1000)
      if (isLate(deciding, row, 'edit')) {
        await logDecision(tx, appId, id, deciding, 'late', now)
        return late(id)
      }
      if (message.deletedAt !== null) return deleted(id)
      if (!row?.waiting || isHeld(message)) return decided(id, 'has no edit that waits')
      const { data, tags, editor, flaggedBy = [] } = row.waiting
      const by = { editor: editor ?? undefined, policy: undefined, device: undefined }
      const { category, type } = message
      const content = { category, type, data, json: JSON.stringify(data), mentioned: mentionedIn(data) }
      const refused = to === 'disapproved' ? undefined : await refusalOf(context, tx, app, by.editor, message, content)
      const isStored = to === 'approved' && refused === undefined
      await dropWaiting(tx, appId, id, now)
      if (isStored) {
        const change = await storeEdit(context, tx, app, by, message, content, tags, true)
        await publishInTurn(tx, app, change, by.editor, turn)
        await flagByRules(tx, appId, id, flaggedBy, true, now)
      } else {
        await releaseUses(tx, appId, [id], mediaKeysOf(app, message.data))
      }
      // After the edit, which takes what was said of the text before out of the log.
      await logDecision(tx, appId, id, deciding, isStored ? 'approved' : 'refused', now)
      await deciding.within?.(tx, isStored ? 'approved' : 'refused')
      // An edit that is dropped is decided about, too: its sender is notified.
      return refused === undefined ? { settled: to } : { dropped: refused }
    }),
  )
  return 'dropped' in done ? done.dropped : done
}

/** Why an edit may not be made any more; undefined where it may. */
async function refusalOf(
  context: Context,
  tx: Transaction,
  app: App,
  editor: Editor,
  message: StoredMessage,
  content: Content,
): Promise<Refused | undefined> {
  try {
    await requireMayEdit(context, tx, app, editor, message, content)
    return undefined
  } catch (error) {
    return forbidden(error)
  }
}
