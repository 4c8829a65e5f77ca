import { LRUCache } from 'lru-cache'
import type { App } from '../../chat/identity.ts'
import type { CustomPushTarget } from '../../chat/notifications/credentials.ts'
import type { ProviderRow } from '../../chat/notifications/providers.ts'
import type { VapidKeys } from '../../chat/notifications/subscriptions.ts'
import type { NotificationEndpoints } from '../../config/notifications.ts'
import type { Log } from '../../log.ts'
import type { Secrets } from '../../store/secrets.ts'
import type { Poster } from '../outbound/http.ts'
import type { Some } from '../outbound/keyed-queue.ts'
import { type ApnsTarget, apnsIdOf, createApns } from './apns.ts'
import { createCustomPush } from './custom-push.ts'
import { createFcm, type FcmTarget } from './fcm.ts'
import type { Notification } from './render.ts'
import type { SendAttempt } from './results.ts'
import type { TakeBack } from './take-backs/render.ts'
import type { UnreadNotification } from './unread/notification.ts'
import { createUnreadSenders } from './unread/senders.ts'
import { createWebPush } from './web-push.ts'

/** What a notification is sent to, and under which name. */
export interface Sending {
  /** The same for each attempt at one notification. */
  readonly id: string
  /** The device; absent where the provider finds users by itself. */
  readonly token: string
  readonly platform: string
  /** Epoch milliseconds after which it is of no use. */
  readonly expiresAt: number
  /** Leads endpoints of the app to the request that it comes from, where that is traced: the header `traceparent`. */
  readonly trace?: string
}

/** What is sent: by push, or by e-mail and SMS. */
export type Notice = Push | UnreadNotification

/** What is sent by push: something new, a change of what is shown, or that it goes. */
export type Push = Notification | TakeBack

/** What is sent to one device or user. */
export interface Addressed<Sent extends Notice = Notice> {
  readonly sending: Sending
  readonly notice: Sent
}

/** How one attempt at several notifications went. */
export interface BatchAttempt {
  readonly whole: SendAttempt
  /** In the order given; what is missing at the end has not been sent. */
  readonly attempts: readonly SendAttempt[]
}

/** Sends by one provider. */
export interface Sender<Sent extends Notice = Notice> {
  /** Attempts at a time. */
  readonly width: number
  /** How many outcomes may be unwritten at a time, where recipients cannot recognise a repeat. */
  readonly unwritten?: number
  /** There are several services behind it, and it leaves alone by itself those that fail. */
  readonly hasOwnBreakers?: boolean
  /** Never throws: whatever goes wrong is a failed attempt. */
  send(sending: Sending, notice: Sent): Promise<SendAttempt>
  /** The provider takes several at once. */
  readonly batch?: {
    readonly size: number
    /** Never throws either. */
    send(all: Some<Addressed<Sent>>): Promise<BatchAttempt>
  }
}

/** Makes the sender of each kind of provider. */
export interface Senders {
  of(app: App, provider: ProviderRow): Sender
  close(): Promise<void>
}

export interface SendersOptions {
  readonly log: Pick<Log, 'error'>
  readonly secrets: Secrets
  /** For addresses that apps name. */
  readonly poster: Poster
  readonly endpoints: NotificationEndpoints
}

/** Whoever brings the right key back loses nothing that is still of use. */
const unreadable: Sender = {
  width: 1,
  send: async () => ({
    outcome: 'failed',
    error: 'the credentials of the provider cannot be unsealed: set it up anew, or bring back the master key',
    durationMs: 0,
  }),
}
/** It is tried every few seconds, and said less often. */
const reportEveryMs = 60_000

export function createSenders({ log, secrets, poster, endpoints }: SendersOptions): Senders {
  const reportedAt = new LRUCache<number, number>({ max: 1_000 })
  const reportUnreadable = (app: App, kind: string, key: number, err: unknown) => {
    if (performance.now() - (reportedAt.get(key) ?? Number.NEGATIVE_INFINITY) < reportEveryMs) return
    reportedAt.set(key, performance.now())
    log.error({ err, app: app.name, provider: kind }, 'the credentials of a provider cannot be unsealed')
  }
  const fcm = createFcm(endpoints)
  const apns = createApns(endpoints)
  const webPush = createWebPush(poster, endpoints.webPush)
  const unread = createUnreadSenders(endpoints, poster)
  const kinds: Readonly<Record<string, (app: App, target: unknown) => Sender<Push>>> = {
    custom: (app, target) => createCustomPush(poster, app, target as CustomPushTarget),
    fcm: (_, target) => ({
      width: 32,
      send: (sending, notification) => fcm.send(target as FcmTarget, sending, notification),
    }),
    apns: (_, target) => ({
      width: 100,
      send: (sending, notification) => apns.send(target as ApnsTarget, sending, apnsIdOf(sending.id), notification),
    }),
    web_push: (app, target) => ({
      width: 64,
      hasOwnBreakers: true,
      send: (sending, notification) => webPush.send(app, target as VapidKeys, sending, notification),
    }),
  }
  return {
    of(app, { key, channel, kind, settings, sealed }) {
      let credentials: string
      try {
        credentials = secrets.unseal(sealed)
      } catch (cause) {
        reportUnreadable(app, kind, key, cause)
        return unreadable
      }
      const target = { ...settings, ...(JSON.parse(credentials) as object) }
      const sender = channel === 'push' ? kinds[kind]?.(app, target) : unread.of(app, kind, target)
      if (sender === undefined) throw new Error(`there is no sender for ${channel} by providers of kind ${kind}`)
      return sender
    },
    async close() {
      await Promise.all([unread.close(), fcm.close(), apns.close()])
    },
  }
}

/** The name of a delivery, as providers get it. */
export function sendingId(app: App, id: number): string {
  return `ntf_${app.appId}_${id}`
}
