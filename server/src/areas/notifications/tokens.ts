import {
  type BodyOf,
  badRequest,
  isTimezone,
  limits,
  type PushPlatform,
  type PushSubscription,
  type PushToken,
  type registerPushToken,
} from '@parley/contract'
import type { TokenOwner } from '../../chat/credentials/tokens.ts'
import { type App, actingDevice, type Caller } from '../../chat/identity.ts'
import { readProviders } from '../../chat/notifications/providers.ts'
import {
  jwtDeviceDigest,
  type NewPushToken,
  type PushTokenRow,
  readPushTokens,
  removePushTokens,
  type WhichTokens,
  writePushToken,
} from '../../chat/notifications/push-tokens.ts'
import { lockUser } from '../../chat/users/locks.ts'
import { refuseDeactivated } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import type { Secrets } from '../../store/secrets.ts'
import { authTokenRequired, unknownAuthToken, unknownProvider, unknownPushToken, unknownTimezone } from './errors.ts'
import { writeTimezone } from './preferences.ts'
import { checkSubscription, requireWebPush } from './web-push.ts'

/** A device's login: who it is, by which auth token. */
interface Login {
  readonly uid: string
  readonly authDigest: Buffer
  readonly kind: NewPushToken['loginKind']
}

/** Who asks: a login, by its own auth token or by the one that a key names. */
export interface Asking {
  readonly app: App
  readonly caller: Caller
  readonly named: string | undefined
}

/** The auth token of the request, or the one that a key names. @throws 404 `ERR_AUTH_TOKEN_NOT_FOUND`, 400 without one */
async function loginOf(context: Context, { app, caller, named }: Asking): Promise<Login> {
  const { tokens } = context
  if (caller.kind === 'user' && caller.via === 'token') {
    return loginBy(context, { uid: caller.uid, ...caller.login }, caller.device)
  }
  if (named === undefined) throw authTokenRequired()
  const owner = await tokens.findNamed(app, named)
  if (owner === undefined || owner === 'over') throw unknownAuthToken()
  return loginBy(context, owner, actingDevice(caller))
}

function loginBy({ secrets }: Context, { uid, digest, jwt }: TokenOwner, device: string | undefined): Login {
  if (jwt === undefined) return { uid, authDigest: Buffer.from(digest, 'base64'), kind: 'kept' }
  return { uid, authDigest: jwtDeviceDigest(secrets, uid, device), kind: device === undefined ? 'unnamed' : 'device' }
}

/** What a body says of a device. */
interface Device {
  readonly kind: 'fcm' | 'apns' | 'web_push'
  readonly type: 'chat' | 'voip'
  /** What it is known by. */
  readonly name: string
  /** What its provider needs to reach it. */
  readonly token: string
}

const memberOf = { fcm: 'fcmToken', device: 'deviceToken', voip: 'voipToken' } as const

function formOf(platform: PushPlatform) {
  if (platform.startsWith('fcm_')) return { kind: 'fcm', type: 'chat', member: memberOf.fcm } as const
  if (platform.endsWith('_voip')) return { kind: 'apns', type: 'voip', member: memberOf.voip } as const
  return { kind: 'apns', type: 'chat', member: memberOf.device } as const
}

const missing = (member: string, platform: string) =>
  badRequest([{ path: `body/${member}`, message: `is required with ${platform}` }])

/** @throws 400 naming what is missing or wrong */
async function readDevice(context: Context, body: BodyOf<typeof registerPushToken>): Promise<Device> {
  const { platform, subscription } = body
  if (platform === 'web_push') {
    if (subscription === undefined) throw missing('subscription', platform)
    await checkSubscription(context, subscription)
    const { endpoint, keys } = subscription
    const token = JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } })
    return { kind: 'web_push', type: 'chat', name: endpoint, token }
  }
  const { kind, type, member } = formOf(platform)
  const token = body[member]
  if (token === undefined) throw missing(member, platform)
  // It becomes part of an address.
  if (kind === 'apns' && !/^[A-Za-z0-9]+$/.test(token)) {
    throw badRequest([{ path: `body/${member}`, message: 'must be hexadecimal, as devices give it' }])
  }
  return { kind, type, name: token, token }
}

