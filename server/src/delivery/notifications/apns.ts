import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { readPrivateKey } from '../../chat/notifications/credentials.ts'
import type { NotificationEndpoints } from '../../config/notifications.ts'
import { createApnsConnections } from './apns-connections.ts'
import { collapseIdOf } from './collapse-id.ts'
import { detailsOf } from './custom.ts'
import { sendTimeoutMs } from './endpoints.ts'
import { fit } from './fit.ts'
import { signJwt } from './jwt.ts'
import type { SendAttempt } from './results.ts'
import type { Push } from './senders.ts'

/** An APNs provider: a signing key of a team, and the app that it is for. */
export interface ApnsTarget {
  readonly keyId: string
  readonly teamId: string
  readonly bundleId: string
  readonly p8Key: string
  readonly includeContentAvailable: boolean
  readonly includeMutableContent: boolean
  readonly productionMode: boolean
}

export interface ApnsDevice {
  readonly token: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Sends by APNs. */
export interface Apns {
  /** Never throws. @param id the same for each attempt at one notification, so that devices know it again */
  send(target: ApnsTarget, device: ApnsDevice, id: string, notification: Push): Promise<SendAttempt>
  close(): Promise<void>
}

const maxBytes = 4_096
/**
 * Apple wants a token to be renewed no sooner than after 20 minutes and no later than after 60. All processes date theirs alike,
 * also after a restart: by the beginning of the present 40 minutes.
 */
const tokenAgeMs = 40 * 60_000
const presentTokenDate = () => Math.floor(Date.now() / tokenAgeMs) * tokenAgeMs

interface ProviderToken {
  readonly text: string
  readonly date: number
}

export function createApns({ apns, apnsCa }: Pick<NotificationEndpoints, 'apns' | 'apnsCa'>): Apns {
  const connections = createApnsConnections(apnsCa)
  const tokens = new LRUCache<string, ProviderToken>({ max: 1_000 })

  /** One for all pushes with a key. */
  const tokenOf = (target: ApnsTarget): string => {
    const { keyId, teamId, p8Key } = target
    const name = accountOf(target)
    const known = tokens.get(name)
    const date = presentTokenDate()
    if (known?.date === date) return known.text
    const claims = { iss: teamId, iat: date / 1000 }
    const made = { text: signJwt('ES256', readPrivateKey(p8Key), { kid: keyId }, claims), date }
    tokens.set(name, made)
    return made.text
  }
  const attempt = async (
    target: ApnsTarget,
    device: ApnsDevice,
    { id, push, payload }: { readonly id: string; readonly push: Push; readonly payload: string },
    timeoutMs: number,
  ) => {
    const origin = apns ?? `https://api.${target.productionMode ? '' : 'sandbox.'}push.apple.com`
    const request = {
      path: `/3/device/${device.token}`,
      headers: {
        authorization: `bearer ${tokenOf(target)}`,
        'apns-id': id,
        'apns-topic': target.bundleId,
        'apns-push-type': 'alert',
        'apns-priority': push.action === 'read' ? '5' : '10',
        'apns-expiration': String(Math.floor(device.expiresAt / 1000)),
        ...(push.action !== 'read' && { 'apns-collapse-id': collapseIdOf(push.tag) }),
      },
      body: payload,
    }
    return connections.post({ origin, account: accountOf(target) }, request, timeoutMs)
  }

  return {
    async send(target, device, id, notification) {
      const startedAt = performance.now()
      const took = () => ({ durationMs: performance.now() - startedAt })
      const begun = Date.now()
      const payload = fit(notification, maxBytes, (one) => JSON.stringify(payloadFor(target, one)))
      if (payload === undefined) return { outcome: 'refused', error: 'the notification is too large', ...took() }
      try {
        const request = { id, push: notification, payload }
        let answer = await attempt(target, device, request, sendTimeoutMs)
        if (answer.status === 403 && reasonOf(answer.text).reason === 'ExpiredProviderToken') {
          tokens.delete(accountOf(target))
          answer = await attempt(target, device, request, sendTimeoutMs - took().durationMs)
        }
        const { status, text, retryAfter } = answer
        return {
          ...judge(status, text, begun),
          ...{ status, text, ...took() },
          ...(retryAfter !== undefined && { retryAfter }),
        }
      } catch (error) {
        return { outcome: 'failed', error: (error as Error).message.slice(0, 300), ...took() }
      }
    },
    close: () => connections.close(),
  }
}

/** A team and one of its keys. */
function accountOf({ keyId, teamId, p8Key }: ApnsTarget): string {
  return `${teamId} ${keyId} ${p8Key}`
}

/** Beginnings of the UUIDs of apps. */
const starts = new LRUCache<string, string>({ max: 1_000 })
/** Numbers that fit into the last twelve digits of a UUID. */
const numbersWithin = 2 ** 48

/**
 * A UUID out of the name of a delivery: the same for each attempt, and in each process. It ends with the number of the delivery
 * in its app: a digest of each name would cost as much as writing the push.
 */
export function apnsIdOf(delivery: string): string {
  const end = delivery.lastIndexOf('_')
  const number = Number(delivery.slice(end + 1))
  if (!(number >= 0 && number < numbersWithin)) return uuidOf(delivery)
  const name = delivery.slice(0, end)
  let start = starts.get(name)
  if (start === undefined) {
    start = uuidOf(name).slice(0, -12)
    starts.set(name, start)
  }
  return start + number.toString(16).padStart(12, '0')
}

function uuidOf(name: string): string {
  const bytes = createHash('sha1').update(`parley notification ${name}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/**
 * Details stand beside `aps`. What is replaced makes no noise; apps are woken for what is taken back, to remove it. Of what was
 * read elsewhere nothing is shown, but a badge makes it an alert: background pushes have none.
 */
function payloadFor(target: ApnsTarget, notification: Push): object {
  if (notification.action === 'read') {
    return { aps: { badge: notification.unread, 'content-available': 1 }, ...detailsOf(notification) }
  }
  const { title, body, unread, sound, action } = notification
  const wakes = target.includeContentAvailable || action === 'deleted'
  const payload = detailsOf(notification)
  payload.aps = {
    alert: { title, body },
    badge: unread,
    sound,
    ...(wakes && { 'content-available': 1 }),
    ...(target.includeMutableContent && { 'mutable-content': 1 }),
    ...(action !== undefined && { 'interruption-level': 'passive' }),
  }
  return payload
}

function reasonOf(text: string): { readonly reason?: string; readonly timestamp?: unknown } {
  try {
    return JSON.parse(text) as { reason?: string; timestamp?: number }
  } catch {
    return {}
  }
}

/** What an answer of APNs means. A device that registered again after it was gone is not forgotten. */
function judge(
  status: number,
  text: string,
  begun: number,
): Pick<SendAttempt, 'outcome' | 'error' | 'goneSince' | 'isProviderWell'> {
  if (status === 200) return { outcome: 'accepted' }
  const { reason = '', timestamp } = reasonOf(text)
  const error = `APNs answered ${status} ${reason}`
  if (status === 410) {
    const since = typeof timestamp === 'number' && Number.isSafeInteger(timestamp) ? timestamp : begun
    return { outcome: 'refused', error, goneSince: since }
  }
  if (status === 400 && (reason === 'BadDeviceToken' || reason === 'DeviceTokenNotForTopic')) {
    return { outcome: 'refused', error, goneSince: begun }
  }
  // Too many for one device; the other 429 is about the tokens of the provider.
  if (status === 429 && reason === 'TooManyRequests') return { outcome: 'failed', error, isProviderWell: true }
  // A wrong or expired key is about the provider and may be mended.
  const mayPass = status === 403 || status === 429 || status >= 500
  return { outcome: mayPass ? 'failed' : 'refused', error }
}
