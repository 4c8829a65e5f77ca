import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { readPrivateKey } from '../../chat/notifications/credentials.ts'
import type { NotificationEndpoints } from '../../config/notifications.ts'
import { collapseIdOf } from './collapse-id.ts'
import { detailsOf } from './custom.ts'
import { sendTimeoutMs } from './endpoints.ts'
import { fit } from './fit.ts'
import { signJwt } from './jwt.ts'
import { createProviderClient } from './provider-client.ts'
import type { Notification } from './render.ts'
import type { SendAttempt } from './results.ts'
import type { Push } from './senders.ts'

/** An FCM provider: a service account of a Firebase project. */
export interface FcmTarget {
  readonly project_id: string
  readonly client_email: string
  readonly private_key: string
  readonly private_key_id?: string
  readonly notificationInPayload: Readonly<Record<'ios' | 'android' | 'web', { readonly chat?: boolean }>>
}

export interface FcmDevice {
  readonly token: string
  /** As registered: `fcm_android`. */
  readonly platform: string
  /** Epoch milliseconds after which it is of no use. */
  readonly expiresAt: number
}

/** Sends by FCM HTTP v1. */
export interface Fcm {
  /** Never throws. */
  send(target: FcmTarget, device: FcmDevice, notification: Push): Promise<SendAttempt>
  close(): Promise<void>
}

const excerptBytes = 512
/** For an access token; what is left of the time is for the push. */
const tokenTimeoutMs = 5_000
/** An access token lasts an hour; one that is about to end is not used any more. */
const tokenMarginMs = 300_000
/** What FCM takes as data of one message. */
const maxDataBytes = 4_000

interface AccessToken {
  readonly token: string
  readonly endsAt: number
}

/** Keys are long: what is looked up for each push is named once for each target. */
const names = new WeakMap<FcmTarget, string>()

function nameOf(target: FcmTarget): string {
  const known = names.get(target)
  if (known !== undefined) return known
  const name = createHash('sha256').update(`${target.client_email} ${target.private_key}`).digest('base64')
  names.set(target, name)
  return name
}

export function createFcm(endpoints: Pick<NotificationEndpoints, 'fcm' | 'fcmToken'>): Fcm {
  const client = createProviderClient(32)
  const known = new LRUCache<string, AccessToken>({ max: 1_000 })
  const fetching = new Map<string, Promise<AccessToken>>()

  const fetchToken = async (target: FcmTarget): Promise<AccessToken> => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      ...{ iss: target.client_email, aud: endpoints.fcmToken, iat: now, exp: now + 3600 },
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
    }
    const header = target.private_key_id === undefined ? {} : { kid: target.private_key_id }
    const assertion = signJwt('RS256', readPrivateKey(target.private_key), header, claims)
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
    const form = new URLSearchParams(grant).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status, text } = await client.post(endpoints.fcmToken, headers, form, tokenTimeoutMs)
    if (status !== 200) throw new Error(`no access token: the token endpoint answered ${status} ${text.slice(0, 200)}`)
    const { access_token: token, expires_in: seconds } = JSON.parse(text) as {
      access_token: string
      expires_in: number
    }
    return { token, endsAt: Date.now() + seconds * 1000 }
  }
  /** One for all pushes of a service account, until it is about to end. */
  const tokenOf = (target: FcmTarget): string | Promise<string> => {
    const key = nameOf(target)
    const cached = known.get(key)
    if (cached !== undefined && cached.endsAt - tokenMarginMs > Date.now()) return cached.token
    const begun = fetching.get(key)
    if (begun !== undefined) return begun.then(({ token }) => token)
    const fresh = fetchToken(target)
    fetching.set(key, fresh)
    return fresh
      .then((made) => {
        known.set(key, made)
        return made.token
      })
      .finally(() => fetching.delete(key))
  }

  return {
    async send(target, device, notification) {
      const startedAt = performance.now()
      const took = () => ({ durationMs: performance.now() - startedAt })
      const begun = Date.now()
      const body = fit(notification, maxDataBytes, (one) =>
        JSON.stringify({ message: messageFor(target, device, one) }),
      )
      if (body === undefined) return { outcome: 'refused', error: 'the notification is too large', ...took() }
      try {
        const url = `${endpoints.fcm}/v1/projects/${encodeURIComponent(target.project_id)}/messages:send`
        const token = tokenOf(target)
        const authorization = `Bearer ${typeof token === 'string' ? token : await token}`
        const headers = { 'content-type': 'application/json', authorization }
        const { status, text, retryAfter } = await client.post(url, headers, body, sendTimeoutMs - took().durationMs)
        const judged = judge(status, text, begun)
        if (status === 401 && judged.isProviderWell !== true) known.delete(nameOf(target))
        return {
          ...judged,
          ...{ status, text: text.slice(0, excerptBytes), ...took() },
          ...(retryAfter !== undefined && { retryAfter }),
        }
      } catch (error) {
        return { outcome: 'failed', error: describe(error as Error), ...took() }
      }
    },
    close: () => client.close(),
  }
}

function describe({ name, message }: Error): string {
  return name === 'TimeoutError' ? 'FCM did not answer in time' : message.slice(0, 300)
}

