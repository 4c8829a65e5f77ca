import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListCase, listCases } from '../../bench/src/lists/cases.ts'
import { type Landmarks, readLandmarks } from '../../bench/src/lists/landmarks.ts'
import type { WorldSizes } from '../../bench/src/seed/sizes.ts'
import { seedWorld } from '../../bench/src/seed/world.ts'
import { ensureKey } from '../src/areas/api-keys/keys.ts'
import type { App } from '../src/chat/identity.ts'
import { findDrift } from '../src/doctor/drift.ts'
import { statement } from '../src/store/statement.ts'
import { type Service, startParley } from './http/watched.ts'
import { createOwnDatabase, type OwnDatabase } from './support/own-database.ts'
import { createExplainer, type Explainer, type SeenQuery, type TableRead, watchQueries } from './support/plans.ts'
import { indexed } from './support/search.ts'
import { send } from './support/world.ts'

const sizes: WorldSizes = {
  users: 16_000,
  messages: 30_000,
  groups: 700,
  busyGroups: 300,
  crowd: 1500,
  pairs: 8500,
  busyPairs: 450,
}

/** The world of another app, which is there so that the planner knows of more than one. */
const neighbourSizes: WorldSizes = {
  users: 8000,
  messages: 15_000,
  groups: 350,
  busyGroups: 150,
  crowd: 750,
  pairs: 4250,
  busyPairs: 225,
}

/**
 * Plans follow statistics, which PostgreSQL makes of a sample of 300 rows for each step of the target: with this one, of
 * every row of tables of these sizes, so that each run has the same.
 */
const statisticsTarget = 400

/** Tables that grow with an app. Reading one through is what no list may do. */
const large = [
  'messages',
  'search_entries',
  'users',
  'friends',
  'groups',
  'group_members',
  'conversations',
  'conversation_states',
  'receipt_steps',
  'threads',
  'thread_subscriptions',
  'reactions',
  'reaction_counts',
  'message_moderation',
  'moderation_decisions',
  'moderation_flags',
  'moderation_queue',
  'moderation_reviews',
]

/**
 * What one query of a list may look at. A page is read by index; `nearby` in lists of who takes part in much, members of a
 * group and conversations of a user are read in their order once. All are far below the sizes of the tables.
 */
const mostRows = 5000
/** A true total may go through index entries: of users at most. */
const mostEntries = sizes.users + 1000

/**
 * A search for what nearly every message says may look at each of the app's entries once, and at each message that is found
 * to count it. For anything else it is held to what every list is.
 */
const everyEntry = sizes.messages
const findsMost = (name: string) => /^search .*a (frequent word|letter)$/.test(name)

/**
 * What reviewers look through is read in its order until a page is found, whoever sent it: filters look at each entry of the list
 * once, and at its message.
 */
const everyReview = /^(?:flagged|blocked|reviewed): (?:of|that)/

/** For the app as a whole the true total sums up the members of all groups. */
const sumsGroups = ['conversations: of everybody', 'conversations: each once']

type Age = 'known' | 'young'

interface SeededApp {
  readonly app: App
  readonly apiKey: string
  readonly landmarks: Landmarks
}

/** Far more than any query here takes: one that would take minutes ends as a failure, not as a test that hangs. */
const patienceMs = 30_000

const { routes, seen } = watchQueries()
let service: Service
let database: OwnDatabase
/**
 * The same world twice: in an app whose rows the statistics know, and in one whose rows are all younger, as those of a team
 * that has just imported its history. The planner takes the second for empty, as nobody's app is among the frequent ones.
 */
const apps = new Map<Age, SeededApp>()
/** A connection with the settings of the service, for plans. */
let planner: pg.Client
let explainer: Explainer

beforeAll(async () => {
  // A database of its own, in which nobody else's rows are, nor any statistics but these.
  database = await createOwnDatabase()
  service = await startParley({ routes, connection: { ...database.connection, statement_timeout: patienceMs } })
  const { context } = service.parley
  const client = context.database.createClient('parley test seed')
  await client.connect()
  try {
    await client.query('set statement_timeout = 0')
    await keepStatistics(client)
    // With another app beside it, and a young one that is as large, reading a table through is never the shortest way to
    // what is in it of one. Were there only one, the planner would take every table for its own.
    const [neighbour, known, young] = [await newApp(), await newApp(), await newApp()]
    await client.query('set default_statistics_target = 1')
    await seedWorld(client, neighbour.appId, neighbourSizes, { isModerated: true })
    await client.query(`set default_statistics_target = ${statisticsTarget}`)
    await seedWorld(client, known.appId, sizes, { isModerated: true })
    await indexed(service.parley)
    await client.query('vacuum analyze search_entries')
    await seedWorld(client, young.appId, sizes, { isAnalyzed: false, isModerated: true })
    await indexed(service.parley)
    apps.set('known', await open(client, known))
    apps.set('young', await open(client, young))
  } finally {
    await client.end()
  }
  planner = context.database.createClient('parley test plans')
  await planner.connect()
  explainer = createExplainer(planner)

  function newApp(): Promise<App> {
    return context.apps.ensure(`lists-${randomBytes(8).toString('hex')}`, 'us')
  }
})

