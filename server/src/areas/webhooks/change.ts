import type { AuditAction } from '@parley/contract'
import { lockApp } from '../../chat/apps.ts'
import type { Context } from '../../context.ts'
import { listenersTopic } from '../../events/listening.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { unknownWebhook } from './errors.ts'
import { readWebhook, type WebhookRow } from './rows.ts'

/** @throws 404 `ERR_WEBHOOK_NOT_FOUND` */
export async function requireWebhook(on: Queryable, appId: number, id: string): Promise<WebhookRow> {
  const webhook = await readWebhook(on, appId, id)
  if (webhook === undefined) throw unknownWebhook(id)
  return webhook
}

type WebhookAction = Extract<AuditAction, `webhook_${string}`>

/**
 * Changes the webhooks of an app, one change at a time, and tells every process that what they listen for has changed;
 * this one at once after the commit.
 */
export function changeWebhooks<Result>(
  { database, invalidation, events, webhooks, audit }: Context,
  appId: number,
  done: { action: WebhookAction; target: string; details?: object },
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const result = await work(tx)
    await audit.record(tx, appId, { type: 'webhook', ...done })
    await invalidation.announce(tx, listenersTopic, String(appId))
    tx.afterCommit(() => {
      events.forget(appId)
      webhooks.hooks.forget(appId)
    })
    return result
  })
}
