import { type Static, Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { EpochSecondsIn, enveloped, NoParams, NoQuery, Outcome, oneOf, pageOf, pageQuery } from '../schemas.ts'
import { OutcomeByUid } from './blocked-users.ts'

/** Where deliveries go. The password is never answered, the secret only when it is made. */
export const Webhook = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    webhookURL: Type.String(),
    version: Type.Integer({ description: '2: current envelope, 1: legacy envelope' }),
    enabled: Type.Boolean(),
    useBasicAuth: Type.Boolean(),
    username: Type.Optional(Type.String()),
    retryOnFailure: Type.Boolean(),
    triggers: Type.Array(Type.String(), { description: 'Ids of the triggers that it is subscribed to' }),
    disabledReason: Type.Optional(Type.String({ description: 'Why the service itself disabled it' })),
    disabledAt: Type.Optional(Type.Integer({ description: 'Epoch seconds' })),
    failingSince: Type.Optional(
      Type.Integer({ description: 'Epoch seconds of the first failure since the last success' }),
    ),
    secret: Type.Optional(Type.String({ description: '`whsec_...`, only in the answer to creation' })),
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
  },
  { additionalProperties: false },
)
export type Webhook = Static<typeof Webhook>

const DeliveryStatus = oneOf('pending', 'delivered', 'failed')

/** One event on its way to one webhook. */
export const Delivery = Type.Object(
  {
    id: Type.String({ description: 'The same as the header `webhook-id`' }),
    eventId: Type.String({ description: 'Id of the event, the cursor of `GET /events`' }),
    trigger: Type.String(),
    status: DeliveryStatus,
    attempts: Type.Integer(),
    createdAt: Type.Integer({ description: 'Epoch seconds of the event' }),
    attemptedAt: Type.Optional(Type.Integer({ description: 'Epoch seconds of the last attempt' })),
    nextAttemptAt: Type.Optional(Type.Integer({ description: 'Epoch seconds; absent when nothing more is to come' })),
    answer: Type.Optional(
      Type.Object(
        {
          status: Type.Integer({ description: 'HTTP status of the last attempt' }),
          excerpt: Type.Optional(Type.String({ description: 'Beginning of the body; kept of failures only' })),
        },
        { additionalProperties: false },
      ),
    ),
    error: Type.Optional(Type.String({ description: 'Why the last attempt failed' })),
    durationMs: Type.Optional(Type.Integer({ description: 'Of the last attempt' })),
    test: Type.Optional(Type.Boolean({ description: 'Sent by `POST /webhooks/{id}/test`' })),
  },
  { additionalProperties: false },
)
export type Delivery = Static<typeof Delivery>

const AppParams = { appId: Type.String({ description: 'The app of the credential' }) }
const OneParams = { webhookId: Type.String() }

/** Which envelope a new webhook gets; webhooks keep theirs. */
const VersionHeader = Type.Object({
  'X-Webhook-Version': Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2, description: '1: legacy envelope. 2 or nothing: the current one.' }),
  ),
})

const alphanumeric = '^[A-Za-z0-9]+$'
const settings = {
  name: Type.String({ minLength: 1, maxLength: 50 }),
  webhookURL: Type.String({ minLength: 1, maxLength: 255, description: 'https, and public' }),
  useBasicAuth: Type.Boolean(),
  username: Type.String({ minLength: 1, maxLength: 50, pattern: alphanumeric }),
  password: Type.String({ minLength: 1, maxLength: 100, pattern: alphanumeric }),
  enabled: Type.Boolean(),
  retryOnFailure: Type.Boolean({ description: 'Try again after an answer that is no 2xx, or none. Default false' }),
  triggers: Type.Array(Type.String(), { maxItems: 100, description: 'The whole list, by trigger id' }),
}

const TriggerIdsBody = Type.Object({ triggerIds: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }) })

const shared = {
  area: 'Webhooks',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  headers: VersionHeader,
  query: NoQuery,
} as const

/** `/apps/{appId}/webhooks`, as in the public contract. */
const inApp = { path: '/apps/{appId}/webhooks', params: Type.Object(AppParams) } as const
const oneInApp = {
  path: '/apps/{appId}/webhooks/{webhookId}',
  params: Type.Object({ ...AppParams, ...OneParams }),
} as const
const triggersInApp = { ...oneInApp, path: '/apps/{appId}/webhooks/{webhookId}/triggers' } as const
/** `/webhooks`: the same, shorter. */
const here = { path: '/webhooks', params: NoParams } as const
const oneHere = { path: '/webhooks/{webhookId}', params: Type.Object(OneParams) } as const
const triggersHere = { ...oneHere, path: '/webhooks/{webhookId}/triggers' } as const

