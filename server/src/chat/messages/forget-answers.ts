import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Transaction } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'

/** An answer is kept of failed attempts, beside the id of the message that it is about. */
const without = `answer = null,
    message = null`

/**
 * Takes what webhooks answered out of the deliveries of events about messages, where these lose their content or get another: an
 * endpoint may have repeated what it was sent. By the index `webhook_deliveries_answered`. To be said after the messages were changed:
 * an answer that comes later is not kept then (delivery/webhooks/results.ts).
 * @param messages an array of ids; of those that are removed, the positions are still there
 */
export function forgetWebhookAnswers(appId: number, messages: Fragment): Fragment {
  return sql`
    update webhook_deliveries d
    set ${sql.raw(without)}
    from messages m
    where m.app_id = ${appKey(appId)}
    and m.id = any(${messages})
    and d.app_id = m.app_id
    and d.conversation = m.conversation
    and d.message = m.id
    and d.answer is not null`
}

/** The same of whole conversations. @param conversations which: `= 5`, `is null` */
export function forgetWebhookAnswersIn(appId: number, conversations: Fragment): Fragment {
  return sql`
    update webhook_deliveries
    set ${sql.raw(without)}
    where app_id = ${appKey(appId)}
    and conversation ${conversations}
    and answer is not null
    and not sample`
}

const forget = statement(`
  update webhook_deliveries
  set ${without}
  where app_id = $1
  and conversation = $2
  and message = $3
  and answer is not null`)

/**
 * Takes what providers answered to pushes about messages out of the log, for the same reason; what they answer later is not kept
 * (delivery/notifications/results.ts). Of e-mails and SMS, which list several messages, no answer is kept at all.
 * @param messages which: `= any(...)`
 */
export function forgetProvidersAnswers(appId: number, messages: Fragment): Fragment {
  return sql`
    update notification_deliveries
    set answer = null
    where app_id = ${appKey(appId)}
    and message ${messages}
    and answer is not null`
}

const forgetOfProviders = statement(`
  update notification_deliveries
  set answer = null
  where app_id = $1
  and message = $2
  and answer is not null`)

/** What webhooks and providers answered about one message. */
export async function forgetAnswersAbout(
  tx: Transaction,
  appId: number,
  message: { readonly id: number; readonly conversation: number },
): Promise<void> {
  await tx.query(forget, [appId, message.conversation, message.id])
  await tx.query(forgetOfProviders, [appId, message.id])
}
