import { type Static, Type } from 'typebox'
import { limits } from '../limits.ts'
import { defineOperation } from '../operation.ts'
import {
  EpochSecondsIn,
  enveloped,
  JsonObject,
  NoParams,
  NoQuery,
  Outcome,
  oneOf,
  pageOf,
  pageQuery,
} from '../schemas.ts'
import { OutcomeByUid } from './blocked-users.ts'

/** A webhook. Responses never include the password, and the secret only when it is created. */
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
    triggers: Type.Array(Type.String(), { description: 'Ids of the triggers it is subscribed to' }),
    disabledReason: Type.Optional(Type.String({ description: 'Why the service disabled it' })),
    disabledAt: Type.Optional(Type.Integer({ description: 'Epoch seconds' })),
    failingSince: Type.Optional(
      Type.Integer({ description: 'Epoch seconds of the first failure since the last success' }),
    ),
    secret: Type.Optional(Type.String({ description: '`whsec_...`; only in the response to its creation' })),
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
  },
  { additionalProperties: false },
)
export type Webhook = Static<typeof Webhook>

const DeliveryStatus = oneOf('pending', 'delivered', 'failed')

/** The delivery of one event to one webhook. */
export const Delivery = Type.Object(
  {
    id: Type.String({ description: 'Same as the header `webhook-id`' }),
    eventId: Type.String({ description: 'Id of the event; can be used as a cursor of `GET /events`' }),
    trigger: Type.String(),
    status: DeliveryStatus,
    attempts: Type.Integer(),
    createdAt: Type.Integer({ description: 'Epoch seconds of the event' }),
    attemptedAt: Type.Optional(Type.Integer({ description: 'Epoch seconds of the last attempt' })),
    nextAttemptAt: Type.Optional(
      Type.Integer({ description: 'Epoch seconds; absent if there will be no further attempt' }),
    ),
    answer: Type.Optional(
      Type.Object(
        {
          status: Type.Integer({ description: 'HTTP status of the last attempt' }),
          excerpt: Type.Optional(Type.String({ description: 'Start of the response body; kept for failures only' })),
        },
        { additionalProperties: false },
      ),
    ),
    error: Type.Optional(Type.String({ description: 'Why the last attempt failed' })),
    durationMs: Type.Optional(Type.Integer({ description: 'Duration of the last attempt' })),
    test: Type.Optional(Type.Boolean({ description: 'Sent by `POST /webhooks/{id}/test`' })),
  },
  { additionalProperties: false },
)
export type Delivery = Static<typeof Delivery>

const AppParams = { appId: Type.String({ description: 'The app that the API key belongs to' }) }
const OneParams = { webhookId: Type.String() }

/** The envelope of a new webhook. It cannot be changed later. */
const VersionHeader = Type.Object({
  'X-Webhook-Version': Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2, description: '1: legacy envelope. 2 (the default): current envelope.' }),
  ),
})

