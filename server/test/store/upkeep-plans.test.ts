import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addUp } from '../../src/chat/usage/add-up.ts'
import { hasteningStatement } from '../../src/delivery/outbound/upkeep.ts'
import { webhookEndpoints } from '../../src/delivery/webhooks/endpoints.ts'
import { removeOldDeliveries } from '../../src/delivery/webhooks/upkeep.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { createExplainer, noting, type SeenQuery } from '../support/plans.ts'

/*
 * What every process does again each minute is done on tables that grow for weeks. Mostly there is nothing to do, which has to be seen
 * without reading them.
 */

let own: OwnDatabase
let database: Database
let planner: pg.Client

const rows = 20_000
const mostRead = 100
/** Epoch seconds; all rows are younger than a day before. */
const present = Math.floor(Date.now() / 1000)

beforeAll(async () => {
  own = await createOwnDatabase()
  database = openDatabase(own.connection)
  planner = new pg.Client(own.connection)
  await planner.connect()
})
afterAll(async () => {
  await planner.end()
  await database.close()
  await own.drop()
})

/** How many rows of a table are read by what is asked. */
async function readOf(table: string, work: (on: Pick<Database, 'query' | 'run'>) => Promise<unknown>): Promise<number> {
  const seen: SeenQuery[] = []
  await work(noting(database, seen))
  const { explain } = createExplainer(planner)
  let looked = 0
  for (const query of seen) {
    for (const read of await explain(query)) if (read.table.startsWith(table)) looked += read.rows
  }
  return looked
}

it('young deliveries of webhooks are not read when old ones are looked for, and old ones are found', async () => {
  const remove = (on: Pick<Database, 'query'>) => removeOldDeliveries(on, present - 86_400)
  const insert = (webhook: number, from: number, to: number, age: number) =>
    planner.query(
      `insert into webhook_deliveries (app_id, webhook, id, trigger, status, created_at)
      select 1 + i % 5, $1, i, 'message_sent', 'delivered', $4 from generate_series($2::int, $3::int) i`,
      [webhook, from, to, present - age],
    )
  await insert(1, 1, rows, 60)
  await planner.query('analyze webhook_deliveries')
  expect(await readOf('webhook_deliveries', remove)).toBeLessThan(mostRead)

  // Of a webhook that is gone, and older events that were delivered late.
  await insert(2, rows + 1, rows + 30, 90_000)
  await insert(1, rows + 31, rows + 60, 90_000)
  await insert(2, 1, 10, 60)
  expect(await remove(database)).toBe(60)
  expect(await remove(database)).toBe(0)
  const { rows: left } = await planner.query('select count(*)::int as count from webhook_deliveries')
  expect(left).toEqual([{ count: rows + 10 }])
})

it('deliveries that wait are not read when those are looked for that a clock has put off which was ahead', async () => {
  await planner.query('insert into webhook_states (app_id, webhook) select 1 + i % 5, 3 from generate_series(0, 4) i')
  await planner.query(
    `insert into webhook_deliveries (app_id, webhook, id, trigger, status, attempts, due_at, created_at)
    select 1 + i % 5, 3, i, 'message_sent', 'pending', 1, $1::bigint * 1000 + i, $1 from generate_series(1, $2::int) i`,
    [present, rows],
  )
  await planner.query('analyze webhook_deliveries, webhook_states')
  const look = (on: Pick<Database, 'query'>) => on.query(hasteningStatement(webhookEndpoints, 3_600_000))
  expect(await readOf('webhook_deliveries', look)).toBeLessThan(mostRead)
  await planner.query('update webhook_deliveries set due_at = due_at + 86400000 where webhook = 3 and id <= 10')
  expect(await look(database)).toHaveLength(10)
  expect(await look(database)).toHaveLength(0)
})

it('figures that are added up already are not read again', async () => {
  const nobody = '00000000-0000-0000-0000-000000000000'
  const bucket = Math.floor(present / 300)
  // Of the last 35 days in stretches of five minutes, and of the days before in one row each, all added up.
  await planner.query(
    `insert into usage_messages (app_id, bucket, process, sent, delivered, read)
    select 1 + i % 2, $1::bigint - 300 - i / 2, $2::uuid, 1, 0, 0 from generate_series(0, $3::int - 1) i
    union all
    select 3, ($1::bigint / 288 - 50 - i) * 288, $2::uuid, 1, 0, 0 from generate_series(0, 999) i`,
    [bucket, nobody, rows],
  )
  await planner.query('analyze usage_messages')
  expect(await readOf('usage_messages', (on) => addUp(on, Date.now()))).toBeLessThan(mostRead)
})
