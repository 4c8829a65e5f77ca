import {
  type ApnsProvider,
  type addApnsProvider,
  type addFcmProvider,
  type BodyOf,
  badRequest,
  type FcmProvider,
  type Trial,
  type updateApnsProvider,
  type updateFcmProvider,
} from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { flawOfP256Key, flawOfRsaKey } from '../../chat/notifications/credentials.ts'
import { type ProviderRow, readProviders } from '../../chat/notifications/providers.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { providerExists, unknownProvider } from './errors.ts'
import { changeProviders, insertProvider, makeDefault, removeProvider, updateProvider } from './providers.ts'
import { given, secretOf, secretsOf, shorten } from './secrets.ts'

/** Push services of which an app can have several providers. */
export type PushService = 'fcm' | 'apns'

const nameOf = { fcm: 'FCM provider', apns: 'APNs provider' } as const

async function require(on: Queryable, app: App, kind: PushService, id: string): Promise<ProviderRow> {
  const row = (await readProviders(on, app.appId, 'push', kind)).find((one) => one.id === id)
  if (row === undefined) throw unknownProvider(`${nameOf[kind]} with the id ${id}`)
  return row
}

/** Adds one; the first is the default. @throws 409 `ERR_PROVIDER_ALREADY_EXISTS` */
function add(
  context: Context,
  app: App,
  kind: PushService,
  id: string,
  settings: object,
  secrets: object,
): Promise<ProviderRow> {
  return changeProviders(context, app.appId, async (tx) => {
    const present = await readProviders(tx, app.appId, 'push', kind)
    if (present.some((one) => one.id === id)) throw providerExists(`${nameOf[kind]} with the id ${id}`)
    const provider = { id, enabled: true, isDefault: present.length === 0, settings, secrets }
    return insertProvider(context, tx, app.appId, { channel: 'push', kind }, provider)
  })
}

/** Removes one with the devices registered for it; the oldest of the others becomes the default where it was. */
export function removePushService(context: Context, app: App, kind: PushService, id: string): Promise<void> {
  return changeProviders(context, app.appId, async (tx) => {
    const row = await require(tx, app, kind, id)
    await removeProvider(context, tx, app.appId, row)
    const [next] = await readProviders(tx, app.appId, 'push', kind)
    if (row.isDefault && next !== undefined) await makeDefault(context, tx, app.appId, next)
  })
}

export function setDefaultPushService(context: Context, app: App, kind: PushService, id: string): Promise<void> {
  return changeProviders(context, app.appId, async (tx) => {
    await makeDefault(context, tx, app.appId, await require(tx, app, kind, id))
  })
}

/** Sends a made-up notification to a device now. */
export async function tryPushService(
  context: Context,
  app: App,
  kind: PushService,
  id: string,
  pushToken: string,
): Promise<Trial> {
  return context.notifications.trial(app, await require(context.database, app, kind, id), pushToken)
}

const silent = { ios: {}, android: {}, web: {} }

export async function listFcm({ database, secrets }: Context, app: App): Promise<FcmProvider[]> {
  const rows = await readProviders(database, app.appId, 'push', 'fcm')
  return rows.map((row) => {
    const { private_key } = secretsOf<{ private_key: string }>(secrets, row)
    const { filename, notificationInPayload, ...account } = row.settings as {
      filename?: string
      notificationInPayload: FcmProvider['notificationInPayload']
      project_id: string
      client_email: string
      private_key_id?: string
    }
    return {
      ...{ providerId: row.id, isDefault: row.isDefault },
      ...(filename !== undefined && { serviceAccountFilename: filename }),
      serviceAccountCreds: { ...account, private_key: shorten(private_key) },
      notificationInPayload,
    }
  })
}

export async function addFcm(context: Context, app: App, body: BodyOf<typeof addFcmProvider>): Promise<void> {
  const { providerId, serviceAccountFilename, serviceAccountCreds, notificationInPayload } = body
  const { private_key, project_id, client_email, private_key_id } = serviceAccountCreds
  refuse('body/serviceAccountCreds/private_key', flawOfRsaKey(private_key))
  const settings = {
    ...{ project_id, client_email, private_key_id, filename: serviceAccountFilename },
    notificationInPayload: { ...silent, ...notificationInPayload },
  }
  await add(context, app, 'fcm', providerId, settings, { private_key })
}

export function changeFcm(context: Context, app: App, body: BodyOf<typeof updateFcmProvider>): Promise<void> {
  return changeProviders(context, app.appId, async (tx) => {
    const row = await require(tx, app, 'fcm', body.providerId)
    const present = row.settings as { notificationInPayload: object }
    const { private_key: sent, project_id, client_email, private_key_id } = body.serviceAccountCreds ?? {}
    const private_key = secretOf(sent, secretsOf<{ private_key: string }>(context.secrets, row).private_key)
    refuse('body/serviceAccountCreds/private_key', flawOfRsaKey(private_key))
    const settings = {
      ...present,
      ...given({ project_id, client_email, private_key_id, filename: body.serviceAccountFilename }),
      notificationInPayload: { ...present.notificationInPayload, ...body.notificationInPayload },
    }
    await updateProvider(context, tx, app.appId, row, { enabled: true, settings, secrets: { private_key } })
  })
}

export async function listApns({ database, secrets }: Context, app: App): Promise<ApnsProvider[]> {
  const rows = await readProviders(database, app.appId, 'push', 'apns')
  return rows.map((row) => ({ ...showApns(secrets, row), isDefault: row.isDefault }))
}

function showApns(secrets: Secrets, row: ProviderRow): ApnsProvider {
  return {
    providerId: row.id,
    ...(row.settings as Omit<ApnsProvider, 'providerId' | 'isDefault' | 'p8Key'>),
    p8Key: shorten(secretsOf<{ p8Key: string }>(secrets, row).p8Key),
  }
}

export async function addApns(context: Context, app: App, body: BodyOf<typeof addApnsProvider>): Promise<ApnsProvider> {
  const { providerId, p8Key, ...members } = body
  refuse('body/p8Key', flawOfP256Key(p8Key))
  const off = { includeContentAvailable: false, includeMutableContent: false, productionMode: false }
  return showApns(context.secrets, await add(context, app, 'apns', providerId, { ...off, ...members }, { p8Key }))
}

export function changeApns(context: Context, app: App, body: BodyOf<typeof updateApnsProvider>): Promise<void> {
  return changeProviders(context, app.appId, async (tx) => {
    const { providerId, p8Key: sent, ...members } = body
    const row = await require(tx, app, 'apns', providerId)
    const p8Key = secretOf(sent, secretsOf<{ p8Key: string }>(context.secrets, row).p8Key)
    refuse('body/p8Key', flawOfP256Key(p8Key))
    const settings = { ...row.settings, ...given(members) }
    await updateProvider(context, tx, app.appId, row, { enabled: true, settings, secrets: { p8Key } })
  })
}

/** @throws 400 naming what is wrong with a key */
function refuse(path: string, flaw: string | undefined): void {
  if (flaw !== undefined) throw badRequest([{ path, message: flaw }])
}
