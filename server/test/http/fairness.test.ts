import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/call.ts'
import { routes } from '../../src/routes.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { countSlowLists, slowList, slowRoutes, visit } from '../support/slow-lists.ts'
import { tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { type Service, startParley } from './watched.ts'

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

  const visitSlowly = (as: string) => visit(world, slowList(600), { apikey: world.apiKey, onbehalfof: as })
  const countRunning = () => countSlowLists(world)

  it('by one user leaves the lists of others alone, and is ended in the database when the user goes', async () => {
    const visits = Array.from({ length: 60 }, () => visitSlowly('anna'))
    const lists = world.context.database.lists
    await until(async () => lists.waiting === 58 && (await countRunning()) === 2)
    expect((await world.get('/users', { as: 'bert' })).status).toBe(200)
    expect((await world.get('/users')).status).toBe(200)
    for (const { leave } of visits) leave()
    await until(async () => (await countRunning()) === 0)
    expect(lists).toMatchObject({ running: 0, waiting: 0 })
    expect((await world.get('/users', { as: 'anna' })).status).toBe(200)
  })

  it('by one user is refused from some length on, and what needs no list is not', async () => {
    const visits = Array.from({ length: 102 }, () => visitSlowly('anna'))
    const lists = world.context.database.lists
    await until(() => lists.waiting === 100)
    const refused = await world.get('/users', { as: 'anna' })
    expect(refused.status).toBe(429)
    expect(refused.body.error.code).toBe('ERR_TOO_MANY_REQUESTS')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await world.get('/users/bert', { as: 'anna' })).status).toBe(200)
    expect((await world.get('/users', { as: 'bert' })).status).toBe(200)
    for (const { leave } of visits) leave()
    await until(() => lists.running === 0)
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
    const answers = await Promise.all([world.get(slowList(600), { as: 'anna' }), world.get('/users', { as: 'anna' })])
    expect(answers.map(({ status }) => status)).toEqual([503, 200])
    const { error } = answers[0].body
    expect(error).toMatchObject({ code: 'ERR_MISSION_FAILED', source: 'chat-api' })
    expect(error.devMessage).toContain('longer than 4 s')
    expect(Number(answers[0].headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('Requests of one user', () => {
  let service: Service
  let world: World
  let begun: string[]
  let letGo: () => void
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })

  beforeAll(async () => {
    begun = []
    const watching: readonly Route[] = routes.map((route) => ({
      ...route,
      handle: async (call: Parameters<typeof route.handle>[0], context: Parameters<typeof route.handle>[1]) => {
        const { searchKey } = call.query as { searchKey?: string }
        if (searchKey !== undefined) {
          begun.push(searchKey)
          await held
        }
        return route.handle(call, context)
      },
    }))
    service = await startParley({ routes: watching })
    world = await createWorld(service)
    await createUsers(world, 'anna', 'bert')
  })
  afterAll(async () => {
    letGo()
    await service.parley.close()
  })

  it('with a token are worked on eight at a time, those of others and of the app beside them', async () => {
    const [anna, bert] = [await tokenOf(world, 'anna'), await tokenOf(world, 'bert')]
    const asked = Array.from({ length: 30 }, () => world.get('/users?searchKey=anna', { token: anna }))
    await until(() => begun.length === 8)
    for (const options of [{ token: bert }, {}, { as: 'anna' }]) {
      expect((await world.get('/users', options)).status).toBe(200)
    }
    const left = visit(world, '/users?searchKey=left', { authtoken: anna })
    expect(begun).toEqual(Array(8).fill('anna'))
    left.leave()
    letGo()
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]))
    expect((await world.get('/me', { token: anna })).status).toBe(200)
    expect(begun.filter((key) => key === 'anna')).toHaveLength(30)
  })
})
