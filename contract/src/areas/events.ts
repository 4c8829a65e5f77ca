import { Type } from 'typebox'
import { eventTriggerIds, PulledEvent } from '../events.ts'
import { defineOperation } from '../operation.ts'
import { NoParams, oneOf } from '../schemas.ts'

/** Beyond the public contract: what webhooks deliver, to be fetched. */
export const listEvents = defineOperation({
  id: 'list-events',
  area: 'Webhooks',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'GET',
  path: '/events',
  summary: 'Pull what happened',
  description:
    'In order, at least once, none left out. The first call, without `after`, answers no events but the cursor to go ' +
    'on from. Each call keeps the events of the app for as long as events are kept.',
  params: NoParams,
  query: Type.Object({
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,16}$',
        description: '`meta.cursor` of the call before; `0`: everything that is kept',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    triggers: Type.Optional(
      Type.Array(oneOf(...eventTriggerIds), { maxItems: 100, description: 'Only events of these triggers' }),
    ),
  }),
  answer: Type.Object({
    data: Type.Array(PulledEvent),
    meta: Type.Object({
      cursor: Type.String({ description: 'For `after` of the next call' }),
      more: Type.Boolean({ description: 'There is more already' }),
    }),
  }),
  errors: [],
})
