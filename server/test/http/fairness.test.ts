import { request } from 'node:http'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routes } from '../../src/routes.ts'
import { statement } from '../../src/store/statement.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { type Service, startParley } from './watched.ts'

/** Lists of users that are asked for a tag of this form take that many seconds in the database. */
const slowRoutes = routes.map((route) => ({
  ...route,
  handle: async (call: Parameters<typeof route.handle>[0], context: Parameters<typeof route.handle>[1]) => {
    const [, seconds] = /^slow-(.+)$/.exec(String((call.query as { searchKey?: string }).searchKey)) ?? []
    if (seconds !== undefined) await context.database.run(sql`select pg_sleep(${Number(seconds)})`)
    return route.handle(call, context)
  },
}))

const selectRunning = statement(`
  select count(*)::int as running
  from pg_stat_activity
  where datname = current_database()
  and state = 'active'
  and query like '%pg_sleep%'
  and pid <> pg_backend_pid()`)

const slow = (seconds: number) => `/users?searchKey=slow-${seconds}`

describe('A flood of long lists', () => {
  let own: OwnDatabase
  let patient: Service
  let world: World

  beforeAll(async () => {
    own = await createOwnDatabase()
    patient = await startParley({
      routes: slowRoutes,
      connection: own.connection,
      environment: { LIST_TIMEOUT_SECONDS: '900' },
    })
    world = await createWorld(patient)
    await createUsers(world, 'anna', 'bert')
  })
  afterAll(async () => {
    await patient.parley.close()
    await own.drop()
  })

  const countRunning = async () => {
    const [row] = await world.context.database.query<{ running: number }>(selectRunning)
    return row?.running ?? 0
  }

  /** Asks and goes away when told to. */
  const visit = (path: string, as: string) => {
    const headers = { appid: world.app.name, apikey: world.apiKey, onbehalfof: as }
    const visiting = request(`${world.url}/v3${path}`, { headers, agent: false })
    visiting.on('error', () => {})
    visiting.end()
    return { leave: () => visiting.destroy() }
  }

  it('by one user leaves the lists of others alone, and is ended in the database when the user goes', async () => {
    const visits = Array.from({ length: 60 }, () => visit(slow(600), 'anna'))
    const lists = world.context.database.lists
    await vi.waitUntil(async () => lists.waiting === 58 && (await countRunning()) === 2)
    expect((await world.get('/users', { as: 'bert' })).status).toBe(200)
    expect((await world.get('/users')).status).toBe(200)
    for (const { leave } of visits) leave()
    await vi.waitUntil(async () => (await countRunning()) === 0)
    expect(lists).toMatchObject({ running: 0, waiting: 0 })
    expect((await world.get('/users', { as: 'anna' })).status).toBe(200)
  })

  it('by one user is refused from some length on, and what needs no list is not', async () => {
    const visits = Array.from({ length: 102 }, () => visit(slow(600), 'anna'))
    const lists = world.context.database.lists
    await vi.waitUntil(() => lists.waiting === 100)
    const refused = await world.get('/users', { as: 'anna' })
    expect(refused.status).toBe(429)
    expect(refused.body.error.code).toBe('ERR_TOO_MANY_REQUESTS')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await world.get('/users/bert', { as: 'anna' })).status).toBe(200)
    expect((await world.get('/users', { as: 'bert' })).status).toBe(200)
    for (const { leave } of visits) leave()
    await vi.waitUntil(() => lists.running === 0)
  })
})

describe('A list that takes longer than it may', () => {
  let hasty: Service

  beforeAll(async () => {
    hasty = await startParley({ routes: slowRoutes, environment: { LIST_TIMEOUT_SECONDS: '4' } })
  })
  afterAll(async () => {
    await hasty.parley.close()
  })

  it('is answered 503 with Retry-After, and others go on', async () => {
    const world = await createWorld(hasty)
    await createUsers(world, 'anna')
    const answers = await Promise.all([world.get(slow(600), { as: 'anna' }), world.get('/users', { as: 'anna' })])
    expect(answers.map(({ status }) => status)).toEqual([503, 200])
    const { error } = answers[0].body
    expect(error).toMatchObject({ code: 'ERR_MISSION_FAILED', source: 'chat-api' })
    expect(error.devMessage).toContain('longer than 4 s')
    expect(Number(answers[0].headers['retry-after'])).toBeGreaterThan(0)
  })
})
