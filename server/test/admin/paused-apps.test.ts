import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { type ModerationEmulator, startModerationEmulator } from '../../src/emulators/moderation.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import { addEngineList, addRule, settledAs } from '../support/engines.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { setUpCustomPush, toldTo } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { authFrame, Client, connect, tokenOf } from '../support/socket.ts'
import { soon, until } from '../support/until.ts'
import { chatWorld, closeEndpoints, open, register, tell } from '../support/webhooks.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'
import { createOperator, createOwner, Visitor } from './operator.ts'

let own: OwnServices
let service: Service
/** Another process that serves the same database. */
let second: Service
let owner: Visitor
let engines: ModerationEmulator

beforeAll(async () => {
  engines = await startModerationEmulator()
  own = await createOwnServices()
  service = await own.start({ CONSOLE: 'on' })
  second = await own.start({ CONSOLE: 'on' })
  owner = await createOwner({ url: service.url, context: service.parley.context })
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
  await engines.close()
})

const paused = '503 ERR_MISSION_FAILED'

async function newWorld(): Promise<World> {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  return world
}

const pause = async ({ app }: World, by = owner) => dataOf(await by.post(`/apps/${app.name}/pause`))
const resume = async ({ app }: World, by = owner) => dataOf(await by.post(`/apps/${app.name}/resume`))

/** As the other process serves it. */
const atSecond = (world: World) => servedBy(world, second.url)

describe('a paused app', () => {
  it('answers 503 to every request, and goes on where it was', async () => {
    const [world, other] = [await newWorld(), await newWorld()]
    const token = await tokenOf(world, 'alice')
    const { url } = dataOf(await sendForm(world, toBob, [picture], { as: 'alice' })).data.attachments[0]
    const { pausedAt, ...shown } = await pause(world)
    expect(pausedAt).toBeGreaterThan(1_700_000_000)
    expect(shown).toMatchObject({ appId: world.app.name, isDefault: false })
    const answer = await world.get('/users')
    expect(answer.body.error).toEqual({
      code: 'ERR_MISSION_FAILED',
      message: 'The service is temporarily unavailable. Please try again.',
      devMessage: `The app ${world.app.name} is paused. Try again later.`,
      source: 'chat-api',
    })
    expect(answer.headers['retry-after']).toBe('10')
    expect(refusal(await world.get('/me', { token }))).toBe(paused)
    expect(refusal(await world.post('/users', { uid: 'carol', name: 'Carol' }))).toBe(paused)
    expect(refusal(await world.get('/users', { headers: { apikey: 'wrong' } }))).toBe(paused)
    expect(refusal(await sendForm(world, toBob, [picture], { as: 'alice' }))).toBe(paused)
    expect((await request(url)).statusCode).toBe(503)
    expect(refusal(await other.get('/users/carol'))).toBe('404 ERR_UID_NOT_FOUND')
    for (const path of ['/health', '/ready', '/metrics']) {
      expect((await request(service.url + path)).statusCode).toBe(200)
    }

    expect(await resume(world)).not.toHaveProperty('pausedAt')
    expect(dataOf(await world.get('/me', { token })).uid).toBe('alice')
    expect(refusal(await world.get('/users/carol'))).toBe('404 ERR_UID_NOT_FOUND')
    expect((await request(url)).statusCode).toBe(200)
  })

  it('is paused in every process, and in one that starts later', async () => {
    const world = await newWorld()
    expect((await atSecond(world).get('/users')).status).toBe(200)
    await pause(world)
    await soon(async () => expect(refusal(await atSecond(world).get('/users'))).toBe(paused))
    const third = await own.start()
    expect(refusal(await servedBy(world, third.url).get('/users'))).toBe(paused)
    const byThird = new Visitor(second.url)
    byThird.cookie = owner.cookie
    await resume(world, byThird)
    for (const { url } of [service, second, third]) {
      await soon(async () => expect((await servedBy(world, url).get('/users')).status).toBe(200))
    }
    await third.parley.close()
  })

  it('closes its sockets and lets none in, whichever process has them', async () => {
    const [world, other] = [await newWorld(), await newWorld()]
    const token = await tokenOf(world, 'alice')
    const open = [await connect(world, 'alice'), await connect(atSecond(world), 'bob')]
    const theirs = await connect(other, 'alice')
    await pause(world)
    for (const client of open) expect(await client.closed()).toBe(4503)
    const late = new Client(world.url)
    await late.opened()
    late.send(authFrame(world, 'alice', token))
    expect((await late.takeType('auth')).body).toEqual({ code: '503', status: 'ERR_MISSION_FAILED' })
    expect(await late.closed()).toBe(4503)
    await theirs.pong()
    await resume(world)
    const again = await connect(world, 'alice', { token })
    await say(world, 'bob', 'alice', 'welcome back')
    await again.takeText('welcome back')
    expect(theirs.closedWith).toBeUndefined()
  })

  it('has no socket left whose login was being checked when it was paused', async () => {
    const world = await newWorld()
    const token = await tokenOf(world, 'alice')
    for (let round = 0; round < 10; round++) {
      const clients = await Promise.all(Array.from({ length: 5 }, () => new Client(world.url).opened()))
      for (const client of clients) client.send(authFrame(world, 'alice', token))
      await pause(world)
      for (const client of clients) expect(await client.closed()).toBe(4503)
      await resume(world)
    }
  })

  it('has stored whatever it acknowledged, and nothing that it refused', async () => {
    const world = await newWorld()
    let isPaused = false
    const sent = new Map<string, string>()
    const send = async (name: string) => {
      for (let i = 0, isLast = false; !isLast; i++) {
        isLast = isPaused
        const text = `${name} ${i}`
        const body = { receiver: 'bob', receiverType: 'user', data: { text } }
        const at = i % 2 === 0 ? world : atSecond(world)
        const answer = await at.post('/messages', body, { as: 'alice' })
        sent.set(text, answer.status === 200 ? 'stored' : refusal(answer))
      }
    }
    const sending = ['a', 'b', 'c', 'd', 'e', 'f'].map(send)
    await until(() => sent.size > 20)
    await pause(world)
    await soon(async () => expect(refusal(await atSecond(world).get('/users'))).toBe(paused))
    isPaused = true
    await Promise.all(sending)
    await resume(world)
    const stored: string[] = []
    for (let after = ''; ; ) {
      const page = dataOf(await world.get(`/users/bob/messages?limit=100&affix=append${after}`, { as: 'alice' }))
      stored.push(...page.map((message: { data: { text: string } }) => message.data.text))
      if (page.length < 100) break
      after = `&id=${page.at(-1).id}`
    }
    expect(new Set(sent.values())).toEqual(new Set(['stored', paused]))
    expect(stored.toSorted()).toEqual([...sent].flatMap(([text, how]) => (how === 'stored' ? text : [])).toSorted())
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })
})

