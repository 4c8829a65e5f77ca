import {
  appLimitReached,
  type BodyOf,
  badRequest,
  type createWebhook,
  hasReached,
  type updateWebhook,
} from '@parley/contract'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { PageRequest } from '../../paging.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'
import { checkAddress } from './address.ts'
import { changeWebhooks, requireWebhook } from './change.ts'
import { unknownWebhook, webhookExists } from './errors.ts'
import { makeSecret } from './make-secret.ts'
import { askForDelivery } from './request-delivery.ts'
import { type WebhookRow, webhookColumns, webhookTables } from './rows.ts'
import { checkTriggers, insertTriggers, replaceTriggers } from './triggers.ts'

const countWebhooks = statement(`
  select count(*) as count
  from webhooks
  where app_id = $1`)

const insert = statement(`
  insert into webhooks (app_id, id, name, url, version, enabled, retry_on_failure, use_basic_auth, username,
    password_sealed, secret_sealed, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
  on conflict (app_id, id) do nothing
  returning key`)

const insertState = statement(`
  insert into webhook_states (app_id, webhook)
  values ($1, $2)`)

const update = statement(`
  update webhooks
  set name = coalesce($3, name),
    url = coalesce($4, url),
    use_basic_auth = coalesce($5, use_basic_auth),
    username = coalesce($6, username),
    password_sealed = coalesce($7, password_sealed),
    enabled = coalesce($8, enabled),
    disabled_reason = case when $8 then null else disabled_reason end,
    disabled_at = case when $8 then null else disabled_at end,
    retry_on_failure = coalesce($9, retry_on_failure),
    updated_at = greatest($10, updated_at)
  where app_id = $1
  and key = $2`)

/** A webhook that is changed or enabled is tried at once: it may have been mended. */
const forgetFailures = statement(`
  update webhook_states
  set failures = 0,
    failing_since = null,
    paused_until = 0
  where app_id = $1
  and webhook = $2`)

const forgetFailuresOfApp = statement(`
  update webhook_states
  set failures = 0,
    failing_since = null,
    paused_until = 0
  where app_id = $1
  and failures > 0`)

/** An app goes on after a pause: the time for which its webhooks failed does not count on. */
export async function forgetFailuresOf(on: Queryable, appId: number): Promise<void> {
  await on.query(forgetFailuresOfApp, [appId])
}

/** Its deliveries are found by nobody any more; they go with their age. */
const remove = statement(`
  with removed as (
    delete from webhooks
    where app_id = $1
    and id = $2
    returning app_id, key, id
  ),
  unsubscribed as (
    delete from webhook_triggers t
    using removed r
    where t.app_id = r.app_id
    and t.webhook_id = r.id
  ),
  forgotten as (
    delete from webhook_states s
    using removed r
    where s.app_id = r.app_id
    and s.webhook = r.key
  )
  select key
  from removed`)

/**
 * Makes a webhook.
 * @returns the webhook with its secret, which is shown this once
 * @throws 400 naming what is wrong, also when the app has its 25; 409 when the id is taken
 */
export async function insertWebhook(
  context: Context,
  appId: number,
  body: BodyOf<typeof createWebhook>,
  version: 1 | 2,
): Promise<{ webhook: WebhookRow; secret: string }> {
  const { secrets } = context
  checkTriggers(version, body.triggers ?? [])
  checkCredentials(body, { useBasicAuth: false, username: null, hasPassword: false })
  await checkAddress(context, body.webhookURL)
  const secret = makeSecret()
  const { maxWebhooks } = await context.settings.of(appId)
  const done = { action: 'webhook_created', target: body.id } as const
  return changeWebhooks(context, appId, done, async (tx, note) => {
    const [{ count } = { count: 0 }] = await tx.query<{ count: number }>(countWebhooks, [appId])
    const [made] = await tx.query<{ key: number }>(insert, [
      appId,
      body.id,
      body.name,
      body.webhookURL,
      version,
      body.enabled ?? true,
      body.retryOnFailure ?? false,
      body.useBasicAuth ?? false,
      body.username ?? null,
      body.password === undefined ? null : secrets.seal(body.password),
      secrets.seal(secret),
      Math.floor(Date.now() / 1000),
    ])
    if (made === undefined) throw webhookExists(body.id)
    if (hasReached(maxWebhooks, count)) throw appLimitReached(maxWebhooks, 'webhooks')
    await tx.query(insertState, [appId, made.key])
    await insertTriggers(tx, appId, body.id, body.triggers ?? [])
    const webhook = await requireWebhook(tx, appId, body.id)
    note(undefined, webhook)
    return { webhook, secret }
  })
}

