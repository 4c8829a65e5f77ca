import { setTimeout as delay } from 'node:timers/promises'
import { type LiveFigure, milliseconds, quantile } from '../live/figures.ts'
import { progress } from '../progress.ts'
import { type Sent, sendSteadily } from './steady.ts'
import { type NotifyWorld, untilWaiting } from './world.ts'

/** Messages, half of them to devices of FCM. */
const perSecond = 200
const goals = { ratio: 1.5, drainedMs: 60_000 }

/** What APNs is told while FCM answers 503 to all, and how long it takes until FCM was told everything once it is back. */
export async function measureOutage(world: NotifyWorld): Promise<LiveFigure[]> {
  const { providers, extent, database } = world
  await untilWaiting(world, 0)
  await waysToApns(world, Math.min(extent.outage, 10))
  const usual = await waysToApns(world, Math.min(extent.outage, 60))
  await untilWaiting(world, 0)
  const startedAt = Math.floor(performance.timeOrigin + performance.now())
  await providers.letFcmFail(true)
  const during = await waysToApns(world, extent.outage)
  const waiting = await countWaiting(world)
  await providers.letFcmFail(false)
  const backAt = performance.now()
  progress(`FCM is back, and ${waiting} wait`)
  await untilWaiting(world, 0)
  const drainedMs = performance.now() - backAt
  const { rows } = await database.query<{ lost: string; late: string }>(
    `select count(*) filter (where status <> 'delivered') as lost, count(*) filter (where ended_at > expires_at) as late
    from notification_deliveries
    where created_at >= $1`,
    [startedAt],
  )
  const [before, then] = [quantile(usual, 0.99), quantile(during, 0.99)]
  const what = `FCM answers 503 for ${extent.outage} s at ${perSecond / 2} pushes a second`
  return [
    {
      what: `${what}: from commit to APNs, p99 beside the minute before`,
      value: `${(then / before).toFixed(2)} times`,
      beside: `${milliseconds(then)} to ${milliseconds(before)}`,
      goal: `at most ${goals.ratio} times`,
      met: then <= goals.ratio * before,
    },
    {
      what: `the ${waiting} that waited, sent and logged after it is back`,
      value: `within ${(drainedMs / 1000).toFixed(1)} s`,
      goal: `within ${goals.drainedMs / 1000} s`,
      met: drainedMs <= goals.drainedMs,
    },
    {
      what: 'not delivered, or past their time to live',
      value: `${rows[0]?.lost}, ${rows[0]?.late}`,
      goal: '0, 0',
      met: rows[0]?.lost === '0' && rows[0].late === '0',
    },
  ]
}

const isOfApns = ({ to }: Sent) => to % 2 === 1

/** Milliseconds from the answer to a send until APNs has the push. */
async function waysToApns({ service, apps, providers }: NotifyWorld, seconds: number): Promise<number[]> {
  progress(`${perSecond} messages a second for ${seconds} s`)
  await providers.gather()
  const sent = (await sendSteadily(service.port, apps.with, { perSecond, seconds })).filter(isOfApns)
  while ((await providers.count()).apns < sent.length) await delay(100)
  const arrivedAt = new Map((await providers.gather()).map(({ tag, at }) => [tag, at]))
  await providers.forget()
  // A push may be there before the answer.
  return sent.map(({ id, answeredAt }) => Math.max(0, (arrivedAt.get(id) ?? Number.NaN) - answeredAt))
}

async function countWaiting({ database }: NotifyWorld): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'select count(*) as count from notification_deliveries where day = 0 and due_at is not null',
  )
  return Number(rows[0]?.count)
}
