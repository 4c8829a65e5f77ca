import type { Channel, Trial } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { type ProviderRow, readProviders } from '../../chat/notifications/providers.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { unknownProvider } from './errors.ts'
import { changeProviders, insertProvider, type ProviderChange, removeProvider, updateProvider } from './providers.ts'

/** A kind of provider of which an app has at most one. */
export interface Place {
  readonly channel: Channel
  readonly kind: string
  /** The provider in words. */
  readonly what: string
}

export const customSms: Place = { channel: 'sms', kind: 'custom', what: 'SMS provider of its own' }
export const customEmail: Place = { channel: 'email', kind: 'custom', what: 'e-mail provider of its own' }

export async function findSingle(
  on: Queryable,
  { appId }: App,
  { channel, kind }: Place,
): Promise<ProviderRow | undefined> {
  return (await readProviders(on, appId, channel, kind))[0]
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function requireSingle(on: Queryable, app: App, place: Place): Promise<ProviderRow> {
  const row = await findSingle(on, app, place)
  if (row === undefined) throw unknownProvider(place.what)
  return row
}

type Change = Pick<ProviderChange, 'enabled' | 'settings' | 'secrets'>

/** Sets one up, or changes it. @param next what it is from now on, by what it is now */
export function saveSingle(
  context: Context,
  app: App,
  place: Place,
  next: (row: ProviderRow | undefined) => Change,
): Promise<ProviderRow> {
  return changeProviders(context, app.appId, async (tx) => {
    const row = await findSingle(tx, app, place)
    if (row !== undefined) return updateProvider(context, tx, app.appId, row, next(row))
    return insertProvider(context, tx, app.appId, place, { id: place.kind, isDefault: true, ...next(undefined) })
  })
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export function changeSingle(
  context: Context,
  app: App,
  place: Place,
  next: (row: ProviderRow) => Change,
): Promise<ProviderRow> {
  return changeProviders(context, app.appId, async (tx) => {
    const row = await requireSingle(tx, app, place)
    return updateProvider(context, tx, app.appId, row, next(row))
  })
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function removeSingle(context: Context, app: App, place: Place): Promise<void> {
  await changeProviders(context, app.appId, async (tx) => {
    await removeProvider(context, tx, app.appId, await requireSingle(tx, app, place))
  })
}

/** Sends something made up now. @param to whom, where the provider needs that. @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function trySingle(context: Context, app: App, place: Place, to?: string): Promise<Trial> {
  return context.notifications.trial(app, await requireSingle(context.database, app, place), to)
}
