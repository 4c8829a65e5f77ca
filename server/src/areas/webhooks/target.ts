import type { App } from '../../chat/identity.ts'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { openOldSecrets, type StoredOldSecrets } from './old-secrets.ts'

/** A webhook as those who deliver to it see it. */
export interface Target {
  readonly app: App
  readonly key: number
  readonly id: string
  readonly url: string
  readonly version: 1 | 2
  readonly enabled: boolean
  readonly retryOnFailure: boolean
  /** Value of the header `authorization`. */
  readonly authorization: string | undefined
  /** The valid ones, newest first. */
  readonly secrets: readonly string[]
}

/** Columns of `TargetRow`, of `webhooks w` and `apps a`. */
export const targetColumns = `
    a.app_id as "appId", a.name as "appName", a.region, w.key, w.id, w.url, w.version, w.enabled,
    w.retry_on_failure as "retryOnFailure", w.use_basic_auth as "useBasicAuth", w.username,
    w.password_sealed as "passwordSealed", w.secret_sealed as "secretSealed",
    w.old_secret_sealed as "oldSecretSealed", w.old_secret_until as "oldSecretUntil"`

export interface TargetRow extends StoredOldSecrets {
  readonly appId: number
  readonly appName: string
  readonly region: string
  readonly key: number
  readonly id: string
  readonly url: string
  readonly version: 1 | 2
  readonly enabled: boolean
  readonly retryOnFailure: boolean
  readonly useBasicAuth: boolean
  readonly username: string | null
  readonly passwordSealed: Buffer | null
  readonly secretSealed: Buffer
}

const select = statement(`
  select ${targetColumns}
  from webhooks w
  join apps a on a.app_id = w.app_id
  where w.app_id = $1
  and w.id = $2`)

const selectHooks = statement(`
  select ${targetColumns}
  from webhooks w
  join apps a on a.app_id = w.app_id
  join webhook_triggers t on t.app_id = w.app_id and t.webhook_id = w.id
  where w.app_id = $1
  and w.enabled
  and t.trigger = 'before_message'
  order by w.key`)

/** @returns undefined for a webhook that is not there */
export async function readTarget(
  on: Queryable,
  secrets: Secrets,
  appId: number,
  id: string,
): Promise<Target | undefined> {
  const [row] = await on.query<TargetRow>(select, [appId, id])
  return row && toTarget(secrets, row)
}

/** The enabled webhooks of an app that are asked before a message is sent, oldest first. */
export async function readHookTargets(on: Queryable, secrets: Secrets, appId: number): Promise<Target[]> {
  return (await on.query<TargetRow>(selectHooks, [appId])).map((row) => toTarget(secrets, row))
}

export function toTarget(secrets: Secrets, row: TargetRow): Target {
  return {
    app: { appId: row.appId, name: row.appName, region: row.region },
    key: row.key,
    id: row.id,
    url: row.url,
    version: row.version,
    enabled: row.enabled,
    retryOnFailure: row.retryOnFailure,
    authorization:
      row.useBasicAuth && row.username !== null && row.passwordSealed !== null
        ? `Basic ${Buffer.from(`${row.username}:${secrets.unseal(row.passwordSealed)}`).toString('base64')}`
        : undefined,
    secrets: [secrets.unseal(row.secretSealed), ...openOldSecrets(secrets, row).map(({ secret }) => secret)],
  }
}
