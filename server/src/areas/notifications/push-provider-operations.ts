import * as contract from '@parley/contract'
import { serve } from '../../call.ts'
import {
  addApns,
  addFcm,
  changeApns,
  changeFcm,
  listApns,
  listFcm,
  type PushService,
  removePushService,
  setDefaultPushService,
  tryPushService,
} from './push-services.ts'
import { removeSingle, type Slot, trySingle } from './single-provider.ts'
import { changeWebPush, getWebPush, requireWebPush, showWebPush, tryWebPush, webPush } from './web-push.ts'
import { changeWebhook, getWebhook, renewWebhookSecret, saveWebhook } from './webhook-provider.ts'

const customPush: Slot = { channel: 'push', kind: 'custom', what: 'push provider of its own' }
const done = { data: { success: true } } as const

/** Declared as another operation is, but for its names. */
type Like<Declared> = Omit<Declared, 'id' | 'path' | 'summary'> & Pick<contract.Operation, 'id' | 'path' | 'summary'>

/** What is done with one provider of a push service, whichever it is. */
const operationsOnOne = (
  kind: PushService,
  remove: Like<typeof contract.deleteFcmProvider>,
  setDefault: Like<typeof contract.setDefaultFcmProvider>,
  test: Like<typeof contract.testFcmProvider>,
) => [
  serve(remove, async ({ app, params }, context) => {
    await removePushService(context, app, kind, params.providerId)
    return done
  }),

  serve(setDefault, async ({ app, params }, context) => {
    await setDefaultPushService(context, app, kind, params.providerId)
    return done
  }),

  serve(test, async ({ app, params, body }, context) => {
    return { data: await tryPushService(context, app, kind, params.providerId, body.pushToken) }
  }),
]

/** Who brings pushes to users. */
export const operations = [
  serve(contract.getCustomPushProvider, async ({ app }, context) => {
    const provider = await getWebhook<contract.CustomPushProvider>(context, app, customPush)
    return { data: { pushProviders: provider === undefined ? [] : [provider] } }
  }),

  serve(contract.saveCustomPushProvider, async ({ app, body }, context) => {
    return { data: { pushProviders: [await saveWebhook(context, app, customPush, body)] } }
  }),

  serve(contract.updateCustomPushProvider, async ({ app, body }, context) => {
    return {
      data: { pushProviders: [await changeWebhook<contract.CustomPushProvider>(context, app, customPush, body)] },
    }
  }),

  serve(contract.deleteCustomPushProvider, async ({ app }, context) => {
    await removeSingle(context, app, customPush)
    return done
  }),

  serve(contract.renewCustomPushSecret, async ({ app }, context) => {
    return { data: { secret: await renewWebhookSecret(context, app, customPush) } }
  }),

  serve(contract.testCustomPushProvider, async ({ app }, context) => {
    return { data: await trySingle(context, app, customPush) }
  }),

  serve(contract.listFcmProviders, async ({ app }, context) => {
    return { data: { pushProviders: await listFcm(context, app) } }
  }),

  serve(contract.addFcmProvider, async ({ app, body }, context) => {
    await addFcm(context, app, body)
    return done
  }),

  serve(contract.updateFcmProvider, async ({ app, body }, context) => {
    await changeFcm(context, app, body)
    return done
  }),

  ...operationsOnOne('fcm', contract.deleteFcmProvider, contract.setDefaultFcmProvider, contract.testFcmProvider),

  serve(contract.listApnsProviders, async ({ app }, context) => {
    return { data: { pushProviders: await listApns(context, app) } }
  }),

  serve(contract.addApnsProvider, async ({ app, body }, context) => {
    return { data: { pushProviders: [await addApns(context, app, body)] } }
  }),

  serve(contract.updateApnsProvider, async ({ app, body }, context) => {
    await changeApns(context, app, body)
    return done
  }),

  ...operationsOnOne('apns', contract.deleteApnsProvider, contract.setDefaultApnsProvider, contract.testApnsProvider),

  serve(contract.getVapidKey, async ({ app }, context) => {
    const { publicKey, providerId } = showWebPush(await requireWebPush(context, app))
    return { data: { publicKey, providerId } }
  }),

  serve(contract.getWebPushProvider, async ({ app }, context) => {
    const provider = await getWebPush(context, app)
    return { data: { pushProviders: provider === undefined ? [] : [provider] } }
  }),

  serve(contract.updateWebPushProvider, async ({ app, body }, context) => {
    return { data: { pushProviders: [await changeWebPush(context, app, body.isEnabled)] } }
  }),

  serve(contract.deleteWebPushProvider, async ({ app }, context) => {
    await removeSingle(context, app, webPush)
    return done
  }),

  serve(contract.testWebPushProvider, async ({ app, body }, context) => {
    return { data: await tryWebPush(context, app, body.subscription) }
  }),
]
