import { sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../../../store/database.ts'
import { isBlockedWaiting, isFlaggedWaiting } from './waiting.ts'

interface Waiting {
  readonly list: string
  readonly count: number
  readonly oldestAt: number | null
}

const countWaiting = sql<Waiting>`
  select 'flagged' as list, count(*) as count, min(q.opened_at) as "oldestAt"
  from moderation_queue q
  where ${isFlaggedWaiting}
  union all
  select 'blocked', count(*), min(m.updated_at)
  from message_moderation m
  where ${isBlockedWaiting}`

interface Hits {
  readonly app: string
  readonly rule: string
  readonly mode: string
  readonly hits: number
}

const countHits = (since: number) => sql<Hits>`
  select a.name as app, d.rule_id as rule, coalesce(d.mode, '') as mode, count(*) as hits
  from apps a
  join moderation_decisions d on d.app_id = a.app_id and d.at > ${since}
  where d.rule_id is not null
  group by a.name, d.rule_id, d.mode
  order by count(*) desc
  limit 1000`

/** Publishes what waits for reviewers, and what rules found, read when metrics are asked for. */
export function watchQueue(registry: Registry, database: Database): void {
  new Gauge({
    name: 'parley_moderation_queue',
    help: 'Messages that wait for reviewers, of all processes together',
    labelNames: ['list'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      // Metrics are answered while the database is away, without what only it knows.
      const rows = await database.run(countWaiting).catch(() => [])
      const now = Math.floor(Date.now() / 1000)
      for (const { list, count, oldestAt } of rows) {
        this.set({ list }, count)
        oldest.set({ list }, oldestAt === null ? 0 : Math.max(0, now - oldestAt))
      }
    },
  })
  const oldest = new Gauge({
    name: 'parley_moderation_queue_seconds',
    help: 'For how long the oldest of them waits',
    labelNames: ['list'],
    aggregator: 'max',
    registers: [registry],
  })
  new Gauge({
    name: 'parley_moderation_rule_hits',
    help: 'Hits of rules within the last 24 hours; of the 1,000 rules with most',
    labelNames: ['app', 'rule', 'mode'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const since = Math.floor(Date.now() / 1000) - 86_400
      const rows = await database.run(countHits(since)).catch(() => undefined)
      if (rows === undefined) return
      this.reset()
      for (const { app, rule, mode, hits } of rows) this.set({ app, rule, mode }, hits)
    },
  })
}
