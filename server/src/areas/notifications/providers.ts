import type { AuditAction, Channel } from '@parley/contract'
import { lockApp } from '../../chat/apps.ts'
import { changesOf, digestOfValue } from '../../chat/audit/changes.ts'
import { hasProvider, type ProviderRow, readProviders } from '../../chat/notifications/providers.ts'
import type { Context } from '../../context.ts'
import { listenersTopic } from '../../events/listening.ts'
import { nowMs } from '../../store/clock.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const insert = statement(`
  insert into notification_providers (app_id, channel, kind, id, enabled, is_default, settings, sealed, created_at,
    updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
  returning key`)

const insertSender = statement(`
  insert into notification_senders (app_id, provider)
  values ($1, $2)`)

const update = statement(`
  update notification_providers
  set enabled = $3,
    settings = $4,
    sealed = $5,
    updated_at = $6
  where app_id = $1
  and key = $2`)

/** It may have been mended, and is tried at once. */
const forgetFailures = statement(`
  update notification_senders
  set failures = 0,
    failing_since = null,
    paused_until = 0
  where app_id = $1
  and provider = $2`)

const remove = statement(`
  with removed as (
    delete from notification_providers
    where app_id = $1
    and key = $2
    returning app_id, key
  ),
  forgotten as (
    delete from push_tokens t
    using removed r
    where t.app_id = r.app_id
    and t.provider = r.key
  )
  update notification_senders s
  set paused_until = ${nowMs}
  from removed r
  where s.app_id = r.app_id
  and s.provider = r.key`)

/** What happened while nobody was to be notified of anything stays untold. */
const begin = statement(`
  insert into notification_plans (app_id, event, uid)
  select $1, last_value - case when is_called then 0 else 1 end, ''
  from event_ids
  on conflict (app_id) do update
  set event = excluded.event,
    uid = ''`)

/** A provider as it is to be from now on. */
export interface ProviderChange {
  readonly id: string
  readonly enabled: boolean
  readonly isDefault: boolean
  readonly settings: object
  readonly secrets: object
}

/** Changes the providers of an app, one change at a time; every process hears of it, this one at once after the commit. */
export function changeProviders<Result>(
  { database, invalidation, events }: Context,
  appId: number,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const hadOne = await hasProvider(tx, appId)
    const result = await work(tx)
    if (!hadOne && (await hasProvider(tx, appId))) await tx.query(begin, [appId])
    await invalidation.announce(tx, listenersTopic, String(appId))
    tx.afterCommit(() => events.forget(appId))
    return result
  })
}

/** Whoever brings notifications reads what they say: who that is, is recorded. */
function record(
  { audit, secrets }: Pick<Context, 'audit' | 'secrets'>,
  tx: Transaction,
  appId: number,
  action: Extract<AuditAction, `provider_${string}`>,
  { id, channel, kind }: Pick<ProviderRow, 'id' | 'channel' | 'kind'>,
  before: Recorded | undefined,
  after: Recorded | undefined,
): Promise<void> {
  const changes = changesOf(before && recorded(secrets, before), after && recorded(secrets, after))
  return audit.record(tx, appId, { action, type: 'provider', target: id, details: { channel, kind, ...changes } })
}

type Recorded = Pick<ProviderRow, 'enabled' | 'isDefault'> & {
  readonly settings: object
  /** As JSON; of them it is only said whether they have changed. */
  readonly secrets: string
}

/** What the audit log has of a provider: of its settings, which can be addresses with secrets in them, digests. */
function recorded(keys: Context['secrets'], { enabled, isDefault, settings, secrets }: Recorded) {
  const digests = Object.entries(settings).map(([name, value]) => [name, digestOfValue(keys, value)] as const)
  return { enabled, isDefault, ...Object.fromEntries(digests), secrets: digestOfValue(keys, secrets) }
}

/** A provider as it was. */
const rowOf = ({ secrets }: Pick<Context, 'secrets'>, row: ProviderRow): Recorded => ({
  ...row,
  secrets: secrets.unseal(row.sealed),
})

export async function insertProvider(
  context: Pick<Context, 'secrets' | 'audit'>,
  tx: Transaction,
  appId: number,
  { channel, kind }: { readonly channel: Channel; readonly kind: string },
  provider: ProviderChange,
): Promise<ProviderRow> {
  const sealed = context.secrets.seal(JSON.stringify(provider.secrets))
  const settings = JSON.stringify(provider.settings)
  const { id, enabled, isDefault } = provider
  const values = [appId, channel, kind, id, enabled, isDefault, settings, sealed, Date.now()]
  const [made] = await tx.query<{ key: number }>(insert, values)
  await tx.query(insertSender, [appId, made?.key])
  const after = { ...provider, secrets: JSON.stringify(provider.secrets) }
  await record(context, tx, appId, 'provider_created', { id, channel, kind }, undefined, after)
  return found(await readProviders(tx, appId, channel, kind), id)
}

export async function updateProvider(
  context: Pick<Context, 'secrets' | 'audit'>,
  tx: Transaction,
  appId: number,
  row: ProviderRow,
  change: Omit<ProviderChange, 'id' | 'isDefault'>,
): Promise<ProviderRow> {
  const { key, channel, kind, id } = row
  const secrets = JSON.stringify(change.secrets)
  const sealed = context.secrets.seal(secrets)
  await tx.query(update, [appId, key, change.enabled, JSON.stringify(change.settings), sealed, Date.now()])
  await tx.query(forgetFailures, [appId, key])
  const after = { ...change, isDefault: row.isDefault, secrets }
  await record(context, tx, appId, 'provider_updated', row, rowOf(context, row), after)
  return found(await readProviders(tx, appId, channel, kind), id)
}

/**
 * Removes a provider with the devices that it knows. What waits for it is sent by another one or ended soon; the row of who sent by it
 * is left for that, and says since when (`delivery/notifications/left-behind.ts`).
 */
export async function removeProvider(
  context: Pick<Context, 'secrets' | 'audit'>,
  tx: Transaction,
  appId: number,
  row: ProviderRow,
): Promise<void> {
  await tx.query(remove, [appId, row.key])
  await record(context, tx, appId, 'provider_deleted', row, rowOf(context, row), undefined)
}

const setDefault = statement(`
  update notification_providers
  set is_default = key = $4
  where app_id = $1
  and channel = $2
  and kind = $3`)

/** From now on this one is meant where none of its kind is named. */
export async function makeDefault(
  context: Pick<Context, 'secrets' | 'audit'>,
  tx: Transaction,
  appId: number,
  row: ProviderRow,
): Promise<void> {
  const { channel, kind, key } = row
  await tx.query(setDefault, [appId, channel, kind, key])
  const before = rowOf(context, row)
  await record(context, tx, appId, 'provider_updated', row, before, { ...before, isDefault: true })
}

function found(rows: readonly ProviderRow[], id: string): ProviderRow {
  const row = rows.find((one) => one.id === id)
  if (row === undefined) throw new Error(`the provider ${id} has vanished while it was changed`)
  return row
}
