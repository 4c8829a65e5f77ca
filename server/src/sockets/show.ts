import type { Message } from '@parley/contract'
import { systemUid } from '../chat/apps.ts'
import type { App } from '../chat/identity.ts'
import { readMessages } from '../chat/messages/rows.ts'
import { showMessages } from '../chat/messages/show.ts'
import { conversationId } from '../chat/naming.ts'
import type {
  GoalReached,
  Marked,
  MessageChanged,
  MessageSent,
  Place,
  Reacted,
  Receipt,
  ReceiptOfAll,
  Signal,
  StatusChanged,
} from '../events/types.ts'
import type { Queryable } from '../store/database.ts'
import { messageForAll, othersMessage } from './presence/hidden.ts'
import type { UserSummaries } from './user-summaries.ts'

/** What every frame about a conversation begins with, as seen by the user who did it. */
export function envelope(
  app: App,
  type: string,
  { kind, first, second }: Omit<Place, 'conversation'>,
  sender: string,
  device?: string,
) {
  return {
    appId: app.name,
    type,
    sender,
    receiver: kind === 'group' ? first : sender === first ? second : first,
    receiverType: kind,
    ...(device !== undefined && { deviceId: device }),
  }
}

/** A message, or the action message of an edit, a deletion, a group event. */
export function messageFrame(app: App, event: Pick<MessageSent, 'place' | 'device'>, message: Message): object {
  return {
    ...envelope(app, 'message', event.place, message.sender, event.device),
    receiver: message.receiver,
    body: messageForAll(message),
  }
}

/** A message of which moderation has decided something, as its sender sees it; undefined when it is gone. */
export async function statusFrame(on: Queryable, app: App, { statusOf, place }: StatusChanged) {
  const row = (await readMessages(on, app.appId, [statusOf])).get(statusOf)
  if (row === undefined) return undefined
  const [message] = await showMessages(on, app.appId, [row], { viewer: row.sender, withTags: true })
  return message && { ...envelope(app, 'on_moderation_status_changed', place, row.sender), body: message }
}

/** The frame of a message for somebody from whom the message that it quotes is hidden. */
export function withoutQuote(frame: object): object {
  const { body } = frame as { body: Message | Marked['body'] }
  if (!('message' in body)) return { ...frame, body: { ...body, quotedMessage: undefined } }
  return { ...frame, body: { ...body, message: { ...body.message, quotedMessage: undefined } } }
}

/** The message that an event is about, where it did not come along; undefined when it is gone. */
export async function readMessageOf(
  on: Queryable,
  app: App,
  event: MessageSent | MessageChanged,
): Promise<Message | undefined> {
  const id = event.trigger === 'message_sent' ? event.messageId : event.actionId
  const row = (await readMessages(on, app.appId, [id])).get(id)
  return row && (await showMessages(on, app.appId, [row], { withTags: true }))[0]
}

const actionOf = {
  message_delivery_receipt: 'delivered',
  message_read_receipt: 'read',
  message_delivered_to_all: 'deliveredToAll',
  message_read_by_all: 'readByAll',
} as const

/** @param author whose message it is; what all have got or read is sent by the system user */
export async function receiptsFrame(
  summaries: UserSummaries,
  app: App,
  event: Receipt | ReceiptOfAll,
  author: string | undefined,
): Promise<object> {
  const { uid, device } = 'uid' in event ? event : { uid: systemUid }
  return {
    ...envelope(app, 'receipts', event.place, uid, device),
    ...(author !== undefined && { messageSender: author }),
    body: {
      action: actionOf[event.trigger],
      messageId: String(event.messageId),
      user: await summaries.of(app.appId, uid),
      timestamp: event.at,
    },
  }
}

export async function reactionFrame(summaries: UserSummaries, app: App, event: Reacted): Promise<object> {
  const head = envelope(app, 'reaction', event.place, event.uid, event.device)
  return {
    ...head,
    body: {
      action: event.trigger,
      id: String(event.reactionId),
      messageId: String(event.messageId),
      reaction: event.reaction,
      uid: event.uid,
      reactedAt: event.reactedAt,
      reactedBy: await summaries.of(app.appId, event.uid),
      conversationId: conversationId(event.place.kind, event.place.first, event.place.second),
      receiver: head.receiver,
      receiverType: head.receiverType,
      ...(event.parentId !== undefined && { parentId: String(event.parentId) }),
    },
  }
}

export async function goalFrame(summaries: UserSummaries, app: App, event: GoalReached): Promise<object> {
  const { goalOf, place, messageSender, uid, device, interactions } = event
  return {
    ...envelope(app, 'interaction_completed', place, uid, device),
    messageSender,
    body: { messageId: String(goalOf), user: await summaries.of(app.appId, uid), interactions },
  }
}

export function markFrame(app: App, { mark, place, uid, device, body }: Marked): object {
  const { message, ...rest } = body
  const shown = message === undefined ? body : { ...rest, message: othersMessage(message) }
  return { ...envelope(app, mark, place, uid, device), body: shown }
}

export async function signalFrame(summaries: UserSummaries, app: App, signal: Signal): Promise<object> {
  const user = await summaries.of(app.appId, signal.uid)
  const { action, ...rest } = signal.body
  return {
    ...envelope(app, signal.signal, signal, signal.uid, signal.device),
    body: { ...(action !== undefined && { action }), user, ...rest },
  }
}
