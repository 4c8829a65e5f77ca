import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ListCase, listCases } from '../../bench/src/lists/cases.ts'
import { type Landmarks, readLandmarks } from '../../bench/src/lists/landmarks.ts'
import type { WorldSizes } from '../../bench/src/seed/sizes.ts'
import { seedWorld } from '../../bench/src/seed/world.ts'
import { ensureKey } from '../src/areas/api-keys/keys.ts'
import type { App } from '../src/call.ts'
import { findDrift } from '../src/doctor/drift.ts'
import { statement } from '../src/store/statement.ts'
import { type Service, startParley } from './http/watched.ts'
import { createOwnDatabase, type OwnDatabase } from './support/own-database.ts'
import { explain, explainGeneric, type SeenQuery, type TableRead, watchQueries } from './support/plans.ts'
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

/**
 * Plans follow statistics, which PostgreSQL makes of a sample of 300 rows for each step of the target: with this one, of
 * every row of tables of these sizes, so that each run has the same.
 */
const statisticsTarget = 400

/** Tables that grow with an app. Reading one through is what no list may do. */
const large = ['messages', 'users', 'groups', 'group_members', 'conversations', 'conversation_states', 'receipt_steps']

/**
 * What one query of a list may look at. A page is read by index; `nearby` in lists of who takes part in much, members of a
 * group and conversations of a user are read in their order once. All are far below the sizes of the tables.
 */
const mostRows = 5000
/** A true total counts index entries: of users at most. */
const mostEntries = sizes.users + 1000

/** For the app as a whole the true total needs a look at every side of every conversation. */
const readThrough = ['conversations: of everybody', 'conversations: each once']

const { routes, seen } = watchQueries()
const apiKey = randomBytes(20).toString('hex')
let service: Service
let app: App
let landmarks: Landmarks
let database: OwnDatabase
/** A connection with the settings of the service, for plans. */
let planner: pg.Client

beforeAll(async () => {
  // A database of its own, in which nobody else's rows are, nor any statistics but these.
  database = await createOwnDatabase()
  service = await startParley({ routes, connection: database.connection })
  const { secrets, apps } = service.parley.context
  const client = service.parley.context.database.createClient('parley test seed')
  await client.connect()
  try {
    for (const table of large) await client.query(`alter table ${table} set (autovacuum_enabled = false)`)
    // Beside another app of the same size, reading a table through is never the shortest way to what is in it of one.
    const [neighbour, own] = [await newApp(), await newApp()]
    await client.query('set default_statistics_target = 1')
    await seedWorld(client, neighbour.appId, sizes)
    await client.query(`set default_statistics_target = ${statisticsTarget}`)
    await seedWorld(client, own.appId, sizes)
    app = own
    landmarks = await readLandmarks(async (text, values) => (await client.query(text, values)).rows, app.appId, sizes)
  } finally {
    await client.end()
  }
  await ensureKey(service.parley.context.database, secrets, app.appId, { apiKey, name: 'lists', scope: 'fullAccess' })
  for (let i = 0; i < 3; i++) expect((await ask('POST', '/users/busy/auth_tokens', 'busy', {})).status).toBe(200)
  planner = service.parley.context.database.createClient('parley test plans')
  await planner.connect()

  function newApp(): Promise<App> {
    return apps.ensure(`lists-${randomBytes(8).toString('hex')}`, 'us')
  }
}, 180_000)

afterAll(async () => {
  await planner?.end()
  await service?.parley.close()
  await database?.drop()
})

const ask = (method: string, path: string, as?: string, body?: object) =>
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

  it('is as the rules would have written it', async () => {
    expect(await findDrift(service.parley.context.database, app.appId)).toEqual([])
  })
})

describe('reads a page and no large table through:', () => {
  it.each(listCases(unknownPlaces()).map(({ name }) => name))('%s', async (name) => {
    const queries = await queriesOf(listCases(landmarks).find((list) => list.name === name) as ListCase)
    expect(queries.length).toBeGreaterThan(0)
    const { database } = service.parley.context
    for (const query of queries) {
      const reads = await explain(database, query)
      const generic = query.named && (await canExplainGeneric()) ? await explainGeneric(planner, query) : []
      if (!readThrough.includes(name)) expect(faultsOf([...reads, ...generic]), query.text).toEqual([])
    }
  })
})

/** The queries of one request, which must be answered. */
async function queriesOf(list: ListCase): Promise<SeenQuery[]> {
  seen.length = 0
  const answer = await ask('GET', list.path, list.as)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return seen.slice()
}

/** What is wrong with how a query reads its tables. */
function faultsOf(reads: readonly TableRead[]): string[] {
  return reads.flatMap(({ table, way, rows }) => {
    const most = way === 'Index Only Scan' ? mostEntries : mostRows
    return [
      ...(way.endsWith('Seq Scan') && large.includes(table) ? [`${way} of ${table}`] : []),
      ...(rows > most ? [`${way} of ${table} looks at ${rows} rows`] : []),
    ]
  })
}

let version: number | undefined

/** PostgreSQL tells such plans from version 16 on. */
async function canExplainGeneric(): Promise<boolean> {
  const { database } = service.parley.context
  const [row] = await database.query<{ version: number }>(
    statement(`select current_setting('server_version_num')::int as version`),
  )
  version ??= row?.version
  return (version ?? 0) >= 160_000
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
