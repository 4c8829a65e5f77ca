import type { BodyOf, MessageKind, sendMessage } from '@parley/contract'
import type { App, Caller } from '../../../chat/identity.ts'
import { messageKindOf, sendKeyOf } from '../../../chat/writing/deeds.ts'
import { requireMayWrite } from '../../../chat/writing/may-write.ts'
import type { Context } from '../../../context.ts'
import type { UploadedFile } from '../../../media/library.ts'
import { type Content, checkContent } from '../content.ts'
import { isRelated, readRelated, unrelated } from '../related.ts'
import { requireRepeated, type SendRequest, senderOf } from '../repeat.ts'
import { requireReceiver, type Target, targetsOf } from '../target.ts'
import { dataOfForm } from './form.ts'

type SendBody = BodyOf<typeof sendMessage>

/**
 * Asks whether a message that comes as a form may be sent, before its files are stored, as far as its fields have come. What
 * comes behind the files is asked when the message is sent, as is all of this, once more.
 * @throws as sending does
 */
export async function judgeFiles(
  context: Context,
  app: App,
  caller: Caller,
  body: SendBody,
  files: readonly UploadedFile[],
): Promise<void> {
  const content = contentSoFar(body, files)
  const says = content && messageKindOf(content)
  let refused: unknown
  for (const target of targetsOf(body)) {
    try {
      await judgeRepeat(context, { app, caller, target, muid: body.muid }, () =>
        judgeTarget(context, app, caller, body, target, says),
      )
      // Of several receivers one is enough: the others answer for themselves.
      return
    } catch (error) {
      refused ??= error
    }
  }
  if (refused !== undefined) throw refused
}

/** What is stored already is answered, so its form is read to its end. */
async function judgeRepeat(context: Context, sending: SendRequest, judge: () => Promise<void>): Promise<void> {
  try {
    await judge()
  } catch (error) {
    await requireRepeated(context, sending, error)
  }
}

/** Asks whether a message with files may be sent to one receiver. @param says absent where it is not known yet */
export async function judgeTarget(
  context: Context,
  app: App,
  caller: Caller,
  related: Pick<SendBody, 'parentId' | 'quotedMessageId'>,
  target: Target,
  says: MessageKind | undefined,
): Promise<void> {
  const { database } = context
  const sender = senderOf(caller)
  const { parent } = isRelated(related) ? await readRelated(context, app, sender, target, related) : unrelated
  if (caller.kind === 'app') return requireReceiver(database, app, target, sender)
  const deed = { key: sendKeyOf(parent?.id), ...(says && { says }) }
  const where = { appId: app.appId, sender, ...target, isNew: true, conversation: 'any' } as const
  return requireMayWrite(context, database, { ...where, deed })
}

/** What the files and fields make, where it is known to be a message of files: that needs nothing else. */
function contentSoFar(body: SendBody, files: readonly UploadedFile[]): Content | undefined {
  if (body.category !== 'message' || body.type === undefined || body.type === 'text') return undefined
  const data = dataOfForm(body, files)
  return checkContent({ category: body.category, type: body.type, ...(data && { data }) })
}
