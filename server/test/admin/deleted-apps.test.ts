import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeDueApps } from '../../src/areas/apps/index.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { auditLinked } from '../support/audit.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { connect } from '../support/socket.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'
import { createOperator, createOwner, meOf, Visitor } from './operator.ts'

let own: OwnServices
let service: Service
let second: Service
let owner: Visitor

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start({ CONSOLE: 'on' })
  second = await own.start({ CONSOLE: 'on' })
  owner = await createOwner({ url: service.url, context: service.parley.context })
})
afterAll(() => own.close())

const week = 7 * 86_400
const nowSeconds = () => Math.floor(Date.now() / 1000)

async function newWorld(): Promise<World> {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  return world
}

const deletion = ({ app }: World, by = owner, name = app.name) => by.delete(`/apps/${app.name}`, { name })

/** What the service does once it is that time. The audit log has been linked for days by then. */
async function atTime(world: World, now: number): Promise<void> {
  await auditLinked(world)
  await removeDueApps(service.parley.context, now, { only: world.app.appId })
}

/** But for one of which the service removes by itself what is of no provider, at any moment. */
async function tablesOfApps(): Promise<string[]> {
  const rows = await own.query<{ name: string }>(
    `select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'app_id' and table_name <> 'notification_flights' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** How many rows an app has in each table, and what they are. */
async function rowsOf({ app }: World): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const table of await tablesOfApps()) {
    const [row] = await own.query<{ count: string; digest: string }>(
      `select count(*) as count, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from ${table} t where app_id = $1`,
      [app.appId],
    )
    if (row !== undefined && Number(row.count) > 0) found[table] = `${row.count} ${row.digest}`
  }
  return found
}

const values: Readonly<Record<string, string>> = {
  ...{ smallint: '1', integer: '$1', bigint: '$1', real: '0.5', 'double precision': '0.5', boolean: 'true' },
  ...{ 'bit varying': "B'1'", bit: '0::bit(8192)', uuid: 'gen_random_uuid()', tsvector: "''" },
  ...{ text: "'x' || $1", bytea: "'\\x00'", json: "'{}'", jsonb: "'{}'", ARRAY: "'{}'", 'character varying': "'x'" },
}

/** Puts a row into each table in which the app has none, whatever it means. */
async function fillEveryTable(world: World): Promise<void> {
  const filled = await rowsOf(world)
  for (const table of await tablesOfApps()) {
    if (table in filled) continue
    const columns = await own.query<{ name: string; type: string }>(
      `select column_name as name, data_type as type from information_schema.columns
        where table_schema = 'public' and table_name = $1 and is_nullable = 'NO' and column_default is null
        and is_identity = 'NO' and is_generated = 'NEVER' and column_name <> 'app_id'`,
      [table],
    )
    const names = ['app_id', ...columns.map(({ name }) => name)].join(', ')
    // What is as old as these values would make it is removed by the service itself, at any moment.
    const inserted = ({ name, type }: { name: string; type: string }) =>
      name === 'created_at'
        ? 'extract(epoch from now())'
        : (values[type] ?? 'null').replace('$1', String(world.app.appId))
    const made = [world.app.appId, ...columns.map(inserted)].join(', ')
    await own.query(`insert into ${table} (${names}) values (${made})`)
  }
}

/** An app with something in every table. */
async function furnishedWorld(): Promise<World> {
  const world = await newWorld()
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  // More than go in one transaction.
  for (const from of [0, 600]) {
    const users = Array.from({ length: 600 }, (_, i) => [`u${from + i}`, { name: `User ${from + i}` }])
    expect((await world.post('/data_import/users', { users: Object.fromEntries(users) })).status).toBe(200)
  }
  for (let i = 0; i < 20; i++) await say(world, 'alice', 'bob', `message ${i}`)
  const { id } = await sayInGroup(world, 'bob', 'team', 'in the group')
  dataOf(await world.post(`/messages/${id}/reactions/%F0%9F%91%8D`, undefined, { as: 'alice' }))
  dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
  // What is written behind the sends.
  await until(async () => {
    const behind = await own.query(
      'select from search_progress p where p.indexed_id < (select max(id) from messages where app_id = $1)',
      [world.app.appId],
    )
    return behind.length === 0
  })
  await auditLinked(world)
  await service.parley.context.usage.write()
  await fillEveryTable(world)
  return world
}

const filesOf = async ({ app }: World): Promise<string[]> => {
  const all = await readdir(own.mediaDir, { recursive: true })
  return all.filter((name) => name.split(path.sep)[0] === String(app.appId) && /[0-9a-f]{32}$/.test(name))
}

describe('an app that is deleted', () => {
  it('is paused for seven days, then gone from every table, and nothing else is', async () => {
    const [world, other] = [await furnishedWorld(), await furnishedWorld()]
    const socket = await connect(world, 'alice')
    expect(Object.keys(await rowsOf(world))).toEqual(await tablesOfApps())
    expect((await filesOf(world)).length).toBe(1)
    const developer = await createOperator(owner, { role: 'developer', apps: [world.app.name, other.app.name] })
    const theirs = await rowsOf(other)

    const before = nowSeconds()
    const shown = dataOf(await deletion(world))
    expect(shown.deletesAt).toBeGreaterThanOrEqual(before + week)
    expect(shown.pausedAt).toBeGreaterThanOrEqual(before)
    expect(await socket.closed()).toBe(4503)
    expect(refusal(await world.get('/users'))).toBe('503 ERR_MISSION_FAILED')
    expect(dataOf(await owner.get(`/apps/${world.app.name}/groups/team`)).guid).toBe('team')

    await atTime(world, shown.deletesAt - 1)
    expect(Object.keys(await rowsOf(world))).toEqual(await tablesOfApps())

    await service.parley.context.usage.write()
    await second.parley.context.usage.write()
    await atTime(world, shown.deletesAt)
    expect(await rowsOf(world)).toEqual({})
    expect(await filesOf(world)).toEqual([])
    expect(await rowsOf(other)).toEqual(theirs)
    expect((await filesOf(other)).length).toBe(1)
    expect(refusal(await world.get('/users'))).toBe('401 AUTH_ERR_INVALID_APPID')
    await soon(async () =>
      expect(refusal(await servedBy(world, second.url).get('/users'))).toBe('401 AUTH_ERR_INVALID_APPID'),
    )
    expect(refusal(await owner.get(`/apps/${world.app.name}`))).toBe('404 ERR_APP_NOT_FOUND')
    expect((await meOf(developer)).apps).toEqual([other.app.name])
    expect((await own.query('select from operators where $1 = any(apps)', [world.app.appId])).length).toBe(0)
    expect(await findDrift(service.parley.context.database, world.app.appId)).toEqual([])

    const { id } = await meOf(owner)
    const log = dataOf(await owner.get(`/audit-log?target=${world.app.name}`))
    expect(log).toMatchObject([
      { action: 'app_removed', actor: { caller: 'service' }, target: { type: 'app', id: world.app.name } },
      { action: 'app_deleted', actor: { caller: 'operator', operator: id }, details: { deletesAt: shown.deletesAt } },
    ])
  })

  it('leaves its name to another app, which has nothing of it', async () => {
    const world = await newWorld()
    const { deletesAt } = dataOf(await deletion(world))
    expect(refusal(await owner.post('/apps', { appId: world.app.name }))).toBe('409 ERR_APP_ALREADY_EXISTS')
    await atTime(world, deletesAt)
    const made = dataOf(await owner.post('/apps', { appId: world.app.name }))
    expect(made.appId).toBe(world.app.name)
    expect(dataOf(await owner.get(`/apps/${world.app.name}/users`))).toEqual([])
    expect(refusal(await world.get('/users'))).toBe('401 AUTH_ERR_APIKEY_NOT_FOUND')
  })

  it('leaves a database in which the doctor finds nothing', async () => {
    const [world, other] = [await newWorld(), await newWorld()]
    for (const each of [world, other]) {
      await createGroup(each, 'team', 'alice', { participants: ['bob'] })
      const { id } = await sayInGroup(each, 'bob', 'team', 'one')
      await sayInGroup(each, 'alice', 'team', 'a reply', { parentId: id })
      dataOf(await sendForm(each, toBob, [picture], { as: 'alice' }))
    }
    const { deletesAt } = dataOf(await deletion(world))
    await atTime(world, deletesAt)
    expect(await findDrift(service.parley.context.database, other.app.appId)).toEqual([])
    expect(await findDrift(service.parley.context.database, world.app.appId)).toEqual([])
  })

  it('is nothing to the doctor while it is being removed', async () => {
    const world = await newWorld()
    const { database } = service.parley.context
    await say(world, 'alice', 'bob', 'one')
    const findings = async () =>
      (await findDrift(database, null)).flatMap(({ examples }) =>
        examples.filter(({ subject }) => subject.startsWith(`${world.app.appId}/`)),
      )
    await own.query('delete from users where app_id = $1', [world.app.appId])
    expect((await findings()).length).toBeGreaterThan(0)
    await own.query(
      'update apps set removing_at = 1, removing_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000 where app_id = $1',
      [world.app.appId],
    )
    expect(await findings()).toEqual([])
  })

  it('can be taken back within that time, and stays paused until it is resumed', async () => {
    const world = await newWorld()
    const path = `/apps/${world.app.name}`
    const { deletesAt } = dataOf(await deletion(world))
    expect(refusal(await owner.post(`${path}/resume`))).toBe('409 ERR_APP_ALREADY_DELETED')
    expect(refusal(await owner.post(`${path}/pause`))).toBe('409 ERR_APP_ALREADY_PAUSED')
    expect(refusal(await deletion(world))).toBe('409 ERR_APP_ALREADY_DELETED')
    expect(dataOf(await owner.post(`${path}/undelete`))).not.toHaveProperty('deletesAt')
    expect(refusal(await owner.post(`${path}/undelete`))).toBe('409 ERR_APP_NOT_DELETED')
    await atTime(world, deletesAt)
    expect(refusal(await world.get('/users'))).toBe('503 ERR_MISSION_FAILED')
    dataOf(await owner.post(`${path}/resume`))
    expect(dataOf(await world.get('/users')).length).toBe(2)
    const actions = dataOf(await owner.get(`${path}/audit-log`)).map(({ action }: { action: string }) => action)
    expect(actions.slice(0, 3)).toEqual(['app_resumed', 'app_undeleted', 'app_deleted'])
    const log = dataOf(await owner.get(`/audit-log?target=${world.app.name}`))
    expect(log.map(({ action }: { action: string }) => action)).toEqual(['app_undeleted', 'app_deleted'])
  })

  it('is deleted or taken back once, however many ask at the same time', async () => {
    const world = await newWorld()
    const outcomes = async (asks: Array<ReturnType<typeof deletion>>) =>
      (await Promise.all(asks)).map((answer) => (answer.status === 200 ? 'done' : refusal(answer))).toSorted()
    const times = Array.from({ length: 5 })
    expect(await outcomes(times.map(() => deletion(world)))).toEqual([
      ...Array(4).fill('409 ERR_APP_ALREADY_DELETED'),
      'done',
    ])
    expect(await outcomes(times.map(() => owner.post(`/apps/${world.app.name}/undelete`)))).toEqual([
      ...Array(4).fill('409 ERR_APP_NOT_DELETED'),
      'done',
    ])
  })

  it('cannot be taken back once its removal has begun, and is no app any more', async () => {
    const world = await newWorld()
    dataOf(await deletion(world))
    // Another process has begun.
    await own.query(
      'update apps set removing_at = $2, removing_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000 where app_id = $1',
      [world.app.appId, nowSeconds()],
    )
    await own.query("select pg_notify('parley_changes', $1)", [`apps:${world.app.name}`])
    await soon(async () => expect(refusal(await world.get('/users'))).toBe('401 AUTH_ERR_INVALID_APPID'))
    for (const what of ['undelete', 'pause', 'resume']) {
      expect(refusal(await owner.post(`/apps/${world.app.name}/${what}`))).toBe('409 ERR_APP_ALREADY_DELETED')
    }
    expect(refusal(await deletion(world))).toBe('409 ERR_APP_ALREADY_DELETED')
    expect(refusal(await owner.get(`/apps/${world.app.name}/users`))).toBe('404 ERR_APP_NOT_FOUND')
    expect(dataOf(await owner.get(`/apps/${world.app.name}`)).removingAt).toBeGreaterThan(0)
    await atTime(world, nowSeconds() + week)
    expect(dataOf(await owner.get(`/apps/${world.app.name}`)).appId).toBe(world.app.name)
    // That process was killed.
    await own.query('update apps set removing_until = 1 where app_id = $1', [world.app.appId])
    await atTime(world, nowSeconds() + week)
    expect(await rowsOf(world)).toEqual({})
  })

  it('is deleted by name, by owners of everything who have signed in', async () => {
    const world = await newWorld()
    const path = `/apps/${world.app.name}`
    const wrong = await deletion(world, owner, 'another')
    expect(refusal(wrong)).toBe('400 ERR_BAD_REQUEST')
    expect(wrong.body.error.devMessage).toBe('body/name is not the ID of the app')
    expect(refusal(await owner.delete(path))).toBe('400 ERR_BAD_REQUEST')
    for (const grants of [{ role: 'developer' }, { role: 'owner', apps: [world.app.name] }]) {
      const visitor = await createOperator(owner, grants)
      expect(refusal(await deletion(world, visitor))).toBe('403 ERR_PERMISSION_DENIED')
      expect(refusal(await visitor.post(`${path}/undelete`))).toBe('403 ERR_PERMISSION_DENIED')
    }
    const script = new Visitor(owner.url)
    script.token = dataOf(await owner.post('/tokens', { name: 'all', rights: ['look', 'apps'], days: 1 })).token
    expect(refusal(await deletion(world, script))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await owner.delete('/apps/no-such-app', { name: 'no-such-app' }))).toBe('404 ERR_APP_NOT_FOUND')
    expect((await world.get('/users')).status).toBe(200)
    expect(dataOf(await deletion(world, owner, world.app.name.toUpperCase())).deletesAt).toBeGreaterThan(0)
  })

  it('is never the one that APP_ID names, which the next start would make again', async () => {
    const refused = await owner.delete('/apps/parley', { name: 'parley' })
    expect(refusal(refused)).toBe('403 ERR_DEFAULT_APP_DELETE_DENIED')
    expect(refused.body.error.devMessage).toContain('APP_ID')
  })

  it('while an import runs takes nothing more in, and leaves nothing of it', async () => {
    const world = await newWorld()
    const users = (from: number) =>
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`i${from + i}`, { name: `Imported ${i}` }]))
    const importing = Promise.all(
      [0, 500, 1000, 1500].map((from) => world.post('/data_import/users', { users: users(from) })),
    )
    const { deletesAt } = dataOf(await deletion(world))
    for (const answer of await importing) expect([200, 503]).toContain(answer.status)
    expect(refusal(await world.post('/data_import/users', { users: users(2000) }))).toBe('503 ERR_MISSION_FAILED')
    await atTime(world, deletesAt)
    expect(await rowsOf(world)).toEqual({})
  })

  it('is removed for the most part although a step fails, and wholly once that works again', async () => {
    const world = await newWorld()
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const { deletesAt } = dataOf(await deletion(world))
    const { context } = service.parley
    await auditLinked(world)
    const media = { ...context.media, removeSome: () => Promise.reject(new Error('the disk is away')) }
    await removeDueApps({ ...context, media }, deletesAt, { only: world.app.appId })
    // Its lease is kept for a while; nobody goes on before it is over.
    await atTime(world, deletesAt)
    expect((await filesOf(world)).length).toBe(1)
    await own.query('update apps set removing_until = 1 where app_id = $1', [world.app.appId])
    await atTime(world, deletesAt)
    expect(await filesOf(world)).toEqual([])
    expect(await rowsOf(world)).toEqual({})
  })
})
