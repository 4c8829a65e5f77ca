import type { Message } from '@parley/contract'
import type { StoredEvent } from '../chat/events/stored.ts'
import { conversationId } from '../chat/naming.ts'
import type { GoneMessage, ResolvedReferences } from './references.ts'

type Of<Trigger extends StoredEvent['trigger']> = Extract<StoredEvent, { trigger: Trigger }>
type Decided = 'moderation_engine_approved' | 'moderation_engine_blocked' | 'moderation_manual_approved'

/** The message that was decided about as it is now, with the status that the event is about, whatever it is by now. */
export function judgedMessage(
  { trigger, messageId }: Of<Decided>,
  resolved: ResolvedReferences,
): Message | GoneMessage {
  const message = resolved.judged(messageId)
  if (message === undefined) return resolved.gone(messageId)
  const { rule, ...rest } = (message.data.moderation ?? {}) as { readonly rule?: object }
  const isBlocked = trigger === 'moderation_engine_blocked'
  const moderation = {
    ...rest,
    status: isBlocked ? 'disapproved' : 'approved',
    ...(isBlocked && rule !== undefined && { rule }),
  }
  return { ...message, data: { ...message.data, moderation } }
}

/** What a reviewer approved and why it had been blocked, or what failed while a message was judged. */
export function moderation(
  event: Of<'moderation_manual_approved' | 'moderation_engine_failed'>,
  resolved: ResolvedReferences,
): object {
  if (event.trigger === 'moderation_manual_approved') {
    return { message: judgedMessage(event, resolved), moderation: event.hits, reviewed: true }
  }
  const { contentType, outcome, completedAt, failures } = event
  return { resource: resource(event, resolved), contentType, outcome, completedAt, failures }
}

function resource(
  { messageId, kind, first, second }: Of<'moderation_engine_failed'>,
  resolved: ResolvedReferences,
): object {
  const message = resolved.judged(messageId)
  if (message === undefined) {
    return { ...resolved.gone(messageId), conversationId: conversationId(kind, first, second), receiverType: kind }
  }
  const { id, conversationId: conversation, sender, receiverType, receiver, category, type, sentAt } = message
  return { id, conversationId: conversation, sender, receiverType, receiver, category, type, sentAt }
}
