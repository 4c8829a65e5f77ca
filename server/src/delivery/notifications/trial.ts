import type { UnreadChannel } from '@parley/contract'
import type { Notification } from './render.ts'
import type { UnreadNotification } from './unread/notification.ts'

/** A notification of nothing that happened, by which a provider is tried. */
export function sampleNotification(now: number): Notification {
  return {
    uid: 'sample-receiver',
    title: 'Sample Sender',
    body: 'This is a trial.',
    sender: 'sample-sender',
    senderName: 'Sample Sender',
    receiver: 'sample-receiver',
    receiverName: 'Sample Receiver',
    receiverType: 'user',
    tag: '0',
    conversationId: 'sample-receiver_user_sample-sender',
    sentAt: now,
    unread: 1,
    sound: 'default',
  }
}

/** An e-mail or an SMS about nothing. @param address where it goes to; absent where the provider finds users by itself */
export function sampleUnread(channel: UnreadChannel, address: string | undefined, now: number): UnreadNotification {
  const senderDetails = { uid: 'sample-sender', name: 'Sample Sender' }
  const words = 'This is a trial.'
  return {
    channel,
    to: { uid: 'sample-receiver', name: 'Sample Receiver', ...(address !== undefined && { address }) },
    messages: [{ sender: senderDetails, message: words, sentAt: now }],
    unread: 1,
    senderDetails,
    ...(channel === 'email' ? { subject: 'A trial' } : { smsContent: words }),
  }
}
