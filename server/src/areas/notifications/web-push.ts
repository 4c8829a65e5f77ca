import { badRequest, type PushSubscription, type Trial, type WebPushProvider } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { ProviderRow } from '../../chat/notifications/providers.ts'
import { areKeys, flawOfEndpoint, makeVapidKeys } from '../../chat/notifications/subscriptions.ts'
import type { Context } from '../../context.ts'
import { unknownProvider } from './errors.ts'
import { changeProviders, insertProvider } from './providers.ts'
import { findSingle, type Slot, saveSingle } from './single-provider.ts'

export const webPush: Slot = { channel: 'push', kind: 'web_push', what: 'keys of Web Push' }

/** Keys of an app that has none yet. */
function newKeys() {
  const { publicKey, privateKey } = makeVapidKeys()
  return { settings: { publicKey }, secrets: { privateKey } }
}

/** Web Push of an app, with keys made now where there are none. @throws 404 `ERR_PROVIDER_NOT_FOUND` where it is off */
export async function requireWebPush(context: Context, app: App): Promise<ProviderRow> {
  const row = (await findSingle(context.database, app, webPush)) ?? (await make(context, app))
  if (!row.enabled) throw unknownProvider('Web Push: it is turned off')
  return row
}

function make(context: Context, app: App): Promise<ProviderRow> {
  return changeProviders(context, app.appId, async (tx) => {
    const made = await findSingle(tx, app, webPush)
    if (made !== undefined) return made
    const provider = { id: webPush.kind, enabled: true, isDefault: true, ...newKeys() }
    return insertProvider(context, tx, app.appId, webPush, provider)
  })
}

export function showWebPush({ id, enabled, settings }: ProviderRow): WebPushProvider {
  return { providerId: id, isEnabled: enabled, publicKey: settings.publicKey as string }
}

/** Undefined as long as nobody has asked for its keys. */
export async function getWebPush({ database }: Context, app: App): Promise<WebPushProvider | undefined> {
  const row = await findSingle(database, app, webPush)
  return row && showWebPush(row)
}

/** Turns it on or off; its keys stay the same. */
export async function changeWebPush(context: Context, app: App, enabled: boolean): Promise<WebPushProvider> {
  const saved = await saveSingle(context, app, webPush, (row) => {
    if (row === undefined) return { enabled, ...newKeys() }
    return { enabled, settings: row.settings, secrets: JSON.parse(context.secrets.unseal(row.sealed)) }
  })
  return showWebPush(saved)
}

/** Sends a made-up notification to a subscription now. @throws 404 `ERR_PROVIDER_NOT_FOUND`, 400 naming what is wrong */
export async function tryWebPush(context: Context, app: App, subscription: PushSubscription): Promise<Trial> {
  await checkSubscription(context, subscription)
  return context.notifications.trial(app, await requireWebPush(context, app), JSON.stringify(subscription))
}

/** @throws 400 for an endpoint that leads nowhere good, and for keys that are none */
export async function checkSubscription({ config, outbound }: Context, subscription: PushSubscription): Promise<void> {
  const { endpoint, keys } = subscription
  const path = 'body/subscription'
  const flaw =
    flawOfEndpoint(endpoint, config.notifications.webPush.hosts) ?? (await outbound.refusalOf(new URL(endpoint)))
  if (flaw !== undefined) throw badRequest([{ path: `${path}/endpoint`, message: flaw }])
  if (!areKeys(keys)) throw badRequest([{ path: `${path}/keys`, message: 'must be keys as browsers give them' }])
}
