import type { HealthCheck, HealthConcerned } from '@parley/contract'
import { sql } from 'kysely'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { isBlockedWaiting, isFlaggedWaiting } from '../../moderation/index.ts'
import { found, lengthOf, nowSeconds } from './judge.ts'

/** Failures one after the other at which an endpoint is left alone for a while (delivery/outbound/breaker.ts). */
const manyFailures = 10
const shown = 20
/** What is due for longer waits for more than its turn. */
const patienceSeconds = 300
const queuePatienceSeconds = 86_400
const engineSeconds = { warning: 60, failing: 600 }
const counted = 10_000

/** @param appId one app, or null for all */
const ofApp = (alias: string, appId: number | null): Fragment =>
  appId === null ? sql`true` : sql`${sql.ref(`${alias}.app_id`)} = ${appKey(appId)}`

interface EndpointRow {
  readonly appId: string
  readonly id: string
  readonly failures: number
  /** Epoch seconds. */
  readonly since: number
  readonly disabledReason: string | null
  readonly total: number
}

// What is of a paused app waits because it is paused, and is nobody's failure.
const failingWebhooks = (appId: number | null) => sql<EndpointRow>`
  select a.name as "appId", w.id, s.failures, coalesce(w.disabled_at, s.failing_since / 1000) as since,
    w.disabled_reason as "disabledReason", count(*) over () as total
  from webhooks w
  join webhook_states s on s.app_id = w.app_id and s.webhook = w.key
  join apps a on a.app_id = w.app_id
  where ${ofApp('w', appId)}
  and a.paused_at is null
  and (w.enabled and s.failing_since is not null or w.disabled_reason is not null)
  order by since, a.name, w.id
  limit ${shown}`

const failingProviders = (appId: number | null) => sql<EndpointRow>`
  select a.name as "appId", p.channel || ' ' || p.kind || ' ' || p.id as id, s.failures, s.failing_since / 1000 as since,
    null as "disabledReason", count(*) over () as total
  from notification_providers p
  join notification_senders s on s.app_id = p.app_id and s.provider = p.key
  join apps a on a.app_id = p.app_id
  where ${ofApp('p', appId)}
  and a.paused_at is null
  and p.enabled
  and s.failing_since is not null
  order by since, a.name, p.id
  limit ${shown}`

/** What waits to be delivered or sent; what a paused app holds back is not late. */
export interface Waiting {
  readonly enabled: number
  readonly pending: number
  /** Epoch seconds. */
  readonly oldestAt: number | null
}

/**
 * How much waits at endpoints, and since when. Each of them is looked at, by the indexes of those who deliver to it.
 * @param endpoints their table
 * @param portion what waits at the endpoint `e`, the longest due first, and at most so much of it
 */
const waitingAt = (endpoints: Fragment, appId: number | null, portion: (limit: number) => Fragment) => sql<Waiting>`
  with served as (
    select e.app_id, e.key
    from ${endpoints} e
    join apps a on a.app_id = e.app_id and a.paused_at is null
    where ${ofApp('e', appId)}
    and e.enabled
  )
  select (select count(*) from ${endpoints} e where ${ofApp('e', appId)} and e.enabled) as enabled,
    (
      select count(*)
      from (select from served e cross join lateral (${portion(counted)}) d limit ${counted}) d
    ) as pending,
    (select min(d.due_at) / 1000 from served e cross join lateral (${portion(1)}) d) as "oldestAt"`

/** First attempts are made, and so have been due, in the order of events. */
const waitingWebhooks = (appId: number | null) =>
  waitingAt(
    sql`webhooks`,
    appId,
    (limit) => sql`
      (
        select d.due_at
        from webhook_deliveries d
        where d.app_id = e.app_id
        and d.webhook = e.key
        and d.due_at is not null
        and d.attempts = 0
        order by d.id
        limit ${limit}
      )
      union all
      (
        select d.due_at
        from webhook_deliveries d
        where d.app_id = e.app_id
        and d.webhook = e.key
        and d.due_at is not null
        and d.attempts > 0
        order by d.due_at
        limit ${limit}
      )`,
  )

const waitingNotifications = (appId: number | null) =>
  waitingAt(
    sql`notification_providers`,
    appId,
    (limit) => sql`
      select d.due_at
      from notification_deliveries d
      where d.app_id = e.app_id
      and d.day = 0
      and d.provider = e.key
      and d.due_at is not null
      order by d.due_at
      limit ${limit}`,
  )

/** What waits for reviewers. */
export interface Queue {
  readonly flagged: number
  readonly blocked: number
  /** Epoch seconds. */
  readonly oldestAt: number | null
}

/** Messages `m` that wait in the app `a`, the oldest first: however many they are, the beginning is read. */
const oldestWaiting = (condition: Fragment) => sql`
    select count(*) as count, min(m.updated_at) as oldest
    from (
      select m.updated_at
      from message_moderation m
      where m.app_id = a.app_id
      and ${condition}
      order by m.updated_at
      limit ${counted}
    ) m`