/** No statistics but those that are asked for. */
async function keepStatistics(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind = 'r' and c.relnamespace::regnamespace::text in (current_schema(), 'notification_days')`,
  )
  for (const { name } of rows) await client.query(`alter table ${name} set (autovacuum_enabled = false)`)
}

async function open(client: pg.Client, app: App): Promise<SeededApp> {
  const apiKey = randomBytes(20).toString('hex')
  const landmarks = await readLandmarks(
    async (text, values) => (await client.query(text, values)).rows,
    app.appId,
    sizes,
  )
  await ensureKey(service.parley.context, app.appId, { apiKey, name: 'lists', scope: 'fullAccess' })
  const seeded = { app, apiKey, landmarks }
  for (let i = 0; i < 3; i++) {
    expect((await ask(seeded, 'POST', '/users/busy/auth_tokens', 'busy', {})).status).toBe(200)
  }
  return seeded
}

afterAll(async () => {
  await planner?.end()
  await service?.parley.close()
  await database?.drop()
})

const ask = ({ app, apiKey }: SeededApp, method: string, path: string, as?: string, body?: object) =>
  send(service.url, method, path.replaceAll('[', '%5B').replaceAll(']', '%5D'), body, {
    appid: app.name,
    apikey: apiKey,
    ...(as !== undefined && { onbehalfof: as }),
  })

describe('a seeded world', () => {
  it('has the same statistics each time', async () => {
    const sizesOfTables = statement(
      'select relname as name, reltuples::int as rows from pg_class where relname = any($1)',
    )
    const tables = await service.parley.context.database.query<{ name: string; rows: number }>(sizesOfTables, [large])
    expect(tables).toHaveLength(large.length)
    expect(tables.filter(({ rows }) => rows > 300 * statisticsTarget)).toEqual([])
  })

  it.each(['known', 'young'] as const)('is as the rules would have written it, %s', async (age) => {
    expect(await findDrift(service.parley.context.database, seededApp(age).app.appId)).toEqual([])
  })

  it('is unknown to the planner while it is young', async () => {
    const known = statement(`
      select tablename as name
      from pg_stats
      where attname = 'app_id'
      and most_common_vals::text::int[] && array[$1::int]`)
    const tables = async (age: Age) => {
      const { database } = service.parley.context
      const rows = await database.query<{ name: string }>(known, [seededApp(age).app.appId])
      return rows.map(({ name }) => name)
    }
    expect(await tables('known')).toEqual(expect.arrayContaining(large))
    expect((await tables('young')).filter((name) => large.includes(name))).toEqual([])
  })
})

describe.each(['known', 'young'] as const)('in an app that is %s, reads a page and no large table through:', (age) => {
  it.each(listCases(unknownPlaces()).map(({ name }) => name))('%s', async (name) => {
    const seeded = seededApp(age)
    const queries = await queriesOf(seeded, listCases(seeded.landmarks).find((list) => list.name === name) as ListCase)
    expect(queries.length).toBeGreaterThan(0)
    for (const query of queries) {
      // The planner would look the app up among those it knows; see appKey.
      if (query.composed !== undefined) expect(query.text).not.toMatch(/app_id = \$/)
      const reads = await explainer.explain(query)
      const held = reads.filter(({ table }) => table !== 'groups' || !sumsGroups.includes(name))
      expect(faultsOf(name, held), query.text).toEqual([])
    }
  })
})

function seededApp(age: Age): SeededApp {
  return apps.get(age) as SeededApp
}

/** The queries of one request, which must be answered. */
async function queriesOf(seeded: SeededApp, list: ListCase): Promise<SeenQuery[]> {
  seen.length = 0
  const answer = await ask(seeded, 'GET', list.path, list.as)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return seen.slice()
}

const entriesOnly = ['Index Only Scan', 'Bitmap Index Scan']

/** What is wrong with how a query reads its tables. */
function faultsOf(name: string, reads: readonly TableRead[]): string[] {
  return reads.flatMap(({ table, way, rows }) => {
    const isThrough = findsMost(name) || everyReview.test(name)
    const most = isThrough ? everyEntry : entriesOnly.includes(way) ? mostEntries : mostRows
    return [
      ...(way.endsWith('Seq Scan') && large.includes(table) ? [`${way} of ${table}`] : []),
      ...(rows > most ? [`${way} of ${table} looks at ${rows} rows`] : []),
    ]
  })
}

/** For the names of the cases, which are known before the world is. */
function unknownPlaces(): Landmarks {
  const place = { id: 0, sentAt: 0 }
  return {
    sizes,
    crowdMiddle: place,
    talkMiddle: place,
    middle: place,
    nearEnd: place,
    thread: 0,
    threadMiddle: place,
    loved: 0,
    reactionMiddle: 0,
    usersChangedAt: 0,
    groupsChangedAt: 0,
  }
}
