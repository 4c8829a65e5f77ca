import type { Message } from '@parley/contract'
import { type JsonText, toJson } from '../../chat/json.ts'
import { between, writeBetween } from '../../chat/messages/entities.ts'
import { readMentions } from '../../chat/messages/mentions.ts'
import { showModeration } from '../../chat/messages/moderation.ts'
import { type RenderOptions, renderMessage, viewOfNew, writeMessage } from '../../chat/messages/render.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { type ShowOptions, showAlone, showMessages } from '../../chat/messages/show.ts'
import { statusOfTraits } from '../../chat/moderation/verdict.ts'
import { readVisible } from '../../chat/sight/sight.ts'
import { requireActiveUser } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import type { Content } from './content.ts'
import type { SendRequest } from './repeat.ts'
import type { NewMessageRow, WrittenRow } from './write/row.ts'

/** A message that was sent, made when it is wanted: for those who listen, and as whoever sent it sees it. */
export interface SentMessage {
  renderForAll(): Message
  render(): Message
  write(): JsonText<Message>
  /** Whether there is a user among those whom its text mentions. */
  mentionsSomebody(): boolean
}

/**
 * A repeated muid is answered with the message that is stored. Whoever does not see it any more, as one who was kicked, gets what
 * they said, and nothing of what others did with it.
 */
export async function showStored(
  context: Pick<Context, 'database' | 'policies'>,
  { app: { appId }, caller }: Pick<SendRequest, 'app' | 'caller'>,
  stored: StoredMessage,
): Promise<SentMessage> {
  const { database } = context
  const message = await show()
  const render = () => message
  const mentionsSomebody = () => message.data.mentions !== undefined
  return { renderForAll: render, render, write: () => toJson(message), mentionsSomebody }

  async function show(): Promise<Message> {
    const options = { viewer: stored.sender, withTags: true }
    if (caller.kind === 'app') return showWhole(options)
    const { role } = await requireActiveUser(database, appId, stored.sender)
    const viewer = { uid: stored.sender, policy: await context.policies.of(appId, role) }
    const isSeen = (await readVisible(database, appId, viewer, [stored])).has(stored.id)
    return isSeen ? showWhole({ ...options, policy: viewer.policy }) : showAlone(database, appId, stored, options)
  }

  async function showWhole(options: ShowOptions): Promise<Message> {
    const [message] = await showMessages(database, appId, [stored], options)
    return message as Message
  }
}

/** What was sent just now as the answer shows it, out of what is in memory. */
export async function showSent(
  context: Context,
  row: NewMessageRow,
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
  { appId, mentioned, traits, moderation }: NewMessageRow,
  id: number,
  quoted: StoredMessage | undefined,
  viewer: string | undefined,
): Promise<RenderOptions> {
  const mentions = mentioned && (await readMentions(database, appId, [{ id, mentioned }], { viewer }))
  const quotedMessage = quoted && (await showAlone(database, appId, quoted, { viewer }))
  const addition = mentions?.get(id)
  const status = statusOfTraits(traits)
  if (status === undefined) return { withTags: true, additions: addition && [addition], quotedMessage }
  const { rule_id: ruleId, rule_name: ruleName } = moderation?.held ?? {}
  const judged = showModeration(status, { ruleId: ruleId ?? null, ruleName: ruleName ?? null })
  return { withTags: true, additions: addition ? [addition, judged] : [judged], quotedMessage }
}
