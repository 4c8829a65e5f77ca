import type { Webhook } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A webhook as stored, with what it is subscribed to. */
export interface WebhookRow {
  readonly key: number
  readonly id: string
  readonly name: string
  readonly url: string
  readonly version: 1 | 2
  readonly enabled: boolean
  readonly retryOnFailure: boolean
  readonly useBasicAuth: boolean
  readonly username: string | null
  readonly hasPassword: boolean
  readonly disabledReason: string | null
  readonly disabledAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly triggers: string[]
  /** Epoch milliseconds. */
  readonly failingSince: number | null
}

/** Columns of `WebhookRow`; the tables are `webhooks w` and `webhook_states s`. */
export const webhookColumns = `
    w.key, w.id, w.name, w.url, w.version, w.enabled, w.retry_on_failure as "retryOnFailure",
    w.use_basic_auth as "useBasicAuth", w.username, w.password_sealed is not null as "hasPassword",
    w.disabled_reason as "disabledReason", w.disabled_at as "disabledAt", w.created_at as "createdAt",
    w.updated_at as "updatedAt", s.failing_since as "failingSince",
    array(
      select t.trigger
      from webhook_triggers t
      where t.app_id = w.app_id
      and t.webhook_id = w.id
      order by t.trigger
    ) as triggers`

export const webhookTables = `webhooks w
  join webhook_states s on s.app_id = w.app_id and s.webhook = w.key`

const select = statement(`
  select ${webhookColumns}
  from ${webhookTables}
  where w.app_id = $1
  and w.id = $2`)

/** @returns undefined for a webhook that is not there */
export async function readWebhook(on: Queryable, appId: number, id: string): Promise<WebhookRow | undefined> {
  const [row] = await on.query<WebhookRow>(select, [appId, id])
  return row
}

/** A webhook as answers show it. */
export function showWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    name: row.name,
    webhookURL: row.url,
    version: row.version,
    enabled: row.enabled,
    useBasicAuth: row.useBasicAuth,
    ...(row.username !== null && { username: row.username }),
    retryOnFailure: row.retryOnFailure,
    triggers: row.triggers,
    ...(row.disabledReason !== null && { disabledReason: row.disabledReason }),
    ...(row.disabledAt !== null && { disabledAt: row.disabledAt }),
    ...(row.failingSince !== null && { failingSince: Math.floor(row.failingSince / 1000) }),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
