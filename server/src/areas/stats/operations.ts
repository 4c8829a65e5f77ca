import { getMessageStats, getUsage, listDailyStats, statsBucketMs, statsWindowMs } from '@parley/contract'
import { serve } from '../../call.ts'
import { dayMs } from '../../chat/usage/clock.ts'
import { countActiveUsers, readDays, readLastBuckets, readPeak } from './figures.ts'
import { readRange } from './range.ts'

export const operations = [
  serve(getUsage, async ({ app, query }, { database, usage }) => {
    const range = readRange(query)
    await usage.write()
    const [active, peak] = await Promise.all([
      countActiveUsers(database, app.appId, range),
      readPeak(database, app.appId, range),
    ])
    return {
      data: {
        metrics: {
          ...{ audio_minutes: 0, video_minutes: 0, recorded_minutes: 0 },
          active_users: active,
          concurrent_users: peak?.open ?? 0,
          concurrent_connections: peak?.open ?? 0,
          ...(peak && { peak_at: peak.at }),
        },
        time_range: range,
      },
    }
  }),

  serve(getMessageStats, async ({ app }, { database, usage }) => {
    await usage.write()
    const buckets = await readLastBuckets(database, app.appId, statsWindowMs / statsBucketMs)
    const [{ bucket: first }] = buckets
    const startOf = (bucket: number) => String(bucket * statsBucketMs)
    const dataPoints = buckets.map(({ bucket, sent, delivered, read }) => ({
      ...{ messagesSent: sent, readReceipts: read, deliveryReceipts: delivered },
      ...{ startTime: startOf(bucket), endTime: startOf(bucket + 1) },
    }))
    const range = { startTime: startOf(first), endTime: startOf(first + buckets.length) }
    return { data: { ...range, dataPoints, appId: app.name } }
  }),

  serve(listDailyStats, async ({ app, query }, { database, usage }) => {
    const range = readRange(query)
    await usage.write()
    const days = await readDays(database, app.appId, range)
    return {
      data: {
        days: days.map(({ day, active, peak, sent, delivered, read, notifications, rules }) => ({
          date: new Date(day * dayMs).toISOString().slice(0, 10),
          active_users: active,
          concurrent_users: peak?.open ?? 0,
          ...(peak && { peak_at: peak.at }),
          ...{ messages_sent: sent, read_receipts: read, delivery_receipts: delivered },
          notifications,
          rules,
        })),
        time_range: range,
      },
    }
  }),
]