/** Registers a device. @throws 400 naming what is missing; 404 for an unknown auth token or provider */
export async function registerDevice(
  context: Context,
  app: App,
  caller: Caller,
  body: BodyOf<typeof registerPushToken>,
): Promise<void> {
  const { platform, timezone } = body
  const { kind, type, name, token } = await readDevice(context, body)
  if (timezone !== undefined && !isTimezone(timezone)) throw unknownTimezone()
  const { uid, authDigest, kind: loginKind } = await loginOf(context, { app, caller, named: body.authToken })
  const { database, secrets } = context
  const provider = await requireProvider(context, app, kind, body.providerId)
  await database.transaction(async (tx) => {
    refuseDeactivated(await lockUser(tx, app.appId, uid))
    const digest = secrets.digest(name)
    const written = await writePushToken(
      tx,
      app.appId,
      { uid, loginKind, authDigest, provider, digest, sealed: secrets.seal(token), platform, type, at: Date.now() },
      limits.notifications.pushTokensPerUser,
    )
    if (!written) throw unknownAuthToken()
    if (timezone !== undefined) await tx.query(writeTimezone, [app.appId, uid, timezone])
  })
}

/** @returns its key; without an id, or with `default`, that of the default one */
async function requireProvider(
  context: Context,
  app: App,
  kind: Device['kind'],
  providerId: string | undefined,
): Promise<number> {
  if (kind === 'web_push') await requireWebPush(context, app)
  const rows = await readProviders(context.database, app.appId, 'push', kind)
  const found =
    rows.find(({ id }) => id === providerId) ??
    (providerId === undefined || providerId === 'default' ? rows.find(({ isDefault }) => isDefault) : undefined)
  if (found === undefined) throw unknownProvider(`${kind} provider ${providerId ?? 'by default'}`)
  return found.key
}

/** The devices of a login, or all of its user. */
export async function listDevices(context: Context, asking: Asking, all: boolean): Promise<PushToken[]> {
  const { database, secrets } = context
  const login = await loginOf(context, asking)
  const rows = await readPushTokens(database, asking.app.appId, devicesOf(login, all))
  return showAll(secrets, rows, asking.caller, login)
}

/** @returns those that were unregistered */
export async function unregisterDevices(context: Context, asking: Asking, all: boolean): Promise<PushToken[]> {
  const { database, secrets } = context
  const login = await loginOf(context, asking)
  const rows = await removePushTokens(database, asking.app.appId, devicesOf(login, all))
  return showAll(secrets, rows, asking.caller, login)
}

/** @throws 404 `ERR_TOKEN_NOT_FOUND` where the user has no such device */
export async function unregisterDevice(context: Context, asking: Asking, token: string): Promise<PushToken[]> {
  const { database, secrets } = context
  const login = await loginOf(context, asking)
  const { uid } = login
  const rows = await removePushTokens(database, asking.app.appId, { uid, digest: secrets.digest(token) })
  if (rows.length === 0) throw unknownPushToken(uid)
  return showAll(secrets, rows, asking.caller, login)
}

function devicesOf({ uid, authDigest }: Login, all: boolean): WhichTokens {
  return { uid, ...(!all && { authDigest }) }
}

/**
 * Devices as answers show them. Who calls with an auth token sees no other in them: one that was stolen for a moment, or ends within
 * the hour, must not give those that stay. They see push tokens, by which they unregister a device that is lost.
 */
function showAll(secrets: Secrets, rows: readonly PushTokenRow[], caller: Caller, login: Login): PushToken[] {
  const seesAll = caller.kind === 'app' || caller.via === 'key'
  return rows.map((row) => show(secrets, row, seesAll || login.authDigest.equals(row.authDigest)))
}

function show(secrets: Secrets, row: PushTokenRow, isAuthTokenShown: boolean): PushToken {
  const token = secrets.unseal(row.sealed)
  return {
    ...(isAuthTokenShown && row.authSealed !== null && { authToken: secrets.unseal(row.authSealed) }),
    pushTokenType: row.type,
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
    platform: row.platform,
    providerId: row.providerId,
    pushToken: row.platform === 'web_push' ? endpointOf(token) : token,
    uid: row.uid,
  }
}

/** The keys beside it are nobody's business. */
function endpointOf(subscription: string): string {
  return (JSON.parse(subscription) as PushSubscription).endpoint
}
