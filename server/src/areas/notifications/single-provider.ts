import type { Channel, Trial } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import { type ProviderRow, readProviders } from '../../chat/notifications/providers.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { unknownProvider } from './errors.ts'
import { changeProviders, insertProvider, type ProviderChange, removeProvider, updateProvider } from './providers.ts'

/** A kind of provider of which an app has at most one. */
export interface Slot {
  readonly channel: Channel
  readonly kind: string
  /** The provider in words. */
  readonly what: string
}

export const customSms: Slot = { channel: 'sms', kind: 'custom', what: 'SMS provider of its own' }
export const customEmail: Slot = { channel: 'email', kind: 'custom', what: 'e-mail provider of its own' }

export async function findSingle(
  on: Queryable,
  { appId }: App,
  { channel, kind }: Slot,
): Promise<ProviderRow | undefined> {
  return (await readProviders(on, appId, channel, kind))[0]
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function requireSingle(on: Queryable, app: App, slot: Slot): Promise<ProviderRow> {
  const row = await findSingle(on, app, slot)
  if (row === undefined) throw unknownProvider(slot.what)
  return row
}

type Change = Pick<ProviderChange, 'enabled' | 'settings' | 'secrets'>

/** Sets one up, or changes it. @param next what it is from now on, by what it is now */
export function saveSingle(
  context: Context,
  app: App,
  slot: Slot,
  next: (row: ProviderRow | undefined) => Change,
): Promise<ProviderRow> {
  return changeProviders(context, app.appId, async (tx) => {
    const row = await findSingle(tx, app, slot)
    if (row !== undefined) return updateProvider(context, tx, app.appId, row, next(row))
    return insertProvider(context, tx, app.appId, slot, { id: slot.kind, isDefault: true, ...next(undefined) })
  })
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export function changeSingle(
  context: Context,
  app: App,
  slot: Slot,
  next: (row: ProviderRow) => Change,
): Promise<ProviderRow> {
  return changeProviders(context, app.appId, async (tx) => {
    const row = await requireSingle(tx, app, slot)
    return updateProvider(context, tx, app.appId, row, next(row))
  })
}

/** @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function removeSingle(context: Context, app: App, slot: Slot): Promise<void> {
  await changeProviders(context, app.appId, async (tx) => {
    await removeProvider(context, tx, app.appId, await requireSingle(tx, app, slot))
  })
}

/** Sends something made up now. @param to whom, where the provider needs that. @throws 404 `ERR_PROVIDER_NOT_FOUND` */
export async function trySingle(context: Context, app: App, slot: Slot, to?: string): Promise<Trial> {
  return context.notifications.trial(app, await requireSingle(context.database, app, slot), to)
}
