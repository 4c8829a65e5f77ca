import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readCandidates } from '../../src/delivery/notifications/candidates.ts'
import { planningSettings } from '../../src/delivery/notifications/connections.ts'
import { selectDue } from '../../src/delivery/notifications/due.ts'
import { readHappenings } from '../../src/delivery/notifications/happenings.ts'
import { renderNotifications } from '../../src/delivery/notifications/render.ts'
import type { Database } from '../../src/store/database.ts'
import { say } from '../support/chat.ts'
import { type Explained, explainIt, literalOf, noting, readsIn, type SeenQuery } from '../support/plans.ts'
import { createPushServices, type PushServices, registerFcm } from '../support/push-services.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'

let push: PushServices
let planner: pg.Client

beforeAll(async () => {
  push = await createPushServices()
  planner = new pg.Client(push.own.connection)
  await planner.connect()
})
afterAll(async () => {
  await planner.end()
  await push.close()
})

const uids = Array.from({ length: 40 }, (_, i) => `user-${i}`)
const messages = 400
const atOnce = 100
/** For each happening or notification: a row of a table that may be large has to be found by its key. */
const mostRows = 8
const large = [
  ...['messages', 'events', 'waiting', 'push_tokens', 'conversation_states'],
  ...['blocks', 'notification_mutes', 'thread_subscriptions', 'notification_preferences'],
]

it('what is asked while tables are empty is found by key once they are full', { timeout: 120_000 }, async () => {
  const { own } = push
  const world = await push.pushWorld('alice', ...uids)
  for (const uid of uids) await registerFcm(world, uid, `phone of ${uid}`)
  // What is planned waits, so that it can be looked at.
  await own.query(
    'update notification_senders set paused_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000',
  )
  await say(world, 'alice', 'user-0', 'hello')
  await untilWaiting(world, 1)
  await stopStatistics()

  const first = await askAll(world)
  await planner.query(planningSettings)
  for (const [i, { text }] of first.entries()) await planner.query(`prepare seen${i} as ${text}`)
  for (const [i, query] of first.entries()) await explain(i, query)

  for (let i = 0; i < messages; i += uids.length) {
    await Promise.all(uids.map((_, j) => say(world, 'alice', `user-${j}`, `number ${i}`)))
  }
  await untilWaiting(world, messages + 1)
  await fillWithOthers(world)
  const looked: Record<string, number> = {}
  for (const query of await askAll(world)) {
    const i = first.findIndex(({ text }) => text === query.text)
    for (const { table, rows } of await explain(i, query)) {
      if (!large.includes(table)) continue
      const name = `${table}, by the statement that begins with ${query.text.trim().slice(0, 60)}`
      looked[name] = (looked[name] ?? 0) + rows
    }
  }
  expect(Object.entries(looked).filter(([, rows]) => rows > mostRows * atOnce)).toEqual([])
})

async function untilWaiting({ app }: World, count: number): Promise<void> {
  const waiting = 'select from notification_deliveries where app_id = $1 and day = 0'
  let rows = 0
  const isThere = async () => {
    rows = (await push.own.query(waiting, [app.appId])).length
    return rows === count
  }
  await until(isThere, { progress: () => rows })
}

/** What hundreds of others have chosen, who have nothing to do with what is notified. */
async function fillWithOthers({ app }: World): Promise<void> {
  for (const statement of [
    `insert into blocks (app_id, blocker, blocked, blocked_at) select $1, 'other-' || i, 'another-' || i, 1 from generate_series(1, 400) i`,
    `insert into notification_mutes (app_id, uid, kind, peer) select $1, 'other-' || i, 1, 'alice' from generate_series(1, 400) i`,
    `insert into notification_preferences (app_id, uid, preferences) select $1, 'other-' || i, '{}' from generate_series(1, 400) i`,
  ]) {
    await push.own.query(statement, [app.appId])
  }
}

/** From now on the planner knows what there is at present. */
async function stopStatistics(): Promise<void> {
  const tables = await push.own.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname in ('public', 'notification_days')`,
  )
  for (const { name } of tables) await push.own.query(`alter table ${name} set (autovacuum_enabled = off)`)
  await push.own.query('analyze')
}

/** Plans and renders the last notifications once more. @returns what was asked of the database */
async function askAll({ app, context }: World): Promise<SeenQuery[]> {
  const seen: SeenQuery[] = []
  const database = { ...context.database, ...noting(context.database, seen) } as Database
  const [{ to } = { to: 0 }] = await push.own.query<{ to: number }>('select id as to from event_horizon')
  const { happened } = await readHappenings(database, app.appId, { from: 1, to, limit: atOnce })
  await readCandidates(database, app.appId, happened, {
    isChosen: () => false,
    channelsOf: () => ['push'],
    after: { event: 0, uid: '' },
    limit: 2_000,
  })
  const [provider] = await push.own.query<{ provider: number }>(
    'select provider from notification_deliveries where app_id = $1 and day = 0 limit 1',
    [app.appId],
  )
  const key = { appId: app.appId, endpoint: Number(provider?.provider) }
  const due = await selectDue(database, key, { except: [], limit: atOnce })
  expect(due).toHaveLength(Math.min(atOnce, happened.length))
  await renderNotifications({ ...context, database, now: Date.now }, app, due)
  // Unread messages are counted as lists of conversations count them.
  return seen.filter(({ text }) => !/sum\(n.count/.test(text))
}

async function explain(i: number, { values }: SeenQuery) {
  const parameters = values.length === 0 ? '' : `(${values.map(literalOf).join(', ')})`
  return readsIn((await planner.query(`${explainIt} execute seen${i}${parameters}`)).rows as Explained)
}
