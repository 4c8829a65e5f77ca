import type { StoredEvent } from '../chat/events/stored.ts'
import { judgedMessage, moderation } from './moderation.ts'
import { otherOf, senderOf } from './payloads.ts'
import type { ResolvedReferences } from './references.ts'
import type { ShownEvent } from './show.ts'

/** An event in the older envelope, where it exists in that. */
export function showLegacy(event: StoredEvent, resolved: ResolvedReferences): ShownEvent | undefined {
  switch (event.trigger) {
    case 'message_sent':
      return {
        trigger: 'after_message',
        data: resolved.message(event.messageId) ?? resolved.gone(event.messageId),
      }
    case 'message_delivery_receipt':
    case 'message_read_receipt':
      return {
        trigger: event.trigger,
        data: receipt(event, resolved),
        platform: event.viaSocket === true ? 'WEBSOCKET' : 'API',
      }
    case 'user_connection_status_changed':
      return { trigger: 'after_connection_status_changed', data: connection(event), platform: 'WEBSOCKET' }
    case 'moderation_engine_approved':
    case 'moderation_engine_blocked':
      return { trigger: event.trigger, data: judgedMessage(event, resolved) }
    case 'moderation_manual_approved':
    case 'moderation_engine_failed':
      return { trigger: event.trigger, data: moderation(event, resolved) }
    default:
      return undefined
  }
}

function receipt(
  event: Extract<StoredEvent, { trigger: 'message_delivery_receipt' | 'message_read_receipt' }>,
  resolved: ResolvedReferences,
): object {
  const { trigger, messageId, uid, kind, first, at } = event
  const messageSender = senderOf(event, resolved)
  const isRead = trigger === 'message_read_receipt'
  return {
    messageId: String(messageId),
    receiptType: isRead ? 'read' : 'delivered',
    ...(isRead ? { readAt: at } : { deliveredAt: at }),
    ...(messageSender !== undefined && { messageSender }),
    receiptSender: uid,
    receiptReceiver: kind === 'group' ? first : otherOf(event, uid),
    receiverType: kind,
  }
}

function connection({
  uid,
  status,
  timestamp,
  connection: { action, deviceId, sessionId, platform, connectedAt },
}: Extract<StoredEvent, { trigger: 'user_connection_status_changed' }>): object {
  const session = {
    connected_at: connectedAt,
    cometchat_device_id: deviceId,
    session_id: sessionId ?? deviceId,
    ...(platform !== undefined && { platform }),
  }
  return {
    user: { uid, status, status_updated: true, status_updated_at: timestamp },
    event: { type: action, at: timestamp, event_for: session },
    connections: status === 'online' ? [session] : [],
  }
}
