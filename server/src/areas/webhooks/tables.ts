import { sql } from 'kysely'
import { erasable, untouched } from '../../chat/erasure.ts'
import { forgetWebhookAnswers, forgetWebhookAnswersIn } from '../../chat/messages/forget-answers.ts'

/**
 * Deliveries name events, and their bodies are rendered for each attempt. But the answers of endpoints are kept where these failed, and may
 * repeat the body: those go with the message, and with whoever may be named in it. What belongs to no conversation is about users.
 */
export const tables = [
  untouched('webhooks', 'webhooks are of the app'),
  untouched('webhook_triggers', 'webhooks are of the app'),
  untouched('webhook_states', 'webhooks are of the app'),
  erasable(
    'webhook_deliveries',
    {},
    {
      ofUser: [
        ({ appId, pairs, groups }) => forgetWebhookAnswersIn(appId, sql`= any(${[...pairs, ...groups]}::bigint[])`),
        ({ appId }) => forgetWebhookAnswersIn(appId, sql`is null`),
      ],
      ofGroup: [({ appId, conversation }) => forgetWebhookAnswersIn(appId, sql`= ${conversation}`)],
      ofMessages: [({ appId, ids }) => forgetWebhookAnswers(appId, sql`${ids}::bigint[]`)],
    },
  ),
]