/** @throws 404 `ERR_WEBHOOK_NOT_FOUND`; 400 naming what is wrong */
export async function changeWebhook(
  context: Context,
  appId: number,
  id: string,
  change: BodyOf<typeof updateWebhook>,
): Promise<WebhookRow> {
  await requireWebhook(context.database, appId, id)
  if (change.webhookURL !== undefined) await checkAddress(context, change.webhookURL)
  const done = { action: 'webhook_updated', target: id } as const
  return changeWebhooks(context, appId, done, async (tx, note) => {
    const webhook = await requireWebhook(tx, appId, id)
    checkTriggers(webhook.version, change.triggers ?? [])
    checkCredentials(change, webhook)
    await tx.query(update, [
      appId,
      webhook.key,
      change.name ?? null,
      change.webhookURL ?? null,
      change.useBasicAuth ?? null,
      change.username ?? null,
      change.password === undefined ? null : context.secrets.seal(change.password),
      change.enabled ?? null,
      change.retryOnFailure ?? null,
      Math.floor(Date.now() / 1000),
    ])
    if (change.triggers !== undefined) await replaceTriggers(tx, appId, id, change.triggers)
    await tryAtOnce(tx, appId, webhook.key)
    const changed = await requireWebhook(tx, appId, id)
    note(webhook, changed)
    return changed
  })
}

/** What waits is sent now, whatever pause there was. */
async function tryAtOnce(tx: Transaction, appId: number, webhook: number): Promise<void> {
  await tx.query(forgetFailures, [appId, webhook])
  await askForDelivery(tx, appId, webhook)
}

/** Removes a webhook; nothing more is sent to it. @throws 404 `ERR_WEBHOOK_NOT_FOUND` */
export async function removeWebhook(context: Context, appId: number, id: string): Promise<void> {
  await changeWebhooks(context, appId, { action: 'webhook_deleted', target: id }, async (tx, note) => {
    note(await requireWebhook(tx, appId, id), undefined)
    const removed = await tx.query(remove, [appId, id])
    if (removed.length === 0) throw unknownWebhook(id)
  })
}

/** A page of an app's webhooks, newest first, and how many there are. */
export async function selectWebhooks(
  { database }: Pick<Context, 'database'>,
  appId: number,
  { searchKey }: { searchKey?: string },
  page: PageRequest,
): Promise<{ webhooks: WebhookRow[]; total: number }> {
  const conditions: Fragment[] = [sql`w.app_id = ${appKey(appId)}`]
  if (searchKey !== undefined) conditions.push(sql`strpos(lower(w.name), lower(${searchKey})) > 0`)
  const rows = await database.run<WebhookRow>(sql`
    select ${sql.raw(webhookColumns)}
    from ${sql.raw(webhookTables)}
    where ${allOf(conditions)}
    order by w.key desc`)
  return { webhooks: rows.slice(page.offset, page.offset + page.perPage), total: rows.length }
}

/** Basic auth needs both a user name and a password. */
function checkCredentials(
  given: { useBasicAuth?: boolean; username?: string; password?: string },
  present: { useBasicAuth: boolean; username: string | null; hasPassword: boolean },
): void {
  if (!(given.useBasicAuth ?? present.useBasicAuth)) return
  const flaws = []
  const message = 'is required with useBasicAuth'
  if (given.username === undefined && present.username === null) flaws.push({ path: 'body/username', message })
  if (given.password === undefined && !present.hasPassword) flaws.push({ path: 'body/password', message })
  if (flaws.length > 0) throw badRequest(flaws)
}
