import { type Static, Type } from 'typebox'
import { defineOperation } from '../../operation.ts'
import { enveloped, NoParams, NoQuery } from '../../schemas.ts'
import { Done } from './settings.ts'

/** What is common to the operations on providers. */
export const ofProviders = {
  area: 'Notifications',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  params: NoParams,
  query: NoQuery,
  errors: [],
} as const

export const taken = ['ERR_PROVIDER_ALREADY_EXISTS'] as const
export const missingProvider = ['ERR_PROVIDER_NOT_FOUND'] as const

const word = (description: string) => Type.String({ maxLength: 255, description })

/** The members of every provider that is a webhook of the app. */
export const webhookMembers = {
  isEnabled: Type.Boolean({ description: 'Whether it is used' }),
  webhookURL: Type.String({ minLength: 1, maxLength: 2000, description: 'An https URL with a public address' }),
  useBasicAuth: Type.Boolean({ description: 'Whether user name and password are sent' }),
  basicAuthUsername: word('Required, but may be empty without useBasicAuth'),
  basicAuthPassword: word('Answered shortened. Sent back like that, it stays as it is'),
}

const customPushMembers = {
  ...webhookMembers,
  batchSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description:
        'How many notifications go in one request, in the envelope of batches. 1, or left out: a request for each',
    }),
  ),
}

const CustomPushProvider = Type.Object(customPushMembers, { additionalProperties: false })
export type CustomPushProvider = Static<typeof CustomPushProvider>

const CustomPushAnswer = enveloped(Type.Object({ pushProviders: Type.Array(CustomPushProvider) }))
const customPush = { ...ofProviders, path: '/notifications/push/v1/providers/custom' } as const

export const getCustomPushProvider = defineOperation({
  ...customPush,
  id: 'notifications-list-push-custom-provider',
  method: 'GET',
  summary: "Get the app's own push provider",
  description: 'None, or one, whose password is shortened.',
  answer: CustomPushAnswer,
})

export const saveCustomPushProvider = defineOperation({
  ...customPush,
  id: 'notifications-save-push-custom-provider',
  method: 'POST',
  summary: "Set up the app's own push provider",
  description:
    'A webhook that is called for each user who is to be notified, with the payload of the push; with `batchSize`, for many at once. Requests are signed like those of webhooks; `POST .../custom/secret` tells the secret. One that is set up already is replaced, and keeps its secret.',
  body: Type.Object(customPushMembers),
  answer: CustomPushAnswer,
})

export const updateCustomPushProvider = defineOperation({
  ...customPush,
  id: 'notifications-update-push-custom-provider',
  method: 'PUT',
  summary: "Update the app's own push provider",
  description: 'What is left out stays unchanged.',
  body: Type.Partial(Type.Object(customPushMembers)),
  answer: CustomPushAnswer,
  errors: missingProvider,
})

export const deleteCustomPushProvider = defineOperation({
  ...customPush,
  id: 'notifications-delete-push-custom-provider',
  method: 'DELETE',
  summary: "Remove the app's own push provider",
  description: 'What waits to be sent is not sent.',
  answer: Done,
  errors: missingProvider,
})

export const renewCustomPushSecret = defineOperation({
  ...customPush,
  id: 'renew-custom-push-secret',
  method: 'POST',
  path: '/notifications/push/v1/providers/custom/secret',
  summary: "Create a new signing secret for the app's own push provider",
  description: 'Requests are signed with it from now on, and no longer with the one before.',
  answer: enveloped(Type.Object({ secret: Type.String({ description: '`whsec_...`; not shown again' }) })),
  errors: missingProvider,
})

/** What came of a trial. */
export const Trial = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether the provider accepted it' }),
    status: Type.Optional(Type.Integer({ description: 'HTTP status of the provider' })),
    answer: Type.Optional(Type.String({ description: 'Start of its response' })),
    error: Type.Optional(Type.String({ description: 'Why it failed' })),
    durationMs: Type.Integer(),
  },
  { additionalProperties: false },
)
export type Trial = Static<typeof Trial>

