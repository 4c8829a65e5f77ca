import { Type } from 'typebox'
import { eventTriggerIds, PulledEvent } from '../events.ts'
import { defineOperation } from '../operation.ts'
import { NoParams, oneOf } from '../schemas.ts'

/** Beyond the public contract: the events of webhooks, to be pulled. */
export const listEvents = defineOperation({
  id: 'list-events',
  area: 'Webhooks',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'GET',
  path: '/events',
  summary: 'Pull events',
  description:
    'Events come in order, at least once, without gaps. The first request, without `after`, returns no events, only the ' +
    'cursor to start from. From then on, events of the app are stored; each request extends this for the retention time.',
  params: NoParams,
  query: Type.Object({
    after: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,16}$',
        description: '`meta.cursor` of the previous response; `0`: all that are stored since the app began to pull',
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
      cursor: Type.String({ description: 'For `after` of the next request' }),
      more: Type.Boolean({ description: 'More events are available' }),
    }),
  }),
  errors: [],
})
