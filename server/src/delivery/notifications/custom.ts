import type { Channel } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { WebhookTarget } from '../../chat/notifications/credentials.ts'
import type { EndpointAnswer, Poster } from '../outbound/http.ts'
import { sign } from '../outbound/signature.ts'
import { type Attempting, attempting } from './attempting.ts'
import type { SendAttempt } from './results.ts'
import type { Push, Sending } from './senders.ts'
import { detailsOfUnread, type UnreadNotification } from './unread/notification.ts'

const excerptBytes = 512

/** What is sent, in the words of the contract. */
export interface CustomPayload {
  readonly trigger: `${Channel}-notification-payload-generated`
  readonly data: object
}

export function payloadOfPush(notification: Push): CustomPayload {
  return {
    trigger: 'push-notification-payload-generated',
    data: { to: { uid: notification.uid }, notificationDetails: detailsOf(notification) },
  }
}

export function payloadOfUnread(notification: UnreadNotification): CustomPayload {
  return { trigger: `${notification.channel}-notification-payload-generated`, data: detailsOfUnread(notification) }
}

/** One request for one notification, in the envelope of the contract. Never throws. */
export function sendCustom(
  poster: Poster,
  app: Pick<App, 'name' | 'region'>,
  target: WebhookTarget,
  named: Named,
  payload: CustomPayload,
): Promise<SendAttempt> {
  return attempting('the endpoint', async () => {
    const body = JSON.stringify({ ...payload, ...originOf(app) })
    return judge(await postSigned(poster, target, named, body, excerptBytes))
  })
}

/** What each payload says of where it comes from. */
export function originOf(app: Pick<App, 'name' | 'region'>) {
  return { appId: app.name, region: app.region, webhook: 'custom' }
}

/** The name of a request, the same for each attempt, and what leads to the work that it is part of. */
type Named = Pick<Sending, 'id' | 'trace'>

/** @param maxBytes of the answer that are read */
export function postSigned(
  poster: Poster,
  target: WebhookTarget,
  named: Named,
  body: string,
  maxBytes: number,
): Promise<EndpointAnswer> {
  return poster.post(target.webhookURL, headersOf(target, named, body), body, maxBytes)
}

/** How an attempt went that was answered. */
export function judge({ status, text, retryAfter }: Partial<EndpointAnswer> & { readonly status: number }): Attempting {
  const isAccepted = status >= 200 && status < 300
  return {
    outcome: isAccepted ? 'accepted' : isFinal(status) ? 'refused' : 'failed',
    status,
    ...(text !== undefined && { text }),
    ...(!isAccepted && { error: `the endpoint answered ${status}` }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** What would be answered the same the next time. */
function isFinal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 425 && status !== 429
}

function headersOf(target: WebhookTarget, { id, trace }: Named, body: string): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000)
  const password = `${target.basicAuthUsername}:${target.basicAuthPassword}`
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign([target.signing], id, timestamp, body),
    ...(trace !== undefined && { traceparent: trace }),
    ...(target.useBasicAuth && { authorization: `Basic ${Buffer.from(password).toString('base64')}` }),
  }
}

/** A notification with the names of the contract. Only what is absent for most is no text. */
export function detailsOf(push: Push): Record<string, unknown> {
  if (push.action === 'read') {
    const { uid: _, unread, sentAt, ...rest } = push
    return { ...rest, type: 'chat', sentAt: String(sentAt), unreadMessageCount: String(unread) }
  }
  // One literal: to copy all but some costs several times as much, and there are thousands a second.
  const details: Record<string, unknown> = {
    title: push.title,
    body: push.body,
    sender: push.sender,
    senderName: push.senderName,
    receiver: push.receiver,
    receiverName: push.receiverName,
    receiverType: push.receiverType,
    tag: push.tag,
    conversationId: push.conversationId,
    type: 'chat',
    sentAt: String(push.sentAt),
    unreadMessageCount: String(push.unread),
  }
  if (push.senderAvatar !== undefined) details.senderAvatar = push.senderAvatar
  if (push.receiverAvatar !== undefined) details.receiverAvatar = push.receiverAvatar
  if (push.action !== undefined) details.action = push.action
  if (push.message !== undefined) details.message = push.message
  if (push.custom !== undefined) details.custom = push.custom
  return details
}