export const testCustomPushProvider = defineOperation({
  ...customPush,
  id: 'test-custom-push-provider',
  method: 'POST',
  path: '/notifications/push/v1/providers/custom/test',
  summary: "Send a trial to the app's own push provider",
  description:
    'Sends one notification with made-up content, even if the provider is not enabled, and returns the result.',
  answer: enveloped(Trial),
  errors: missingProvider,
})

const providerId = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_.-]+$' })
const line = Type.String({ minLength: 1, maxLength: 500 })
const pem = Type.String({ minLength: 1, maxLength: 10_000 })
const Pair = Type.Object({ chat: Type.Optional(Type.Boolean()), call: Type.Optional(Type.Boolean()) })
const OneParams = Type.Object({ providerId: Type.String() })

const fcmMembers = {
  serviceAccountFilename: Type.Optional(Type.String({ maxLength: 255 })),
  serviceAccountCreds: Type.Object({
    project_id: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9:._-]+$' }),
    client_email: line,
    private_key: pem,
    private_key_id: Type.Optional(line),
  }),
  notificationInPayload: Type.Optional(
    Type.Object(
      { ios: Type.Optional(Pair), android: Type.Optional(Pair), web: Type.Optional(Pair) },
      {
        description:
          'Whether a push has the key `notification`, which the system shows by itself. Default `true` for ios, else `false`. Without it, iPhones wake the app in the background, a few times an hour at most',
      },
    ),
  ),
}

const FcmProvider = Type.Object(
  {
    providerId: Type.String(),
    isDefault: Type.Boolean(),
    serviceAccountFilename: Type.Optional(Type.String()),
    serviceAccountCreds: Type.Object(
      {
        project_id: Type.String(),
        client_email: Type.String(),
        private_key: Type.String({ description: 'Shortened' }),
        private_key_id: Type.Optional(Type.String()),
      },
      { additionalProperties: false },
    ),
    notificationInPayload: Type.Object({ ios: Pair, android: Pair, web: Pair }, { additionalProperties: false }),
  },
  { additionalProperties: false },
)
export type FcmProvider = Static<typeof FcmProvider>

const fcm = { ...ofProviders, path: '/notifications/push/v1/providers/fcm' } as const
const apns = { ...ofProviders, path: '/notifications/push/v1/providers/apns' } as const

export const listFcmProviders = defineOperation({
  ...fcm,
  id: 'notifications-push-list-fcm-providers',
  method: 'GET',
  summary: 'List the FCM providers',
  description: 'Private keys are shortened.',
  answer: enveloped(Type.Object({ pushProviders: Type.Array(FcmProvider) })),
})

export const addFcmProvider = defineOperation({
  ...fcm,
  id: 'notifications-push-add-fcm-provider',
  method: 'POST',
  summary: 'Add an FCM provider',
  description: 'The first one is the default. `token_uri` and other addresses in credentials are ignored.',
  body: Type.Object({ providerId, ...fcmMembers }),
  answer: Done,
  errors: taken,
})

export const updateFcmProvider = defineOperation({
  ...fcm,
  id: 'notifications-push-update-fcm-provider',
  method: 'PUT',
  summary: 'Update an FCM provider',
  description: 'What is left out stays unchanged.',
  body: Type.Object({
    providerId,
    ...fcmMembers,
    serviceAccountCreds: Type.Optional(Type.Partial(fcmMembers.serviceAccountCreds)),
  }),
  answer: Done,
  errors: missingProvider,
})

export const deleteFcmProvider = defineOperation({
  ...fcm,
  id: 'notifications-push-delete-fcm-provider',
  method: 'DELETE',
  path: '/notifications/push/v1/providers/fcm/{providerId}',
  summary: 'Remove an FCM provider with the devices registered for it',
  description: 'These devices get no pushes until they are registered again.',
  params: OneParams,
  answer: Done,
  errors: missingProvider,
})

export const setDefaultFcmProvider = defineOperation({
  ...fcm,
  id: 'notifications-push-default-fcm-provider',
  method: 'PUT',
  path: '/notifications/push/v1/providers/fcm/default/{providerId}',
  summary: 'Make an FCM provider the default',
  description: 'Devices that are registered without a provider get pushes by the default one.',
  params: OneParams,
  answer: Done,
  errors: missingProvider,
})

