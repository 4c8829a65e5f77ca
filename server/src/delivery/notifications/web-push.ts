import type { PushSubscription } from '@parley/contract'
import { LRUCache } from 'lru-cache'
import type { App } from '../../chat/identity.ts'
import { readPrivateKey } from '../../chat/notifications/credentials.ts'
import { flawOfEndpoint, type VapidKeys } from '../../chat/notifications/subscriptions.ts'
import type { WebPushSettings } from '../../config/notifications.ts'
import type { Poster } from '../outbound/http.ts'
import { createServiceBreakers } from '../outbound/service-breakers.ts'
import { detailsOf } from './custom.ts'
import { sendTimeoutMs } from './endpoints.ts'
import { fit } from './fit.ts'
import { signJwt } from './jwt.ts'
import type { SendAttempt } from './results.ts'
import type { Push } from './senders.ts'
import { encryptFor, encryptionBytes } from './web-push-encryption.ts'

/** A browser, as it has subscribed. */
export interface WebPushDevice {
  /** A `PushSubscription`, as JSON. */
  readonly token: string
  /** Epoch milliseconds after which it is of no use. */
  readonly expiresAt: number
}

/** Sends by Web Push: RFC 8030, encrypted (RFC 8291), signed with the keys of the app (RFC 8292). */
export interface WebPush {
  /** Never throws. */
  send(app: App, keys: VapidKeys, device: WebPushDevice, notification: Push): Promise<SendAttempt>
}

/** What every push service takes as one encrypted body. */
const maxBytes = 4_096
const excerptBytes = 512
/** Push services take tokens that end within a day. */
const tokenLifeMs = 12 * 3_600_000
const tokenMarginMs = 3_600_000

export function createWebPush(poster: Poster, { hosts, subject }: WebPushSettings): WebPush {
  const services = createServiceBreakers()
  const tokens = new LRUCache<string, { readonly text: string; readonly endsAt: number }>({ max: 1_000 })

  /** One for all pushes of an app to a push service, until it is about to end or the clock has gone back. */
  const tokenOf = ({ publicKey, privateKey }: VapidKeys, origin: string): string => {
    const name = `${publicKey} ${origin}`
    const known = tokens.get(name)
    const left = known === undefined ? 0 : known.endsAt - Date.now()
    if (known !== undefined && left > tokenMarginMs && left <= tokenLifeMs) return known.text
    const endsAt = Date.now() + tokenLifeMs
    const claims = { aud: origin, exp: Math.floor(endsAt / 1000), sub: subject }
    const text = signJwt('ES256', readPrivateKey(privateKey), {}, claims)
    tokens.set(name, { text, endsAt })
    return text
  }
  const post = async (keys: VapidKeys, to: PushSubscription, expiresAt: number, payload: string, urgency: string) => {
    const headers = {
      authorization: `vapid t=${tokenOf(keys, new URL(to.endpoint).origin)}, k=${keys.publicKey}`,
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      ttl: String(Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))),
      urgency,
    }
    return poster.post(to.endpoint, headers, encryptFor(to.keys, Buffer.from(payload)), excerptBytes, sendTimeoutMs)
  }

  return {
    async send(app, keys, { token, expiresAt }, notification) {
      const startedAt = performance.now()
      const took = () => ({ durationMs: performance.now() - startedAt })
      const begun = Date.now()
      const to = JSON.parse(token) as PushSubscription
      // The setting may have changed since it was registered.
      const flaw = flawOfEndpoint(to.endpoint, hosts)
      if (flaw !== undefined) return { outcome: 'refused', error: `the endpoint ${flaw}`, ...took() }
      const payload = fit(notification, maxBytes - encryptionBytes, (one) => JSON.stringify(detailsOf(one)))
      if (payload === undefined) return { outcome: 'refused', error: 'the notification is too large', ...took() }
      const { host } = new URL(to.endpoint)
      if (notification.action === 'read' && mustShow(host)) {
        return { outcome: 'unfit', error: `${host} ends subscriptions that get what shows nothing`, ...took() }
      }
      const service = services.of(`${app.appId} ${host}`)
      const pause = service.begin()
      if (pause > 0) {
        return { outcome: 'postponed', error: `${host} fails and is left alone`, retryAfter: pause, ...took() }
      }
      try {
        const urgency = notification.action === 'read' ? 'normal' : 'high'
        const { status, text, retryAfter } = await post(keys, to, expiresAt, payload, urgency)
        if (status >= 500 || status === 408) service.failed(retryAfter)
        else service.succeeded()
        return {
          ...judge(status, host, begun),
          ...{ status, text, ...took() },
          ...(retryAfter !== undefined && { retryAfter }),
        }
      } catch (error) {
        service.failed()
        return { outcome: 'failed', error: `${host}: ${(error as Error).message}`, ...took() }
      }
    },
  }
}

/** Safari takes the permission from pages that show nothing when a push comes. */
function mustShow(host: string): boolean {
  return host === 'push.apple.com' || host.endsWith('.push.apple.com')
}

/** What an answer of a push service means. Only what says that the subscription is gone forgets it. */
function judge(status: number, host: string, begun: number): Pick<SendAttempt, 'outcome' | 'error' | 'goneSince'> {
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  const error = `${host} answered ${status}`
  if (status === 404 || status === 410) return { outcome: 'refused', error, goneSince: begun }
  // 429 is about one subscription, which gets its next attempt when the service says.
  const mayPass = status === 408 || status === 429 || status >= 500
  return { outcome: mayPass ? 'failed' : 'refused', error }
}
