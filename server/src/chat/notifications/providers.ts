import type { Channel } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** Somebody who brings notifications to people: a service outside, or the app itself. */
export interface ProviderRow {
  readonly key: number
  readonly channel: Channel
  readonly kind: string
  readonly id: string
  readonly enabled: boolean
  readonly isDefault: boolean
  /** What is no secret. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What is one, as JSON. */
  readonly sealed: Buffer
}

export const providerColumns = `p.key, p.channel, p.kind, p.id, p.enabled, p.is_default as "isDefault", p.settings, p.sealed`

const select = statement(`
  select ${providerColumns}
  from notification_providers p
  where p.app_id = $1
  and p.channel = $2
  and p.kind = $3
  order by p.key`)

/** Those of one kind, oldest first. */
export function readProviders(on: Queryable, appId: number, channel: Channel, kind: string): Promise<ProviderRow[]> {
  return on.query<ProviderRow>(select, [appId, channel, kind])
}

const selectEnabled = statement(`
  select channel
  from notification_providers
  where app_id = $1
  and enabled
  limit 1`)

/** Whether an app notifies anybody at all. */
export async function hasProvider(on: Queryable, appId: number): Promise<boolean> {
  return (await on.query(selectEnabled, [appId])).length > 0
}