const ofApp = ['ERR_APP_NOT_FOUND'] as const
const ofOne = ['ERR_WEBHOOK_NOT_FOUND'] as const
const ofOneInApp = [...ofApp, ...ofOne] as const

const create = {
  ...shared,
  method: 'POST',
  summary: 'Register a webhook',
  description:
    'An app may have 25. The answer holds the secret that deliveries are signed with, and is the only one to.',
  body: Type.Object({
    id: Type.String({ minLength: 1, maxLength: 50, pattern: '^[A-Za-z0-9_-]+$' }),
    name: settings.name,
    webhookURL: settings.webhookURL,
    useBasicAuth: Type.Optional(settings.useBasicAuth),
    username: Type.Optional(settings.username),
    password: Type.Optional(settings.password),
    enabled: Type.Optional(settings.enabled),
    retryOnFailure: Type.Optional(settings.retryOnFailure),
    triggers: Type.Optional(settings.triggers),
  }),
  answer: enveloped(Webhook),
} as const

const list = {
  ...shared,
  method: 'GET',
  summary: 'List webhooks, newest first',
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ description: 'Part of the name' })),
    ...pageQuery(),
  }),
  answer: pageOf(Webhook),
} as const

const get = { ...shared, method: 'GET', summary: 'Read one webhook', answer: enveloped(Webhook) } as const

const update = {
  ...shared,
  method: 'PUT',
  summary: 'Change a webhook',
  description:
    'Enabling it makes what waits due again and takes the reason for which the service had disabled it. `triggers` sets the whole list.',
  body: Type.Partial(Type.Object(settings)),
  answer: enveloped(Webhook),
} as const

const remove = {
  ...shared,
  method: 'DELETE',
  summary: 'Remove a webhook with what is still to be delivered to it',
  answer: enveloped(Outcome),
} as const

const addTriggers = {
  ...shared,
  method: 'POST',
  summary: 'Subscribe a webhook to triggers',
  body: TriggerIdsBody,
  answer: enveloped(OutcomeByUid),
} as const

const listTriggersOf = {
  ...shared,
  method: 'GET',
  summary: 'List the triggers that a webhook is subscribed to',
  answer: pageOf(Type.Object({ id: Type.String(), description: Type.String() })),
} as const

const removeTriggers = {
  ...shared,
  method: 'DELETE',
  summary: 'Unsubscribe a webhook from triggers',
  body: TriggerIdsBody,
  answer: enveloped(Outcome),
} as const

const taken = ['ERR_WEBHOOK_ALREADY_EXISTS'] as const
const unknownTrigger = ['ERR_TRIGGER_NOT_FOUND'] as const

export const createWebhook = defineOperation({
  ...create,
  ...inApp,
  id: 'create-webhook',
  errors: [...ofApp, ...taken],
})
export const listWebhooks = defineOperation({ ...list, ...inApp, id: 'list-webhooks', errors: ofApp })
export const getWebhook = defineOperation({ ...get, ...oneInApp, id: 'get-webhook', errors: ofOneInApp })
export const updateWebhook = defineOperation({ ...update, ...oneInApp, id: 'update-webhook', errors: ofOneInApp })
export const deleteWebhook = defineOperation({ ...remove, ...oneInApp, id: 'delete-webhook', errors: ofOneInApp })
export const addWebhookTriggers = defineOperation({
  ...addTriggers,
  ...triggersInApp,
  id: 'add-triggers',
  errors: ofOneInApp,
})
export const listWebhookTriggers = defineOperation({
  ...listTriggersOf,
  ...triggersInApp,
  id: 'list-triggers',
  errors: ofOneInApp,
})
export const removeWebhookTriggers = defineOperation({
  ...removeTriggers,
  ...triggersInApp,
  id: 'remove-triggers',
  errors: [...ofOneInApp, ...unknownTrigger],
})