const apnsMembers = {
  keyId: Type.String({ pattern: '^[A-Z0-9]{10}$' }),
  teamId: Type.String({ pattern: '^[A-Z0-9]{10}$' }),
  bundleId: Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9.-]+$' }),
  p8KeyFilename: Type.Optional(Type.String({ maxLength: 255 })),
  p8Key: pem,
  includeContentAvailable: Type.Optional(Type.Boolean()),
  includeMutableContent: Type.Optional(Type.Boolean()),
  productionMode: Type.Optional(Type.Boolean({ description: 'false: the sandbox. Default false' })),
}

const ApnsProvider = Type.Object(
  {
    providerId: Type.String(),
    isDefault: Type.Optional(Type.Boolean({ description: 'In lists' })),
    keyId: Type.String(),
    teamId: Type.String(),
    bundleId: Type.String(),
    p8KeyFilename: Type.Optional(Type.String()),
    p8Key: Type.String({ description: 'Shortened' }),
    includeContentAvailable: Type.Boolean(),
    includeMutableContent: Type.Boolean(),
    productionMode: Type.Boolean(),
  },
  { additionalProperties: false },
)
export type ApnsProvider = Static<typeof ApnsProvider>
const ApnsProviders = enveloped(Type.Object({ pushProviders: Type.Array(ApnsProvider) }))

export const listApnsProviders = defineOperation({
  ...apns,
  id: 'notifications-push-list-apns-providers',
  method: 'GET',
  summary: 'List the APNs providers',
  description: 'Keys are shortened.',
  answer: ApnsProviders,
})

export const addApnsProvider = defineOperation({
  ...apns,
  id: 'notifications-push-add-apns-provider',
  method: 'POST',
  summary: 'Add an APNs provider',
  description: 'The first one is the default.',
  body: Type.Object({ providerId, ...apnsMembers }),
  answer: ApnsProviders,
  errors: taken,
})

export const updateApnsProvider = defineOperation({
  ...apns,
  id: 'notifications-push-update-apns-provider',
  method: 'PUT',
  summary: 'Update an APNs provider',
  description: 'What is left out stays unchanged.',
  body: Type.Object({ ...Type.Partial(Type.Object(apnsMembers)).properties, providerId }),
  answer: Done,
  errors: missingProvider,
})

export const deleteApnsProvider = defineOperation({
  ...apns,
  id: 'notifications-push-delete-apns-provider',
  method: 'DELETE',
  path: '/notifications/push/v1/providers/apns/{providerId}',
  summary: 'Remove an APNs provider with the devices registered for it',
  description: 'These devices get no pushes until they are registered again.',
  params: OneParams,
  answer: Done,
  errors: missingProvider,
})

export const setDefaultApnsProvider = defineOperation({
  ...apns,
  id: 'notifications-push-default-apns-provider',
  method: 'PUT',
  path: '/notifications/push/v1/providers/apns/default/{providerId}',
  summary: 'Make an APNs provider the default',
  description: 'Devices that are registered without a provider get pushes by the default one.',
  params: OneParams,
  answer: Done,
  errors: missingProvider,
})

/** A device to try a provider on. */
const TrialBody = Type.Object({
  pushToken: Type.String({ minLength: 1, maxLength: 4096, description: 'A registered token of the device' }),
})

export const testFcmProvider = defineOperation({
  ...fcm,
  id: 'test-fcm-provider',
  method: 'POST',
  path: '/notifications/push/v1/providers/fcm/test/{providerId}',
  summary: 'Send a trial by an FCM provider',
  description: 'Sends one push with made-up content to a device, and returns the result.',
  params: OneParams,
  body: TrialBody,
  answer: enveloped(Trial),
  errors: missingProvider,
})

export const testApnsProvider = defineOperation({
  ...apns,
  id: 'test-apns-provider',
  method: 'POST',
  path: '/notifications/push/v1/providers/apns/test/{providerId}',
  summary: 'Send a trial by an APNs provider',
  description: 'Sends one push with made-up content to a device, and returns the result.',
  params: OneParams,
  body: TrialBody,
  answer: enveloped(Trial),
  errors: missingProvider,
})
