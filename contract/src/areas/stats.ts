import { Type } from 'typebox'
import { defineOperation } from '../operation.ts'
import { enveloped, NoParams, NoQuery } from '../schemas.ts'

/** Days that one request may ask for. */
export const maxStatsDays = 366

/** `/stats/messages` looks back this far, in steps of this size: milliseconds. */
export const statsWindowMs = 3_600_000
export const statsBucketMs = 300_000

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const moment = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 253_402_300_799_999,
    description: `${description}, in epoch seconds or milliseconds`,
  })

const Range = Type.Object({ fromDate: moment('Start of the range'), toDate: moment('End of the range') })

const TimeRange = Type.Object(
  { fromDate: Type.Integer(), toDate: Type.Integer() },
  { description: 'Epoch milliseconds' },
)

const ActiveUsers = Count(
  'Users who logged in, had a socket open or called with a token of their own, each counted once; by days in UTC',
)

export const getUsage = defineOperation({
  id: 'usage-metrics',
  area: 'Metrics',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'GET',
  path: '/stats',
  summary: 'Get usage figures of a time range',
  description: `A range has at most ${maxStatsDays} days. Days in UTC that it touches count whole for \`active_users\`, and stretches of five minutes for \`concurrent_users\`.`,
  params: NoParams,
  query: Range,
  answer: enveloped(
    Type.Object({
      metrics: Type.Object({
        audio_minutes: Count('Always 0: calls are not served'),
        video_minutes: Count('Always 0: calls are not served'),
        recorded_minutes: Count('Always 0: calls are not served'),
        active_users: ActiveUsers,
        concurrent_users: Count('The greatest number of sockets that were open at once'),
        concurrent_connections: Count('As `concurrent_users`, which counts sockets'),
        peak_at: Type.Optional(Type.Integer({ description: 'When that was, in epoch milliseconds' })),
      }),
      time_range: TimeRange,
    }),
  ),
  errors: ['ERR_BAD_REQUEST'],
})

const Milliseconds = Type.String({ description: 'Epoch milliseconds' })

export const getMessageStats = defineOperation({
  id: 'message-receipt-metrics',
  area: 'Metrics',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'GET',
  path: '/stats/messages',
  summary: 'Count messages and receipts of the last hour, in steps of five minutes',
  description: 'Twelve steps up to now, in UTC. Steps in which nothing happened are zeros.',
  params: NoParams,
  query: NoQuery,
  answer: enveloped(
    Type.Object({
      startTime: Milliseconds,
      endTime: Milliseconds,
      dataPoints: Type.Array(
        Type.Object({
          messagesSent: Count('Without actions, imports and repeats of a `muid`'),
          readReceipts: Count('Marks that rose'),
          deliveryReceipts: Count('Marks that rose; reading raises both'),
          startTime: Milliseconds,
          endTime: Milliseconds,
        }),
      ),
      appId: Type.String(),
    }),
  ),
  errors: [],
})

const Notifications = Type.Object({
  delivered: Count('Taken by the provider'),
  failed: Count('Refused by the provider, or not sent in time'),
  stopped: Count('Not sent: something decided against it'),
})

const RuleCounts = Type.Object({
  ruleId: Type.String(),
  hits: Count('Decisions in which a condition of it was met, in whatever mode'),
  shadow: Count('Those of them that only were logged'),
  blocked: Count('Messages that it blocked'),
  flagged: Count('Messages that it flagged'),
})

/** Beyond the public contract: the figures day by day. */
export const listDailyStats = defineOperation({
  id: 'list-daily-stats',
  area: 'Metrics',
  access: {},
  onBehalfOf: 'ignored',
  rateLimit: 'standard',
  method: 'GET',
  path: '/stats/daily',
  summary: 'List usage figures day by day',
  description: `One entry for each day in UTC that the range touches, also where nothing happened. A range has at most ${maxStatsDays} days.`,
  params: NoParams,
  query: Range,
  answer: enveloped(
    Type.Object({
      days: Type.Array(
        Type.Object({
          date: Type.String({ description: 'Such as `2026-01-31`' }),
          active_users: ActiveUsers,
          concurrent_users: Count('The greatest number of sockets that were open at once'),
          peak_at: Type.Optional(Type.Integer({ description: 'When that was, in epoch milliseconds' })),
          messages_sent: Count('As in `/stats/messages`'),
          read_receipts: Count('As in `/stats/messages`'),
          delivery_receipts: Count('As in `/stats/messages`'),
          notifications: Type.Object(
            { push: Notifications, email: Notifications, sms: Notifications },
            { description: 'Notifications that came to an end on this day, by channel' },
          ),
          rules: Type.Array(RuleCounts, {
            description:
              'What rules of moderation found on this day; of the last two days without messages that were removed for good',
          }),
        }),
      ),
      time_range: TimeRange,
    }),
  ),
  errors: ['ERR_BAD_REQUEST'],
})
