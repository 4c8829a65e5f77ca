import { groupReceiptSubscriptionsOf, publishRisen } from '../../chat/conversations/group-receipts.ts'
import { traits } from '../../chat/messages/traits.ts'
import { partsOf } from '../../chat/naming.ts'
import type { Context } from '../../context.ts'
import type { Events } from '../../events/index.ts'
import type { Place } from '../../events/types.ts'
import type { SentMessage } from './answer.ts'
import { eventBits, type NewMessageRow, type SendSubscriptions, type WrittenRow } from './write/row.ts'

/**
 * Publishes a message once it is ready to be answered, in the order of what is written to its conversation. One that could
 * not be made ready is stored all the same: whoever listens reads it.
 */
export async function publishSent(
  { events, messages }: Context,
  row: NewMessageRow,
  written: WrittenRow,
  makeReady: () => Promise<SentMessage>,
): Promise<SentMessage> {
  const leave = messages.order.enter(`${row.appId} ${written.conversation}`, {
    sentAt: written.sentAt,
    id: written.id as number,
  })
  let message: SentMessage | undefined
  try {
    message = await makeReady()
    return message
  } finally {
    leave(() => publish(events, row, written, message))
  }
}

/** A held message is published to the other devices of its sender, and to nobody else. */
export async function publishToSender(
  { events }: Context,
  row: NewMessageRow,
  written: WrittenRow,
  makeReady: () => Promise<SentMessage>,
): Promise<SentMessage> {
  const { appId, sender, device, traits } = row
  const place = placeOfSent(row, written)
  if ((traits & disapproved) !== 0) {
    events.publish(appId, { trigger: 'moderation_engine_blocked', place, messageId: written.id as number })
  }
  const message = await makeReady()
  if (events.bus.isHeard) events.publish(appId, { notice: message.render(), place, to: sender, device })
  return message
}

const { disapproved } = traits

const known = new WeakMap<ReadonlySet<string>, Partial<Record<'heard' | 'unheard', SendSubscriptions>>>()

/** Which events of what is sent in an app somebody waits for. Every send asks, and the answer is nearly always the same. */
export async function sendSubscriptions(events: Events, appId: number): Promise<SendSubscriptions> {
  const kept = await events.listens(appId)
  const { isHeard } = events.bus
  const subscribed = known.get(kept) ?? {}
  known.set(kept, subscribed)
  const which = isHeard ? 'heard' : 'unheard'
  subscribed[which] ??= readSubscriptions(kept, isHeard)
  return subscribed[which]
}

function readSubscriptions(kept: ReadonlySet<string>, isHeard: boolean): SendSubscriptions {
  const keepsDelivered = kept.has('message_delivery_receipt')
  const keepsRead = kept.has('message_read_receipt')
  const bits =
    (kept.has('message_sent') ? eventBits.sent : 0) |
    (kept.has('user_mentioned') ? eventBits.mentioned : 0) |
    (keepsDelivered ? eventBits.delivered : 0) |
    (keepsRead ? eventBits.read : 0) |
    (isHeard || keepsDelivered || keepsRead ? eventBits.receipts : 0) |
    (kept.has('moderation_engine_approved') ? eventBits.approved : 0) |
    (kept.has('moderation_engine_blocked') ? eventBits.blocked : 0)
  return { bits, ofAll: groupReceiptSubscriptionsOf(kept, isHeard) }
}

/**
 * The log has it from the batch; who listens in this process gets it with the message as it is answered. What its sender
 * received by sending it comes before the message, what everybody has received by now after it.
 */
function publish(events: Events, row: NewMessageRow, written: WrittenRow, message: SentMessage | undefined): void {
  const place = placeOfSent(row, written)
  const messageId = written.id as number
  const { device } = row
  const { received, risen, at } = written
  if (received !== undefined) events.publish(row.appId, { ...received, place, uid: row.sender, at, device })
  const groupRevision = row.kind === 'group' ? { groupRevision: written.receiverRevision } : {}
  const shown = message && events.bus.isHeard && { message: message.renderForAll() }
  events.publish(row.appId, { trigger: 'message_sent', place, messageId, device, ...shown, ...groupRevision })
  // If it could not be rendered, nobody can tell: then it is published all the same.
  if (row.mentioned !== null && message?.mentionsSomebody() !== false) {
    events.publish(row.appId, { trigger: 'user_mentioned', place, messageId })
  }
  if ((row.traits & traits.moderated) !== 0) {
    events.publish(row.appId, { trigger: 'moderation_engine_approved', place, messageId })
  }
  if (risen !== undefined) publishRisen(events, risen, at)
}

function placeOfSent(row: NewMessageRow, { conversation }: WrittenRow): Place {
  const [first, second] = partsOf(row)
  return { conversation: conversation as number, kind: row.kind, first, second }
}
