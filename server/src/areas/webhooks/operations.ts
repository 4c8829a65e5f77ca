import * as contract from '@parley/contract'
import { type AnswerOf, type Operation, triggers } from '@parley/contract'
import { type Call, type Route, serve } from '../../call.ts'
import { unknownApp } from '../../chat/apps.ts'
import type { Context } from '../../context.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { requireWebhook } from './change.ts'
import { redeliverAll, redeliverOne, selectDeliveries, selectDelivery, sendSample } from './deliveries.ts'
import { showWebhook } from './rows.ts'
import { renewSecret } from './secret.ts'
import { describeTrigger, subscribe, unsubscribe } from './triggers.ts'
import { changeWebhook, insertWebhook, removeWebhook, selectWebhooks } from './webhooks.ts'

/** Serves an operation at `/webhooks...` and, for the app of the credential, at `/apps/{appId}/webhooks...`. */
function serveBoth<const Here extends Operation>(
  here: Here,
  inApp: Operation,
  handle: (call: Call<Here>, context: Context) => Promise<AnswerOf<Here>>,
): Route[] {
  const route = serve(here, handle)
  const inAppRoute: Route = {
    ...route,
    operation: inApp,
    handle: (call, context) => {
      const { appId } = call.params as { appId: string }
      if (appId.toLowerCase() !== call.app.name) throw unknownApp(appId)
      return route.handle(call, context)
    },
  }
  return [route, inAppRoute]
}

export const operations: readonly Route[] = [
  ...serveBoth(contract.createWebhookHere, contract.createWebhook, async ({ app, body, headers }, context) => {
    const version = headers['X-Webhook-Version'] === 1 ? 1 : 2
    const { webhook, secret } = await insertWebhook(context, app.appId, body, version)
    return { data: { ...showWebhook(webhook), secret } }
  }),

  ...serveBoth(contract.listWebhooksHere, contract.listWebhooks, async ({ app, caller, query }, context) => {
    const page = readPage(query, caller)
    const { webhooks, total } = await selectWebhooks(context, app.appId, query, page)
    return { data: webhooks.map(showWebhook), meta: pageMeta(page, total, webhooks.length) }
  }),

  ...serveBoth(contract.getWebhookHere, contract.getWebhook, async ({ app, params }, { database }) => {
    return { data: showWebhook(await requireWebhook(database, app.appId, params.webhookId)) }
  }),

  ...serveBoth(contract.updateWebhookHere, contract.updateWebhook, async ({ app, params, body }, context) => {
    return { data: showWebhook(await changeWebhook(context, app.appId, params.webhookId, body)) }
  }),

  ...serveBoth(contract.deleteWebhookHere, contract.deleteWebhook, async ({ app, params }, context) => {
    await removeWebhook(context, app.appId, params.webhookId)
    return { data: { success: true, message: 'webhook removed' } }
  }),

  ...serveBoth(contract.addWebhookTriggersHere, contract.addWebhookTriggers, async ({ app, params, body }, context) => {
    return { data: await subscribe(context, app.appId, params.webhookId, body.triggerIds) }
  }),

  ...serveBoth(
    contract.listWebhookTriggersHere,
    contract.listWebhookTriggers,
    async ({ app, caller, params }, { database }) => {
      const webhook = await requireWebhook(database, app.appId, params.webhookId)
      const data = webhook.triggers.map((id) => ({ id, description: describeTrigger(id) }))
      return { data, meta: pageMeta(readPage({}, caller), data.length, data.length) }
    },
  ),

  ...serveBoth(contract.removeWebhookTriggersHere, contract.removeWebhookTriggers, async (call, context) => {
    await unsubscribe(context, call.app.appId, call.params.webhookId, call.body.triggerIds)
    return { data: { success: true, message: 'trigger removed' } }
  }),

  serve(contract.listTriggers, async ({ caller }) => {
    const data = triggers.map(({ id, category, description }) => ({ id, category, description }))
    return { data, meta: pageMeta(readPage({}, caller), data.length, data.length) }
  }),

  serve(contract.renewWebhookSecret, async ({ app, params, body }, context) => {
    return { data: await renewSecret(context, app.appId, params.webhookId, body.oldValidForSeconds) }
  }),

  serve(contract.testWebhook, async ({ app, params }, context) => {
    const webhook = await requireWebhook(context.database, app.appId, params.webhookId)
    return { data: await sendSample(context, app.appId, webhook) }
  }),

  serve(contract.listDeliveries, async ({ app, params, query }, context) => {
    const webhook = await requireWebhook(context.database, app.appId, params.webhookId)
    const limit = query.limit ?? 100
    const { deliveries, hasMore } = await selectDeliveries(context, app.appId, webhook, { ...query, limit })
    const last = deliveries.at(-1)
    return {
      data: deliveries,
      meta: { current: { limit, count: deliveries.length }, ...(hasMore && last && { next: { before: last.id } }) },
    }
  }),

  serve(contract.getDelivery, async ({ app, params }, context) => {
    const webhook = await requireWebhook(context.database, app.appId, params.webhookId)
    return { data: await selectDelivery(context, app.appId, webhook, params.deliveryId) }
  }),

  serve(contract.redeliver, async ({ app, params }, context) => {
    const webhook = await requireWebhook(context.database, app.appId, params.webhookId)
    return { data: await redeliverOne(context, app.appId, webhook, params.deliveryId) }
  }),

  serve(contract.redeliverMany, async ({ app, params, body }, context) => {
    const webhook = await requireWebhook(context.database, app.appId, params.webhookId)
    return { data: { count: await redeliverAll(context, app.appId, webhook, body) } }
  }),
]
