import type { Message } from '@parley/contract'
import { type JsonText, toJson } from '../../chat/json.ts'
import { between, writeBetween } from '../../chat/messages/entities.ts'
import { readMentions } from '../../chat/messages/mentions.ts'
import { showModeration } from '../../chat/messages/moderation.ts'
import { type RenderOptions, renderMessage, viewOfNew, writeMessage } from '../../chat/messages/render.ts'
import { readByMuid, type StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages, showQuoted } from '../../chat/messages/show.ts'
import { statusOfTraits } from '../../chat/moderation/verdict.ts'
import { changedTooOften } from '../../chat/writing/refusals.ts'
import type { Context } from '../../context.ts'
import type { Content } from './content.ts'
import type { MessageRow, WrittenRow } from './write/row.ts'

/** A message that was sent, made when it is wanted: for those who listen, and as whoever sent it sees it. */
export interface SentMessage {
  renderForAll(): Message
  render(): Message
  write(): JsonText<Message>
  /** Whether there is a user among those whom its text mentions. */
  mentionsSomebody(): boolean
}

/** A repeated muid is answered with the message that is stored. */
export async function showStored(context: Context, row: MessageRow): Promise<SentMessage> {
  const stored = await readByMuid(context.database, row.appId, { ...row, muid: row.muid ?? '' })
  if (stored === undefined) throw changedTooOften()
  const [message] = await showMessages(context.database, row.appId, [stored], { viewer: row.sender, withTags: true })
  const render = () => message as Message
  const mentionsSomebody = () => message?.data.mentions !== undefined
  return { renderForAll: render, render, write: () => toJson(message as Message), mentionsSomebody }
}

/** What was sent just now as the answer shows it, out of what is in memory. */
export async function showSent(
  context: Context,
  row: MessageRow,
  written: WrittenRow,
  content: Content,
  quoted: StoredMessage | undefined,
): Promise<SentMessage> {
  const { entities } = context.messages
  const id = written.id as number
  // What is in memory nearly always is not waited for.
  const from = entities.user(row.appId, row.sender, { revision: written.senderRevision })
  const sender = from instanceof Promise ? await from : from
  const to =
    row.kind === 'user'
      ? entities.user(row.appId, row.receiver, { revision: written.receiverRevision })
      : entities.group(row.appId, row.receiver, written.receiverRevision)
  const receiver = to instanceof Promise ? await to : to
  // Who listens sees who is there; whoever is blocked by one of those does not, and most messages name nobody else.
  const namesOthers = row.mentioned !== null || quoted !== undefined
  const isPlain = !namesOthers && statusOfTraits(row.traits) === undefined
  const toSender = isPlain ? plain : await readAround(context, row, id, quoted, row.sender)
  const toAll =
    namesOthers && context.events.bus.isHeard ? await readAround(context, row, id, quoted, undefined) : toSender
  const render = (options: RenderOptions) => {
    const view = viewOfNew(row, content.data, id, written.sentAt)
    return renderMessage(view, between(row, sender.entity, receiver.entity), options)
  }
  return {
    renderForAll: () => render(toAll),
    render: () => render(toSender),
    write() {
      const view = viewOfNew(row, content.json as JsonText, id, written.sentAt)
      return writeMessage(view, writeBetween(row, sender.text, receiver.text), toSender)
    },
    mentionsSomebody: () => toSender.additions?.some(({ data }) => data?.mentions !== undefined) === true,
  }
}

const plain: RenderOptions = { withTags: true }

/** What stands in a message beside what was sent. @param viewer whose blockers look offline in it */
async function readAround(
  { database }: Context,
  { appId, mentioned, traits, moderation }: MessageRow,
  id: number,
  quoted: StoredMessage | undefined,
  viewer: string | undefined,
): Promise<RenderOptions> {
  const mentions = mentioned && (await readMentions(database, appId, [{ id, mentioned }], { viewer }))
  const quotedMessage = quoted && (await showQuoted(database, appId, quoted, viewer))
  const addition = mentions?.get(id)
  const status = statusOfTraits(traits)
  if (status === undefined) return { withTags: true, additions: addition && [addition], quotedMessage }
  const { rule_id: ruleId, rule_name: ruleName } = moderation?.held ?? {}
  const judged = showModeration(status, { ruleId: ruleId ?? null, ruleName: ruleName ?? null })
  return { withTags: true, additions: addition ? [addition, judged] : [judged], quotedMessage }
}
