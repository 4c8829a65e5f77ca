import { type Static, Type } from 'typebox'
import { defineOperation } from '../../operation.ts'
import { enveloped } from '../../schemas.ts'
import { missingProvider, ofProviders, Trial } from './providers.ts'
import { Done } from './settings.ts'
import { PushSubscription } from './tokens.ts'

const publicKey = Type.String({
  description: 'The `applicationServerKey` of `pushManager.subscribe()`: 65 bytes in base64url',
})
const providerId = Type.String({ description: '`web_push`' })

export const getVapidKey = defineOperation({
  ...ofProviders,
  id: 'get-vapid-key',
  access: { user: true },
  method: 'GET',
  path: '/notifications/push/v1/vapid-key',
  summary: 'Get the public key that browsers subscribe to Web Push with',
  description:
    'The key pair of the app is created when it is needed for the first time, and stays the same: subscriptions are bound to it.',
  answer: enveloped(Type.Object({ publicKey, providerId })),
  errors: missingProvider,
})

/** Web Push of an app. */
export const WebPushProvider = Type.Object(
  { providerId, isEnabled: Type.Boolean({ description: 'Whether browsers can subscribe and are told' }), publicKey },
  { additionalProperties: false },
)
export type WebPushProvider = Static<typeof WebPushProvider>
const WebPushProviders = enveloped(Type.Object({ pushProviders: Type.Array(WebPushProvider) }))

const webPush = { ...ofProviders, path: '/notifications/push/v1/providers/web_push' } as const

export const getWebPushProvider = defineOperation({
  ...webPush,
  id: 'get-web-push-provider',
  method: 'GET',
  summary: 'Get the Web Push provider',
  description: 'None, as long as nobody has asked for its key.',
  answer: WebPushProviders,
})

export const updateWebPushProvider = defineOperation({
  ...webPush,
  id: 'update-web-push-provider',
  method: 'PUT',
  summary: 'Turn Web Push on or off',
  description: 'It is on unless it is turned off. Subscriptions stay registered while it is off.',
  body: Type.Object({ isEnabled: Type.Boolean() }),
  answer: WebPushProviders,
})

export const deleteWebPushProvider = defineOperation({
  ...webPush,
  id: 'delete-web-push-provider',
  method: 'DELETE',
  summary: 'Remove the keys of Web Push with all subscriptions',
  description:
    'For keys that somebody else may have seen. Whoever asks for the key next gets a new one, and browsers must subscribe again. To have no Web Push at all, turn it off.',
  answer: Done,
  errors: missingProvider,
})

export const testWebPushProvider = defineOperation({
  ...webPush,
  id: 'test-web-push-provider',
  method: 'POST',
  path: '/notifications/push/v1/providers/web_push/test',
  summary: 'Send a trial by Web Push',
  description: 'To a subscription that was made with the key of this app; it need not be registered.',
  body: Type.Object({ subscription: PushSubscription }),
  answer: enveloped(Trial),
  errors: missingProvider,
})
