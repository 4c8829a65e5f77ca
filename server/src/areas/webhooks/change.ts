import type { AuditAction } from '@parley/contract'
import { lockApp } from '../../chat/apps.ts'
import { type Changes, changesOf, digestOfValue } from '../../chat/audit/changes.ts'
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

/** Says what a webhook was before, and what it is now, for the audit log. */
type NoteWebhook = (before: WebhookRow | undefined, after: WebhookRow | undefined) => void

/** What the audit log has of a webhook. Its path may be secret, and is there as a digest. */
function recorded(secrets: Context['secrets'], webhook: WebhookRow) {
  const { name, url, version, enabled, retryOnFailure, useBasicAuth, username, triggers } = webhook
  const address = URL.canParse(url) ? new URL(url).origin : ''
  return {
    ...{
      name,
      url: { address, digest: digestOfValue(secrets, url) },
      version,
      enabled,
      retryOnFailure,
      useBasicAuth,
      username,
    },
    triggers: triggers.toSorted(),
  }
}

type WebhookAction = Extract<AuditAction, `webhook_${string}`>

/**
 * Changes the webhooks of an app, one change at a time, and notifies every process that what they listen for has changed;
 * this one at once after the commit.
 */
export function changeWebhooks<Result>(
  { database, invalidation, events, webhooks, audit, secrets }: Context,
  appId: number,
  done: { action: WebhookAction; target: string; details?: object },
  work: (tx: Transaction, note: NoteWebhook) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await lockApp(tx, appId)
    let changes: Changes | undefined
    const note: NoteWebhook = (before, after) => {
      changes = changesOf(before && recorded(secrets, before), after && recorded(secrets, after))
    }
    const result = await work(tx, note)
    await audit.record(tx, appId, { type: 'webhook', details: changes, ...done })
    await invalidation.announce(tx, listenersTopic, String(appId))
    tx.afterCommit(() => {
      events.forget(appId)
      webhooks.hooks.forget(appId)
    })
    return result
  })
}
