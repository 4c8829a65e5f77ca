import { badRequest, type Delivery } from '@parley/contract'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment, statement } from '../../store/statement.ts'
import { deliveryId, parseDeliveryId } from './delivery-id.ts'
import { unknownDelivery, unknownWebhook } from './errors.ts'
import { askForDelivery } from './request-delivery.ts'
import type { WebhookRow } from './rows.ts'
import { sampleTrigger } from './sample.ts'
import { readTarget } from './target.ts'

interface DeliveryRow {
  readonly id: number
  readonly trigger: string
  readonly sample: boolean
  readonly status: Delivery['status']
  readonly attempts: number
  /** Epoch milliseconds. */
  readonly dueAt: number | null
  readonly createdAt: number
  readonly attemptedAt: number | null
  readonly answerStatus: number | null
  readonly answer: string | null
  readonly error: string | null
  readonly durationMs: number | null
}

const columns = `id, trigger, sample, status, attempts, due_at as "dueAt", created_at as "createdAt",
    attempted_at as "attemptedAt", answer_status as "answerStatus", answer, error, duration_ms as "durationMs"`

const again = `status = 'pending',
    step = 0,
    due_at = ${nowMs}`

const selectOne = statement(`
  select ${columns}
  from webhook_deliveries
  where app_id = $1
  and webhook = $2
  and id = $3`)

const redeliver = statement(`
  update webhook_deliveries
  set ${again}
  where app_id = $1
  and webhook = $2
  and id = $3
  returning ${columns}`)

const drawId = statement(`select nextval('event_ids') as id`)

const insertSample = statement(`
  insert into webhook_deliveries (app_id, webhook, id, trigger, sample, status, attempts, created_at, attempted_at,
    answer_status, answer, error, duration_ms)
  values ($1, $2, $3, $4, true, $5, 1, $6, $6, $7, $8, $9, $10)
  returning ${columns}`)

/** Which deliveries; times are epoch seconds of their events. */
export interface DeliveryFilter {
  readonly status?: Delivery['status']
  readonly trigger?: string
  readonly from?: number | string
  readonly to?: number | string
}

function conditionsOf(appId: number, webhook: WebhookRow, { status, trigger, from, to }: DeliveryFilter): Fragment[] {
  const conditions: Fragment[] = [sql`app_id = ${appKey(appId)}`, sql`webhook = ${webhook.key}`]
  // Said in the words of the partial indexes.
  if (status === 'failed') conditions.push(sql`status = 'failed'`)
  else if (status !== undefined) conditions.push(sql`status = ${status}`)
  if (status === 'pending') conditions.push(sql`due_at is not null and (attempts = 0 or attempts > 0)`)
  if (trigger !== undefined) conditions.push(sql`trigger = ${trigger}`)
  if (from !== undefined) conditions.push(sql`created_at >= ${Number(from)}`)
  if (to !== undefined) conditions.push(sql`created_at <= ${Number(to)}`)
  return conditions
}

/** Deliveries to a webhook, newest first, and whether there are more. */
export async function selectDeliveries(
  { database }: Pick<Context, 'database'>,
  appId: number,
  webhook: WebhookRow,
  filter: DeliveryFilter & { readonly limit: number; readonly before?: string },
): Promise<{ deliveries: Delivery[]; hasMore: boolean }> {
  const conditions = conditionsOf(appId, webhook, filter)
  if (filter.before !== undefined) {
    const before = parseDeliveryId(webhook.key, filter.before)
    if (before === undefined) throw badRequest([{ path: 'query/before', message: 'must be the id of a delivery' }])
    conditions.push(sql`id < ${before}`)
  }
  const rows = await database.run<DeliveryRow>(sql`
    select ${sql.raw(columns)}
    from webhook_deliveries
    where ${allOf(conditions)}
    order by id desc
    limit ${filter.limit + 1}`)
  const deliveries = rows.slice(0, filter.limit).map((row) => showDelivery(webhook, row))
  return { deliveries, hasMore: rows.length > filter.limit }
}

