import type { Message } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { between } from '../../chat/messages/entities.ts'
import { mediaKeysOf, recordUses } from '../../chat/messages/file-uses.ts'
import { readMentions } from '../../chat/messages/mentions.ts'
import { renderMessage, viewOfNew } from '../../chat/messages/render.ts'
import { readByMuid, type StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages, showQuoted } from '../../chat/messages/show.ts'
import { changedTooOften } from '../../chat/writing/refusals.ts'
import type { Context } from '../../context.ts'
import type { Content } from './content.ts'
import type { MessageRow, WrittenRow } from './write/row.ts'

/** A file whose message is told or answered stays: it is noted before; a retry finds it missing and notes it again. */
export function keepFiles({ database }: Context, app: App, message: Message): Message | Promise<Message> {
  const keys = mediaKeysOf(app, message.data)
  return keys.length === 0 ? message : recordUses(database, app, Number(message.id), keys).then(() => message)
}

/** A repeated muid is answered with the message that is stored. */
export async function showStored(context: Context, row: MessageRow): Promise<Message> {
  const stored = await readByMuid(context.database, row.appId, { ...row, muid: row.muid ?? '' })
  if (stored === undefined) throw changedTooOften()
  const [message] = await showMessages(context.database, row.appId, [stored], { viewer: row.sender, withTags: true })
  return message as Message
}

/** What was sent just now as the answer shows it, out of what is in memory. */
export async function showSent(
  context: Context,
  row: MessageRow,
  written: WrittenRow,
  content: Content,
  quoted: StoredMessage | undefined,
): Promise<Message> {
  const { entities } = context.messages
  const id = written.id as number
  const sender = await entities.user(row.appId, row.sender, written.senderRevision)
  const receiver =
    row.kind === 1
      ? await entities.user(row.appId, row.receiver, written.receiverRevision)
      : await entities.group(row.appId, row.receiver, written.receiverRevision)
  const { mentioned } = row
  const mentions = mentioned && (await readMentions(context.database, row.appId, [{ id, mentioned }], {}))
  const quotedMessage = quoted && (await showQuoted(context.database, row.appId, quoted))
  const addition = mentions?.get(id)
  const { sender: from, kind, receiver: to, category, type, muid, parentId, quotedId, tags } = row
  const draft = { sender: from, kind, receiver: to, category, type, data: content.data, muid, parentId, quotedId, tags }
  return renderMessage(viewOfNew(draft, id, written.sentAt), between(row, sender, receiver), {
    withTags: true,
    additions: addition && [addition],
    quotedMessage,
  })
}