describe('what is done for a paused app in the background', () => {
  it('waits: webhooks are delivered once it goes on', async () => {
    const { world, message } = await chatWorld(service)
    const { world: other, message: theirs } = await chatWorld(service)
    const [endpoint, others] = [await open(), await open()]
    await register(world, endpoint.url)
    await register(other, others.url)
    await pause(world)
    await tell(world, message, 3)
    const waiting = () =>
      own.query<{ attempts: number; due: boolean }>(
        'select attempts, due_at is not null as due from webhook_deliveries where app_id = $1',
        [world.app.appId],
      )
    await until(async () => (await waiting()).length === 3)
    // The job that was added for them is over, and has done nothing.
    const jobs = () => own.query('select from graphile_worker.jobs where key like $1', [`webhook:${world.app.appId}:%`])
    await until(async () => (await jobs()).length === 0)
    await tell(other, theirs)
    await until(() => others.received.length === 1)
    expect(endpoint.received).toEqual([])
    expect(await waiting()).toEqual(Array(3).fill({ attempts: 0, due: true }))
    // It is not late: nobody is to mend anything.
    await own.query('update webhook_deliveries set due_at = 1 where app_id = $1', [world.app.appId])
    const { checks } = dataOf(await owner.get(`/apps/${world.app.name}/health`))
    expect(checks.find(({ check }: { check: string }) => check === 'webhooks')).toMatchObject({ state: 'ok' })
    await resume(world)
    await until(() => endpoint.received.length === 3)
    expect(endpoint.received.map(({ body }) => body.data.message.data.text)).toEqual(Array(3).fill('hello'))
  })

  it('waits while a delivery is under way, and a webhook that failed before is not disabled for the pause', async () => {
    const { world, message } = await chatWorld(service)
    const endpoint = await open()
    await register(world, endpoint.url)
    endpoint.behave({ status: 500 })
    await tell(world, message)
    await until(() => endpoint.received.length > 0)
    const health = () =>
      own.query<{ failures: number }>('select failures from webhook_states where app_id = $1', [world.app.appId])
    await until(async () => ((await health())[0]?.failures ?? 0) > 0)
    await pause(world)
    await until(async () => {
      const leased = await own.query('select from webhook_states where app_id = $1 and leased_until > 0', [
        world.app.appId,
      ])
      return leased.length === 0
    })
    await resume(world)
    expect(await health()).toEqual([{ failures: 0 }])
    endpoint.behave({})
    await own.query('update webhook_deliveries set due_at = 1 where app_id = $1 and due_at is not null', [
      world.app.appId,
    ])
    await soon(async () =>
      expect(dataOf(await world.get('/webhooks/hook/deliveries'))[0]).toMatchObject({ status: 'delivered' }),
    )
  })

  it('waits: notifications are planned and sent once it goes on', async () => {
    const world = await newWorld()
    const endpoint = await open()
    await setUpCustomPush(world, endpoint.url)
    const { id } = await say(world, 'alice', 'bob', 'before')
    await until(() => endpoint.received.length === 1)
    await pause(world)
    const [place] = await own.query<{ conversation: number }>(
      'select conversation from messages where app_id = $1 and id = $2',
      [world.app.appId, id],
    )
    await tell(world, { id }, 1, Number(place?.conversation))
    const jobs = () => own.query('select from graphile_worker.jobs where key = $1', [`plan:${world.app.appId}`])
    const behind = () =>
      own.query(
        'select from notification_plans p where p.app_id = $1 and p.event < (select max(id) from events e where e.app_id = $1)',
        [world.app.appId],
      )
    await until(async () => (await behind()).length === 1)
    await until(async () => (await jobs()).length === 0)
    expect((await behind()).length).toBe(1)
    await resume(world)
    await until(() => endpoint.received.length === 2)
    expect(toldTo(endpoint)).toEqual(['bob: Alice, before', 'bob: Alice, before'])
  })

  it('waits: messages are moderated once it goes on', async () => {
    const world = await newWorld()
    await addEngineList(world, 'api', engines)
    // Nobody asks about it before it is paused, see `keepWaiting` in support/database.ts.
    await addRule(world, 'asks', { condition: { category: 'custom-api', value: ['api_greaterThan_80'] } })
    const { appId } = world.app
    const { id } = await say(world, 'alice', 'bob', 'a nice word')
    await pause(world)
    await own.query('alter table message_moderation disable trigger keep_waiting')
    await own.query('update message_moderation set due_at = 1 where app_id = $1', [appId])
    const attempts = async () =>
      (await own.query<{ attempts: number }>('select attempts from message_moderation where app_id = $1', [appId]))[0]
        ?.attempts
    const before = await attempts()
    // Somebody else's, which came later, is asked about.
    const other = await newWorld()
    await addEngineList(other, 'api', engines)
    await addRule(other, 'by-api', { condition: { category: 'custom-api', value: ['api_greaterThan_80'] } })
    await settledAs(other, (await say(other, 'alice', 'bob', 'a nice word')).id, 'approved')
    expect(await attempts()).toBe(before)
    await resume(world)
    await settledAs(world, id, 'approved')
  })

  it('waits: a dry run goes on where it was', async () => {
    const world = await newWorld()
    const rule = {
      id: 'tried',
      name: 'Tried',
      mode: 'off',
      conditions: [{ operand: 'text', category: 'word', value: ['darn'] }],
    }
    dataOf(await world.post('/moderation/rules', rule))
    await say(world, 'alice', 'bob', 'darn')
    await pause(world)
    // Operators change rules, and try them, while the app is paused.
    const path = `/apps/${world.app.name}/moderation/rules/tried/dry-run`
    dataOf(await owner.post(path))
    const held = async () =>
      (
        await own.query<{ at: Date }>(
          "select run_at as at from graphile_worker.jobs where key = 'dry-run:' || (select run from moderation_dry_runs where app_id = $1) and run_at > now() and locked_at is null",
          [world.app.appId],
        )
      ).length
    await until(async () => (await held()) === 1)
    expect(dataOf(await owner.get(path))).toMatchObject({ status: 'running', looked: 0 })
    await resume(world)
    await soon(async () => expect(dataOf(await world.get(`/moderation/rules/tried/dry-run`)).status).toBe('done'))
    expect(dataOf(await world.get(`/moderation/rules/tried/dry-run`))).toMatchObject({ looked: 1, hits: 1 })
  })
})