/** The oldest first, as of a flag or a decision. */
const reviewQueue = (appId: number | null) => sql<Queue>`
  select least(sum(f.count), ${counted})::int as flagged, least(sum(b.count), ${counted})::int as blocked,
    least(min(f.oldest), min(b.oldest)) as "oldestAt"
  from apps a
  cross join lateral (
    select count(*) as count, min(q.opened_at) as oldest
    from (
      select q.opened_at
      from moderation_queue q
      where q.app_id = a.app_id
      and ${isFlaggedWaiting}
      order by q.opened_at
      limit ${counted}
    ) q
  ) f
  cross join lateral (
    ${oldestWaiting(isBlockedWaiting)}
  ) b
  where ${ofApp('a', appId)}`

/** The oldest first, as of a review; for what rules in shadow mode ask, no message waits. */
const waitingForEngines = (appId: number | null) => sql<{ pending: number; oldestAt: number | null }>`
  select coalesce(least(sum(m.count), ${counted})::int, 0) as pending, min(m.oldest) as "oldestAt"
  from apps a
  cross join lateral (
    ${oldestWaiting(sql`m.status = 'pending' and m.due_at is not null`)}
  ) m
  where ${ofApp('a', appId)}
  and a.paused_at is null`

/** How the endpoints and the queues of one app do, or of all. */
export async function lookAtApps(on: Queryable, appId: number | null) {
  const [webhooks, providers, [hooked], [notified], [queue], [engines]] = await Promise.all([
    on.run(failingWebhooks(appId)),
    on.run(failingProviders(appId)),
    on.run(waitingWebhooks(appId)),
    on.run(waitingNotifications(appId)),
    on.run(reviewQueue(appId)),
    on.run(waitingForEngines(appId)),
  ])
  const nothing: Waiting = { enabled: 0, pending: 0, oldestAt: null }
  const reviews = queue ?? { flagged: 0, blocked: 0, oldestAt: null }
  return {
    webhooks: hooked ?? nothing,
    notifications: notified ?? nothing,
    reviews,
    checks: [
      judgeEndpoints('webhooks', webhooks, hooked ?? nothing),
      judgeEndpoints('notifications', providers, notified ?? nothing),
      judgeQueue(reviews),
      judgeEngines(engines ?? { pending: 0, oldestAt: null }),
    ],
  }
}

const words = {
  webhooks: {
    one: 'webhook',
    waits: 'deliveries',
    fails:
      'See what the endpoint answers in its deliveries. What waits is delivered once it answers again; one that was disabled must be enabled.',
    lags: 'The endpoints answer slowly, or no process runs jobs: see the check of jobs.',
  },
  notifications: {
    one: 'notification provider',
    waits: 'notifications',
    fails:
      'Try the provider on its page, which shows what it answers, and look whether its credentials are still valid.',
    lags: 'The providers answer slowly, or no process runs jobs: see the check of jobs.',
  },
} as const

function judgeEndpoints(
  check: keyof typeof words,
  rows: readonly EndpointRow[],
  { enabled, pending, oldestAt }: Waiting,
): HealthCheck {
  const { one, waits, fails, lags } = words[check]
  const [first] = rows
  if (first !== undefined) {
    const isOut = rows.some(({ failures, disabledReason }) => failures >= manyFailures || disabledReason !== null)
    const says = first.total === 1 ? `1 ${one} fails.` : `${first.total} ${one}s fail.`
    const concerned = rows.map(showEndpoint)
    return { ...found(isOut ? 'failing' : 'warning', check, says, { advice: fails, since: first.since }), concerned }
  }
  const lag = oldestAt === null ? 0 : nowSeconds() - oldestAt
  if (lag > patienceSeconds) {
    const says = `The oldest of the ${waits} that wait has been due for ${lengthOf(lag)}.`
    return found('warning', check, says, { advice: lags, since: oldestAt })
  }
  const says = enabled === 0 ? `No ${one} is in use.` : `None of ${enabled} fails; ${numberOf(pending)} ${waits} wait.`
  return found('ok', check, says)
}

function numberOf(count: number): string {
  return count >= counted ? `${counted} or more` : String(count)
}

function showEndpoint({ appId, id, failures, since, disabledReason }: EndpointRow): HealthConcerned {
  const times = failures === 1 ? 'once' : `${failures} times in a row`
  return { appId, id, since, says: disabledReason === null ? `Failed ${times}.` : `Disabled: ${disabledReason}` }
}

function judgeQueue({ flagged, blocked, oldestAt }: Queue): HealthCheck {
  const waits = `${numberOf(flagged)} flagged and ${numberOf(blocked)} blocked messages wait for a review`
  const age = oldestAt === null ? 0 : nowSeconds() - oldestAt
  if (age <= queuePatienceSeconds) return found('ok', 'queue', `${waits}.`)
  return found('warning', 'queue', `${waits}, the oldest for ${lengthOf(age)}.`, {
    advice: 'Decide about them on the page Moderation, or invite more moderators.',
    since: oldestAt,
  })
}

function judgeEngines({ pending, oldestAt }: { pending: number; oldestAt: number | null }): HealthCheck {
  const age = oldestAt === null ? 0 : nowSeconds() - oldestAt
  const says = `${numberOf(pending)} messages wait for an answer of a moderation engine`
  if (age <= engineSeconds.warning) return found('ok', 'engines', `${says}.`)
  const state = age > engineSeconds.failing ? 'failing' : 'warning'
  return found(state, 'engines', `${says}, the oldest for ${lengthOf(age)}.`, {
    advice: 'See in the moderation log what the engines answered, and whether they can be reached.',
    since: oldestAt,
  })
}
