import type { BusEvent, Signal } from '../../events/types.ts'
import type { AppSockets } from '../registry.ts'
import { signalFrame } from '../show.ts'
import { broadcastMark, broadcastReaction } from './marks.ts'
import { broadcastMessage, broadcastNotice, broadcastStatus } from './messages.ts'
import type { EventParts } from './parts.ts'
import { broadcastGoal, broadcastReceipt } from './receipts.ts'

/** Broadcasts an event to whoever may hear of it. What has no frame is left out. */
export function broadcastEvent(
  parts: EventParts,
  sockets: AppSockets,
  event: Exclude<BusEvent, { control: unknown }>,
): void {
  if ('signal' in event) broadcastSignal(parts, sockets, event)
  else if ('mark' in event) broadcastMark(parts, sockets, event)
  else if ('goalOf' in event) broadcastGoal(parts, sockets, event)
  else if ('statusOf' in event) broadcastStatus(parts, sockets, event)
  else if ('notice' in event) broadcastNotice(parts, sockets, event)
  else {
    switch (event.trigger) {
      case 'message_sent': {
        const { place, message, messageId } = event
        // Receipts of it will ask.
        if (place.kind === 'group' && message !== undefined) {
          parts.authors.set(sockets.app.appId, messageId, message.sender)
        }
        broadcastMessage(parts, sockets, event)
        return
      }
      case 'message_edited':
      case 'message_deleted':
        broadcastMessage(parts, sockets, event)
        return
      case 'message_reaction_added':
      case 'message_reaction_removed':
        broadcastReaction(parts, sockets, event)
        return
      case 'message_delivery_receipt':
      case 'message_read_receipt':
      case 'message_delivered_to_all':
      case 'message_read_by_all':
        broadcastReceipt(parts, sockets, event)
    }
  }
}

/** What a client wrote that is not stored: that somebody is typing, or whatever clients send each other. */
function broadcastSignal({ summaries, dispatch }: EventParts, sockets: AppSockets, event: Signal): void {
  const frame = () => signalFrame(summaries, sockets.app, event)
  dispatch(sockets, {
    place: event,
    actor: event.uid,
    device: event.device,
    blocksKeep: 'everywhere',
    isStored: false,
    isClients: true,
    frame,
  })
}