describe('operators', () => {
  it('see a paused app and change its settings, and are told what waits', async () => {
    const world = await newWorld()
    await pause(world)
    const path = `/apps/${world.app.name}`
    expect(dataOf(await owner.get(`${path}/users`)).length).toBe(2)
    dataOf(await owner.call('PATCH', `${path}/apps/${world.app.name}/settings`, { maxBots: 3 }))
    const refused = await owner.post(`${path}/users`, { uid: 'carol', name: 'Carol' })
    expect(refusal(refused)).toBe(paused)
    expect(refused.body.error.devMessage).toBe(`The app ${world.app.name} is paused. Resume it first.`)
    expect(refusal(await owner.delete(`${path}/users/alice`, { permanent: true }))).toBe(paused)
    await resume(world)
    const actions = dataOf(await owner.get(`${path}/audit-log`)).map(({ action }: { action: string }) => action)
    expect(actions.slice(0, 3)).toEqual(['app_resumed', 'app_settings_updated', 'app_paused'])
    const [listed, ...others] = dataOf(await owner.get(`/apps?searchKey=${world.app.name}`))
    expect(listed).toMatchObject({ appId: world.app.name, region: 'us' })
    expect(others).toEqual([])
  })

  it('pause once, however many do at the same time, and resume once', async () => {
    const world = await newWorld()
    const path = `/apps/${world.app.name}`
    const atOnce = async (what: string) =>
      (await Promise.all(Array.from({ length: 6 }, () => owner.post(`${path}/${what}`)))).map((answer) =>
        answer.status === 200 ? 'done' : refusal(answer),
      )
    expect(await atOnce('resume')).toEqual(Array(6).fill('409 ERR_APP_NOT_PAUSED'))
    expect((await atOnce('pause')).toSorted()).toEqual([...Array(5).fill('409 ERR_APP_ALREADY_PAUSED'), 'done'])
    expect((await atOnce('resume')).toSorted()).toEqual([...Array(5).fill('409 ERR_APP_NOT_PAUSED'), 'done'])
    const log = dataOf(await owner.get(`${path}/audit-log`)).map(({ action }: { action: string }) => action)
    expect(log.filter((action: string) => action.startsWith('app_'))).toEqual([
      'app_resumed',
      'app_paused',
      'app_created',
    ])
  })

  it('need the right to configure the app', async () => {
    const [world, other] = [await newWorld(), await newWorld()]
    const path = `/apps/${world.app.name}`
    for (const role of ['support', 'moderator']) {
      const visitor = await createOperator(owner, { role, apps: [world.app.name] })
      expect(refusal(await visitor.post(`${path}/pause`))).toBe('403 ERR_PERMISSION_DENIED')
      expect(refusal(await visitor.post(`${path}/resume`))).toBe('403 ERR_PERMISSION_DENIED')
    }
    const developer = await createOperator(owner, { role: 'developer', apps: [world.app.name] })
    await pause(world, developer)
    expect(refusal(await developer.post(`/apps/${other.app.name}/pause`))).toBe('404 ERR_APP_NOT_FOUND')
    expect(refusal(await owner.post('/apps/no-such-app/pause'))).toBe('404 ERR_APP_NOT_FOUND')
    expect((await other.get('/users')).status).toBe(200)
    await resume(world, developer)
  })

  it('pause the app that APP_ID names like any other', async () => {
    const { apps } = service.parley.context
    expect(dataOf(await owner.post('/apps/parley/pause')).isDefault).toBe(true)
    expect((await apps.find('parley'))?.pausedAt).not.toBeNull()
    expect((await request(`${service.url}/ready`)).statusCode).toBe(200)
    const later = await own.start()
    expect((await later.parley.context.apps.find('parley'))?.pausedAt).not.toBeNull()
    await later.parley.close()
    dataOf(await owner.post('/apps/parley/resume'))
  })
})