/** A delivery with the body that an attempt would send now. @throws 404 `ERR_DELIVERY_NOT_FOUND` */
export async function selectDelivery(
  { database, secrets, webhooks }: Context,
  appId: number,
  webhook: WebhookRow,
  text: string,
): Promise<Delivery & { body?: Record<string, unknown> }> {
  const id = parseDeliveryId(webhook.key, text)
  const [row] = id === undefined ? [] : await database.query<DeliveryRow>(selectOne, [appId, webhook.key, id])
  if (row === undefined) throw unknownDelivery(text, webhook.id)
  const target = await readTarget(database, secrets, appId, webhook.id)
  const body = target === undefined ? undefined : await webhooks.bodyOf(target, row)
  return { ...showDelivery(webhook, row), ...(body !== undefined && { body: JSON.parse(body) }) }
}

/** Has a delivery sent again, soon. @throws 404 `ERR_DELIVERY_NOT_FOUND` */
export async function redeliverOne(
  { database }: Pick<Context, 'database'>,
  appId: number,
  webhook: WebhookRow,
  text: string,
): Promise<Delivery> {
  const id = parseDeliveryId(webhook.key, text)
  return database.transaction(async (tx) => {
    const [row] = id === undefined ? [] : await tx.query<DeliveryRow>(redeliver, [appId, webhook.key, id])
    if (row === undefined) throw unknownDelivery(text, webhook.id)
    await askForDelivery(tx, appId, webhook.key)
    return showDelivery(webhook, row)
  })
}

const batch = 5_000

/** Has all deliveries sent again that fit. @returns how many */
export async function redeliverAll(
  { database }: Pick<Context, 'database'>,
  appId: number,
  webhook: WebhookRow,
  filter: DeliveryFilter,
): Promise<number> {
  let count = 0
  let after = 0
  for (;;) {
    const ids = await database.transaction(async (tx) => {
      const rows = await redeliverBatch(tx, [...conditionsOf(appId, webhook, filter), sql`id > ${after}`])
      if (rows.length > 0) await askForDelivery(tx, appId, webhook.key)
      return rows.map(({ id }) => id)
    })
    count += ids.length
    if (ids.length < batch) return count
    after = Math.max(...ids)
  }
}

function redeliverBatch(on: Queryable, conditions: readonly Fragment[]): Promise<Array<{ id: number }>> {
  return on.run<{ id: number }>(sql`
    update webhook_deliveries d
    set ${sql.raw(again)}
    from (
      select app_id, webhook, id
      from webhook_deliveries
      where ${allOf(conditions)}
      order by id
      limit ${batch}
      for update
    ) c
    where d.app_id = c.app_id
    and d.webhook = c.webhook
    and d.id = c.id
    returning d.id`)
}

/** Sends a sample event now, and keeps what came back like any delivery. */
export async function sendSample(context: Context, appId: number, webhook: WebhookRow): Promise<Delivery> {
  const { database, secrets, webhooks } = context
  const target = await readTarget(database, secrets, appId, webhook.id)
  if (target === undefined) throw unknownWebhook(webhook.id)
  const [drawn] = await database.query<{ id: number }>(drawId)
  const id = drawn?.id ?? 0
  const made = await webhooks.test(target, id)
  const [row] = await database.query<DeliveryRow>(insertSample, [
    appId,
    target.key,
    id,
    sampleTrigger[target.version],
    made.succeeded ? 'delivered' : 'failed',
    Math.floor(Date.now() / 1000),
    made.status ?? null,
    made.succeeded ? null : made.text || null,
    made.error ?? null,
    made.durationMs,
  ])
  const shown = showDelivery(webhook, row as DeliveryRow)
  // What a success answered is told here and not kept.
  return made.status !== undefined && made.text
    ? { ...shown, answer: { status: made.status, excerpt: made.text } }
    : shown
}

function showDelivery(webhook: WebhookRow, row: DeliveryRow): Delivery {
  return {
    id: deliveryId(webhook.key, row.id),
    eventId: String(row.id),
    trigger: row.trigger,
    status: row.status,
    attempts: row.attempts,
    createdAt: row.createdAt,
    ...(row.attemptedAt !== null && { attemptedAt: row.attemptedAt }),
    ...(row.dueAt !== null && { nextAttemptAt: Math.ceil(row.dueAt / 1000) }),
    ...(row.answerStatus !== null && {
      answer: { status: row.answerStatus, ...(row.answer !== null && { excerpt: row.answer }) },
    }),
    ...(row.error !== null && { error: row.error }),
    ...(row.durationMs !== null && { durationMs: row.durationMs }),
    ...(row.sample && { test: true }),
  }
}