export const createWebhookHere = defineOperation({ ...create, ...here, id: 'create-webhook-here', errors: taken })
export const listWebhooksHere = defineOperation({ ...list, ...here, id: 'list-webhooks-here', errors: [] })
export const getWebhookHere = defineOperation({ ...get, ...oneHere, id: 'get-webhook-here', errors: ofOne })
export const updateWebhookHere = defineOperation({ ...update, ...oneHere, id: 'update-webhook-here', errors: ofOne })
export const deleteWebhookHere = defineOperation({ ...remove, ...oneHere, id: 'delete-webhook-here', errors: ofOne })
export const addWebhookTriggersHere = defineOperation({
  ...addTriggers,
  ...triggersHere,
  id: 'add-triggers-here',
  errors: ofOne,
})
export const listWebhookTriggersHere = defineOperation({
  ...listTriggersOf,
  ...triggersHere,
  id: 'list-triggers-here',
  errors: ofOne,
})
export const removeWebhookTriggersHere = defineOperation({
  ...removeTriggers,
  ...triggersHere,
  id: 'remove-triggers-here',
  errors: [...ofOne, ...unknownTrigger],
})

export const listTriggers = defineOperation({
  ...shared,
  id: 'list-all-triggers',
  method: 'GET',
  path: '/triggers',
  summary: 'List every trigger that a webhook can subscribe to',
  description: 'Those of calls, meetings and campaigns are accepted and never fired: they are outside this service.',
  params: NoParams,
  answer: pageOf(Type.Object({ id: Type.String(), category: Type.String(), description: Type.String() })),
  errors: [],
})

const beyond = { ...shared, ...oneHere, headers: Type.Object({}), errors: ofOne } as const

export const renewWebhookSecret = defineOperation({
  ...beyond,
  id: 'renew-webhook-secret',
  method: 'POST',
  path: '/webhooks/{webhookId}/secret',
  summary: 'Make a new secret that deliveries are signed with',
  description: 'The old one stays valid for a while, in which deliveries carry a signature of each.',
  body: Type.Object({
    oldValidForSeconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 604_800, description: 'How long the old secret still signs; default a day' }),
    ),
  }),
  answer: enveloped(
    Type.Object({
      secret: Type.String({ description: '`whsec_...`; answered this once' }),
      oldSecretValidUntil: Type.Integer({ description: 'Epoch seconds' }),
    }),
  ),
})

export const testWebhook = defineOperation({
  ...beyond,
  id: 'test-webhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/test',
  summary: 'Send a sample event now and answer what came back',
  description:
    'One attempt, signed as any delivery, also to a webhook that is disabled. The event is message_sent, in the legacy envelope after_message, with made-up content.',
  answer: enveloped(Delivery),
})

const deliveryFilters = {
  status: Type.Optional(DeliveryStatus),
  trigger: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  from: Type.Optional(EpochSecondsIn),
  to: Type.Optional(EpochSecondsIn),
}

export const listDeliveries = defineOperation({
  ...beyond,
  id: 'list-deliveries',
  method: 'GET',
  path: '/webhooks/{webhookId}/deliveries',
  summary: 'List the deliveries to a webhook, newest first',
  description: '`from` and `to` bound the time of the event. For the next page send the members of `meta.next` back.',
  query: Type.Object({
    ...deliveryFilters,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    before: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Id of a delivery: older ones only' }),
    ),
  }),
  answer: Type.Object({
    data: Type.Array(Delivery),
    meta: Type.Object({
      current: Type.Object({ limit: Type.Integer(), count: Type.Integer() }),
      next: Type.Optional(Type.Object({ before: Type.String() })),
    }),
  }),
})

export const redeliver = defineOperation({
  ...beyond,
  id: 'redeliver-delivery',
  method: 'POST',
  path: '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
  summary: 'Send one delivery again, whatever became of it',
  description: 'It is sent soon, with the same webhook-id, and tried again like a new one.',
  params: Type.Object({ ...OneParams, deliveryId: Type.String() }),
  answer: enveloped(Delivery),
  errors: ['ERR_WEBHOOK_NOT_FOUND', 'ERR_DELIVERY_NOT_FOUND'],
})

export const redeliverMany = defineOperation({
  ...beyond,
  id: 'redeliver-deliveries',
  method: 'POST',
  path: '/webhooks/{webhookId}/deliveries/redeliver',
  summary: 'Send deliveries again, by status and time',
  body: Type.Object({ ...deliveryFilters, status: DeliveryStatus }),
  answer: enveloped(Type.Object({ count: Type.Integer({ description: 'Deliveries that will be sent again' }) })),
})