const alphanumeric = '^[A-Za-z0-9]+$'
const settings = {
  name: Type.String({ minLength: 1, maxLength: 50 }),
  webhookURL: Type.String({ minLength: 1, maxLength: 255, description: 'An https URL with a public address' }),
  useBasicAuth: Type.Boolean(),
  username: Type.String({ minLength: 1, maxLength: 50, pattern: alphanumeric }),
  password: Type.String({ minLength: 1, maxLength: 100, pattern: alphanumeric }),
  enabled: Type.Boolean(),
  retryOnFailure: Type.Boolean({
    description: 'Retry if the endpoint does not respond with 2xx in time. Default false',
  }),
  triggers: Type.Array(Type.String(), { maxItems: 100, description: 'Trigger ids; replaces the whole list' }),
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
/** `/webhooks`: the same for the app of the API key. */
const here = { path: '/webhooks', params: NoParams } as const
const oneHere = { path: '/webhooks/{webhookId}', params: Type.Object(OneParams) } as const
const triggersHere = { ...oneHere, path: '/webhooks/{webhookId}/triggers' } as const

const ofApp = ['ERR_APP_NOT_FOUND'] as const
const ofOne = ['ERR_WEBHOOK_NOT_FOUND'] as const
const ofOneInApp = [...ofApp, ...ofOne] as const

const create = {
  ...shared,
  method: 'POST',
  summary: 'Create a webhook',
  description: `An app can have ${limits.webhooks.perApp} unless its settings say otherwise. The response contains the secret that deliveries are signed with; it is not shown again.`,
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
  description: 'Without their secrets. Those that the service has disabled say why.',
  query: Type.Object({
    searchKey: Type.Optional(Type.String({ description: 'Part of the name' })),
    ...pageQuery(),
  }),
  answer: pageOf(Webhook),
} as const

const get = {
  ...shared,
  method: 'GET',
  summary: 'Get a webhook',
  description: 'Without its secret. One that the service has disabled says why.',
  answer: enveloped(Webhook),
} as const

const update = {
  ...shared,
  method: 'PUT',
  summary: 'Update a webhook',
  description:
    'Enabling a webhook sends the deliveries that are waiting and clears disabledReason. `triggers` replaces the whole list.',
  body: Type.Partial(Type.Object(settings)),
  answer: enveloped(Webhook),
} as const

const remove = {
  ...shared,
  method: 'DELETE',
  summary: 'Delete a webhook and its pending deliveries',
  description: 'For good, with the record of its deliveries.',
  answer: enveloped(Outcome),
} as const

const addTriggers = {
  ...shared,
  method: 'POST',
  summary: 'Subscribe a webhook to triggers',
  description:
    'Added to those that it has; the response has an outcome for each. An unknown one does not stop the others.',
  body: TriggerIdsBody,
  answer: enveloped(OutcomeByUid),
} as const

const listTriggersOf = {
  ...shared,
  method: 'GET',
  summary: 'List the triggers of a webhook',
  description: 'With what each is about.',
  answer: pageOf(Type.Object({ id: Type.String(), description: Type.String() })),
} as const

const removeTriggers = {
  ...shared,
  method: 'DELETE',
  summary: 'Unsubscribe a webhook from triggers',
  description: 'The others stay. A trigger that it is not subscribed to is not an error.',
  body: TriggerIdsBody,
  answer: enveloped(Outcome),
} as const

/** The titles of the operations below `/webhooks`: those of the public contract have the plain ones. */
function short(summary: string): string {
  return `${summary} (short path)`
}

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

export const createWebhookHere = defineOperation({
  ...create,
  ...here,
  summary: short(create.summary),
  id: 'create-webhook-here',
  errors: taken,
})
export const listWebhooksHere = defineOperation({
  ...list,
  ...here,
  summary: short(list.summary),
  id: 'list-webhooks-here',
  errors: [],
})
export const getWebhookHere = defineOperation({
  ...get,
  ...oneHere,
  summary: short(get.summary),
  id: 'get-webhook-here',
  errors: ofOne,
})
export const updateWebhookHere = defineOperation({
  ...update,
  ...oneHere,
  summary: short(update.summary),
  id: 'update-webhook-here',
  errors: ofOne,
})
export const deleteWebhookHere = defineOperation({
  ...remove,
  ...oneHere,
  summary: short(remove.summary),
  id: 'delete-webhook-here',
  errors: ofOne,
})
export const addWebhookTriggersHere = defineOperation({
  ...addTriggers,
  ...triggersHere,
  summary: short(addTriggers.summary),
  id: 'add-triggers-here',
  errors: ofOne,
})
export const listWebhookTriggersHere = defineOperation({
  ...listTriggersOf,
  ...triggersHere,
  summary: short(listTriggersOf.summary),
  id: 'list-triggers-here',
  errors: ofOne,
})
export const removeWebhookTriggersHere = defineOperation({
  ...removeTriggers,
  ...triggersHere,
  summary: short(removeTriggers.summary),
  id: 'remove-triggers-here',
  errors: [...ofOne, ...unknownTrigger],
})

export const listTriggers = defineOperation({
  ...shared,
  id: 'list-all-triggers',
  method: 'GET',
  path: '/triggers',
  summary: 'List all triggers that webhooks can subscribe to',
  description:
    'Triggers of calls, meetings and campaigns are accepted, but never fire: this service does not have these features.',
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
  summary: 'Create a new signing secret for a webhook',
  description:
    'The old secret stays valid for a while; until then deliveries are signed with both. Secrets that were replaced before sign too, for as long as was said then.',
  body: Type.Object({
    oldValidForSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'Seconds that the old secret is still used; default one day. 0 ends all old secrets',
      }),
    ),
  }),
  answer: enveloped(
    Type.Object({
      secret: Type.String({ description: '`whsec_...`; not shown again' }),
      oldSecretValidUntil: Type.Integer({ description: 'Epoch seconds' }),
    }),
  ),
})

export const testWebhook = defineOperation({
  ...beyond,
  id: 'test-webhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/test',
  summary: 'Send a test event to a webhook',
  description:
    'Sends one sample event at once, signed like any delivery, even if the webhook is disabled, and returns the result. The event is message_sent (in the legacy envelope after_message) with made-up content. It is not retried.',
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
  summary: 'List the deliveries of a webhook, newest first',
  description: '`from` and `to` limit the time of the event. For the next page, send the fields of `meta.next`.',
  query: Type.Object({
    ...deliveryFilters,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    before: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Id of a delivery: only older ones' }),
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

export const getDelivery = defineOperation({
  ...beyond,
  id: 'get-delivery',
  method: 'GET',
  path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
  summary: 'Get a delivery of a webhook with its body',
  description: 'Bodies are not stored: it is the one that an attempt would send now.',
  params: Type.Object({ ...OneParams, deliveryId: Type.String() }),
  answer: enveloped(
    Type.Object(
      {
        ...Delivery.properties,
        body: Type.Optional({
          ...JsonObject,
          description: 'Absent where the event is no longer stored, or the webhook cannot be called with it',
        }),
      },
      { additionalProperties: false },
    ),
  ),
  errors: ['ERR_WEBHOOK_NOT_FOUND', 'ERR_DELIVERY_NOT_FOUND'],
})

export const redeliver = defineOperation({
  ...beyond,
  id: 'redeliver-delivery',
  method: 'POST',
  path: '/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
  summary: 'Resend one delivery of a webhook',
  description: 'Whatever its status, it is sent again soon, with the same webhook-id, and retried like a new one.',
  params: Type.Object({ ...OneParams, deliveryId: Type.String() }),
  answer: enveloped(Delivery),
  errors: ['ERR_WEBHOOK_NOT_FOUND', 'ERR_DELIVERY_NOT_FOUND'],
})

export const redeliverMany = defineOperation({
  ...beyond,
  id: 'redeliver-deliveries',
  method: 'POST',
  path: '/webhooks/{webhookId}/deliveries/redeliver',
  summary: 'Resend deliveries of a webhook, by status and time',
  description: 'They are sent again soon, with the same webhook-ids, and retried like new ones.',
  body: Type.Object({ ...deliveryFilters, status: DeliveryStatus }),
  answer: enveloped(
    Type.Object({ count: Type.Integer({ description: 'Number of deliveries that will be sent again' }) }),
  ),
})