/** What an answer of FCM means. Only what says that the device is gone forgets it. */
function judge(
  status: number,
  text: string,
  begun: number,
): Pick<SendAttempt, 'outcome' | 'error' | 'goneSince' | 'isProviderWell'> {
  if (status === 200) return { outcome: 'accepted' }
  const { code, message, isOfProject } = errorOf(text)
  const error = `FCM answered ${status} ${code}`
  const isGone =
    (status === 404 && code === 'UNREGISTERED') ||
    (code === 'INVALID_ARGUMENT' && message.includes('not a valid FCM registration token'))
  if (isGone) return { outcome: 'refused', error, goneSince: begun }
  // A device takes 240 messages a minute. What the whole project may send is another quota.
  if (status === 429 && code === 'QUOTA_EXCEEDED' && !isOfProject)
    return { outcome: 'failed', error, isProviderWell: true }
  // The APNs key or the Web Push credentials of the project: our token is good, and so is the way to other kinds of devices.
  if (status === 401 && code === 'THIRD_PARTY_AUTH_ERROR') return { outcome: 'failed', error, isProviderWell: true }
  // A token of another project is one device. All other 403 and 404 are about the project: its API, the role of its account, its name.
  const refusesProject = (status === 403 && code !== 'SENDER_ID_MISMATCH') || status === 404
  const mayPass = refusesProject || status === 401 || status === 408 || status === 429 || status >= 500
  return { outcome: mayPass ? 'failed' : 'refused', error }
}

interface GoogleError {
  readonly error?: {
    readonly status?: string
    readonly message?: string
    readonly details?: ReadonlyArray<{
      readonly errorCode?: string
      /** Of a `google.rpc.QuotaFailure`. */
      readonly violations?: ReadonlyArray<{ readonly subject?: string }>
    }>
  }
}

function errorOf(text: string): { code: string; message: string; isOfProject: boolean } {
  try {
    const { error } = JSON.parse(text) as GoogleError
    const details = error?.details ?? []
    const code = details.find(({ errorCode }) => errorCode !== undefined)?.errorCode ?? error?.status ?? ''
    const violations = details.flatMap((detail) => detail.violations ?? [])
    const isOfProject = violations.some(({ subject }) => subject?.startsWith('project') === true)
    return { code, message: error?.message ?? '', isOfProject }
  } catch {
    return { code: '', message: '', isOfProject: false }
  }
}

/**
 * All data are strings. There is no collapse key: FCM allows bursts of 20 with one; the tag replaces what is shown. Only the app shows
 * what has no `notification`: that of Android does at once, that of an iPhone when it is woken in the background, which iOS does a few
 * times an hour. So iPhones show by themselves where nothing else is chosen.
 */
function messageFor(target: FcmTarget, { token, platform, expiresAt }: FcmDevice, notification: Push): object {
  const os = /_android$/.test(platform) ? 'android' : /_ios$/.test(platform) ? 'ios' : 'web'
  const seconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))
  if (notification.action === 'read') return quietMessage(token, os, { seconds, expiresAt }, notification)
  const { title, body, tag, sound, action } = notification
  const isQuiet = action !== undefined
  const showsItself = target.notificationInPayload[os]?.chat ?? os === 'ios'
  return {
    token,
    data: asStrings(detailsOf(notification)),
    ...(showsItself && { notification: { title, body } }),
    ...(os === 'android' && {
      android: {
        priority: isQuiet ? 'NORMAL' : 'HIGH',
        ttl: `${seconds}s`,
        ...(showsItself && { notification: { tag, sound } }),
      },
    }),
    ...(os === 'ios' && {
      apns: showsItself ? shownByIos(notification, expiresAt) : wakingIos(notification, expiresAt),
    }),
    ...(os === 'web' && {
      webpush: {
        headers: { TTL: String(seconds), Urgency: isQuiet ? 'normal' : 'high' },
        ...(showsItself && { notification: { tag } }),
      },
    }),
  }
}

function shownByIos({ tag, unread, sound, action }: Notification, expiresAt: number): object {
  return {
    headers: { ...headersOf(tag, expiresAt), 'apns-priority': '10' },
    payload: {
      aps: {
        ...{ badge: unread, sound, 'mutable-content': 1 },
        ...(action === 'deleted' && { 'content-available': 1 }),
        ...(action !== undefined && { 'interruption-level': 'passive' }),
      },
    },
  }
}

/** For Apple nothing but `content-available` makes a push that wakes the app; FCM refuses one without an alert whose priority is 10. */
function wakingIos({ tag }: Notification, expiresAt: number): object {
  return {
    headers: { ...headersOf(tag, expiresAt), 'apns-priority': '5', 'apns-push-type': 'background' },
    payload: { aps: { 'content-available': 1 } },
  }
}

function headersOf(tag: string, expiresAt: number) {
  return { 'apns-collapse-id': collapseIdOf(tag), 'apns-expiration': String(Math.floor(expiresAt / 1000)) }
}

/** Wakes the app, which removes what it shows; the system shows nothing, but for the badge of iOS. */
function quietMessage(
  token: string,
  os: 'android' | 'ios' | 'web',
  { seconds, expiresAt }: { readonly seconds: number; readonly expiresAt: number },
  push: Push,
): object {
  const headers = { 'apns-expiration': String(Math.floor(expiresAt / 1000)), 'apns-priority': '5' }
  return {
    token,
    data: asStrings(detailsOf(push)),
    ...(os === 'android' && { android: { priority: 'NORMAL', ttl: `${seconds}s` } }),
    ...(os === 'ios' && { apns: { headers, payload: { aps: { badge: push.unread, 'content-available': 1 } } } }),
    ...(os === 'web' && { webpush: { headers: { TTL: String(seconds), Urgency: 'normal' } } }),
  }
}

/** Of details that nobody else has. */
function asStrings(details: Record<string, unknown>): Record<string, unknown> {
  for (const name in details) if (typeof details[name] !== 'string') details[name] = JSON.stringify(details[name])
  return details
}
