import { type Static, Type } from 'typebox'
import { limits } from '../../limits.ts'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery, oneOf } from '../../schemas.ts'
import { Done } from './settings.ts'

/** What a device can be registered as; the beginning says which kind of provider notifies it. */
export const pushPlatforms = [
  'fcm_android',
  'fcm_ios',
  'fcm_web',
  'fcm_flutter_android',
  'fcm_flutter_ios',
  'fcm_react_native_android',
  'fcm_react_native_ios',
  'fcm_ionic_cordova_android',
  'fcm_ionic_cordova_ios',
  'apns_ios_device',
  'apns_flutter_device',
  'apns_react_native_device',
  'apns_ionic_cordova_device',
  'apns_ios_voip',
  'apns_flutter_voip',
  'apns_ionic_cordova_voip',
  'apns_react_native_voip',
  'web_push',
] as const
export type PushPlatform = (typeof pushPlatforms)[number]

const shared = {
  area: 'Notifications',
  access: { user: true },
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  params: NoParams,
  query: NoQuery,
} as const

const authToken = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'With an API key: the auth token of the device, required. Otherwise that of the request counts',
})
const pushToken = Type.String({ minLength: 1, maxLength: limits.notifications.pushTokenLength })

const base64 = '^[A-Za-z0-9+/_-]+={0,2}$'

/** A subscription of a browser, as its `toJSON()` gives it. */
export const PushSubscription = Type.Object(
  {
    endpoint: Type.String({
      minLength: 1,
      maxLength: limits.notifications.endpointLength,
      description: 'https, at one of the push services that the deployment allows (`WEB_PUSH_HOSTS`)',
    }),
    keys: Type.Object({
      p256dh: Type.String({ maxLength: 100, pattern: base64, description: 'Public key of the browser, in base64url' }),
      auth: Type.String({ maxLength: 50, pattern: base64, description: '16 bytes, in base64url' }),
    }),
  },
  { description: 'With `web_push`: what `pushManager.subscribe()` returned' },
)
export type PushSubscription = Static<typeof PushSubscription>

/** A registered device. */
export const PushToken = Type.Object(
  {
    authToken: Type.Optional(
      Type.String({
        description: 'The auth token that registered it; front ends see only that of the request',
      }),
    ),
    pushTokenType: oneOf('chat', 'voip'),
    createdAt: Type.String({ description: 'ISO 8601' }),
    updatedAt: Type.String({ description: 'ISO 8601' }),
    platform: Type.String(),
    providerId: Type.String(),
    pushToken: Type.String({ description: 'With `web_push`: the endpoint of the subscription' }),
    uid: Type.String(),
  },
  { additionalProperties: false },
)
export type PushToken = Static<typeof PushToken>
const PushTokens = enveloped(Type.Object({ pushTokens: Type.Array(PushToken) }))

const all = Type.Optional(
  Type.Boolean({ description: 'true: all devices of the user, not only that of the auth token' }),
)
const ofLogin = ['ERR_AUTH_TOKEN_NOT_FOUND'] as const
const OwnerBody = Type.Object({ authToken: Type.Optional(authToken) })

export const registerPushToken = defineOperation({
  ...shared,
  id: 'notifications-push-register-token',
  method: 'POST',
  path: '/notifications/push/v1/tokens',
  summary: 'Register a device for push',
  description:
    'An auth token has one device of each kind: it replaces the one before. A device that is registered by another user is no longer the first one’s. Without `providerId`, or with `default`, it is the default provider of the platform. Web Push has one provider, `web_push`, which is there at once: `GET /notifications/push/v1/vapid-key`.',
  body: Type.Object({
    platform: oneOf(...pushPlatforms),
    providerId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    fcmToken: Type.Optional(pushToken),
    deviceToken: Type.Optional(pushToken),
    voipToken: Type.Optional(pushToken),
    subscription: Type.Optional(PushSubscription),
    authToken: Type.Optional(authToken),
    timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  }),
  answer: Done,
  errors: [...ofLogin, 'ERR_PROVIDER_NOT_FOUND'],
})

export const listPushTokens = defineOperation({
  ...shared,
  id: 'notifications-push-list-tokens',
  method: 'GET',
  path: '/notifications/push/v1/tokens',
  summary: 'List the devices of an auth token, or of its user',
  description: 'Without all: the device of the login. With all=1: every device of its user.',
  query: Type.Object({ all, authToken: Type.Optional(authToken) }),
  answer: PushTokens,
  errors: ofLogin,
})

export const unregisterPushTokens = defineOperation({
  ...shared,
  id: 'notifications-push-unregister-tokens',
  method: 'DELETE',
  path: '/notifications/push/v1/tokens',
  summary: 'Unregister the device of an auth token, or all devices of its user',
  description: 'Returns the devices that were unregistered.',
  query: Type.Object({ all }),
  body: OwnerBody,
  answer: PushTokens,
  errors: ofLogin,
})

export const deletePushToken = defineOperation({
  ...shared,
  id: 'notifications-push-delete-token',
  method: 'DELETE',
  path: '/notifications/push/v1/tokens/{pushToken}',
  summary: 'Unregister one device of a user',
  description: 'Returns the device that was unregistered.',
  params: Type.Object({ pushToken: Type.String() }),
  body: OwnerBody,
  answer: PushTokens,
  errors: [...ofLogin, 'ERR_TOKEN_NOT_FOUND'],
})
