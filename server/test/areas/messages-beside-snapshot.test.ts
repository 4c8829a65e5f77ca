import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { writerSettings } from '../../src/areas/messages/write/writer.ts'
import { latestByParts } from '../../src/chat/conversations/latest.ts'
import { say } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { createUsers, createWorld } from '../support/world.ts'

const pairs = Array.from({ length: 10 }, (_, n) => [`writer-${n}`, `reader-${n}`] as const)
const messagesOfPair = 60

/** A database of its own: what others free in the tables decides where versions go, and so how many are looked at. */
let own: OwnServices
beforeAll(async () => {
  own = await createOwnServices()
})
afterAll(() => own.close())

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(own.connection)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Blocks of tables and indexes that a look-up of each conversation looks at. */
async function blocksOf(planner: pg.Client, lookup: string, appId: number): Promise<number> {
  const { rows } = await planner.query(
    `explain (analyze, buffers, timing off, format json)
    select c.key
    from (
      select $1::int as app_id, 1::smallint as kind, least(p.a, p.b) as first, greatest(p.a, p.b) as second
      from unnest($2::text[] collate "C", $3::text[] collate "C") as p(a, b)
    ) r
    cross join lateral ${lookup} c`,
    [appId, pairs.map(([a]) => a), pairs.map(([, b]) => b)],
  )
  const { Plan } = rows[0]['QUERY PLAN'][0]
  expect(Plan['Actual Rows']).toBe(pairs.length)
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
}

it('a send looks at the latest version of its conversation, however many a long transaction holds back', async () => {
  const world = await createWorld(await own.start())
  await createUsers(world, ...pairs.flat())
  const { appId } = world.app
  await Promise.all(pairs.map(([a, b]) => say(world, a, b, 'first')))
  const [holder, planner] = [await connect(), await connect()]
  await planner.query(writerSettings)
  // A table of a few pages would be read whole.
  await planner.query('set enable_seqscan = off; set enable_bitmapscan = off')
  const latest = latestByParts('v.key', 'r')
  const before = await blocksOf(planner, latest, appId)
  // As a backup does.
  await holder.query('begin isolation level repeatable read, read only')
  await holder.query('select 1 from conversations limit 1')

  await Promise.all(
    pairs.map(async ([a, b]) => {
      for (let n = 0; n < messagesOfPair; n++) await say(world, a, b, `message ${n}`)
    }),
  )
  const equality = `(
      select v.key from conversations v
      where v.app_id = r.app_id and v.kind = r.kind and v.first = r.first and v.second = r.second
    )`
  const all = await blocksOf(planner, equality, appId)
  expect(all).toBeGreaterThan(2 * before)
  expect(await blocksOf(planner, latest, appId)).toBeLessThan(2 * before)
  const { data } = (await world.get('/users/reader-3/messages?limit=1&affix=prepend', { as: 'writer-3' })).body
  expect(data).toMatchObject([{ data: { text: `message ${messagesOfPair - 1}` } }])
})
