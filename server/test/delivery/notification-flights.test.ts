import { afterAll, beforeAll, expect, it } from 'vitest'
import { hold } from '../../src/chat/held-by-restore.ts'
import { type Flight, leaveToOthers } from '../../src/delivery/notifications/flights.ts'
import { createFreshness } from '../../src/delivery/notifications/freshness.ts'
import { createTokenOpener } from '../../src/delivery/notifications/opened-tokens.ts'
import { planWhileAsked } from '../../src/delivery/notifications/planner.ts'
import type { Ready } from '../../src/delivery/notifications/ready.ts'
import { sendDue } from '../../src/delivery/notifications/send.ts'
import { createSenders } from '../../src/delivery/notifications/senders.ts'
import { createHands } from '../../src/delivery/outbound/hands.ts'
import { createSeats } from '../../src/delivery/outbound/seats.ts'
import { createWakes } from '../../src/delivery/outbound/wakes.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { dataOf, say } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { logsOf, setUpCustomPush, toldTo } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { rollBackFirst } from '../support/roll-back.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start()
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

async function notifiedWorld(): Promise<{ world: World; endpoint: Endpoint }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', 'bob')
  await setUpCustomPush(world, endpoint.url)
  return { world, endpoint }
}

interface Row {
  readonly message: string
  readonly status: string
  readonly waits: boolean
  readonly isDue: boolean
}

const rowsOf = ({ app }: World) =>
  own.query<Row>(
    `select message, status, day = 0 as waits, due_at is not null as "isDue"
    from notification_deliveries
    where app_id = $1
    order by id`,
    [app.appId],
  )
const flightsOf = ({ app }: World) => own.query('select from notification_flights where app_id = $1', [app.appId])
const untilDelivered = (world: World, count: number) =>
  soon(async () => {
    const statuses = (await rowsOf(world)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: count }, () => 'delivered'))
    expect(await flightsOf(world)).toEqual([])
  })

/** As if whoever sent what was delivered had not written that yet, or had been killed before they could. */
async function forgetResults({ app }: World, holder = 'killed'): Promise<Flight> {
  const lost = await own.query<{ id: number; provider: number; day: number }>(
    `update notification_deliveries
    set status = 'pending', due_at = created_at, ended_at = null
    where app_id = $1
    returning id, provider, day`,
    [app.appId],
  )
  const [one] = lost
  await own.query(
    `insert into notification_flights (app_id, provider, first, holder, day, ids) values ($1, $2, $3, $4, $5, $6)`,
    [app.appId, one?.provider, one?.id, holder, one?.day, lost.map(({ id }) => id)],
  )
  return { first: Number(one?.id), day: Number(one?.day), left: lost.length }
}

/** Plans everything once more, as somebody who takes whoever sends for being there. @returns what they were to send, and did not take */
async function planForNobody(world: World, holder: string): Promise<readonly Ready[]> {
  const { appId } = world.app
  const isFree = `select from notification_planners where app_id = $1 and leased_by is null`
  await soon(async () => expect(await own.query(isFree, [appId])).toHaveLength(1))
  await own.query(
    `update notification_plans set event = (select min(id) - 1 from events where app_id = $1) where app_id = $1`,
    [appId],
  )
  const [provider] = await own.query<{ key: string }>('select key from notification_providers where app_id = $1', [
    appId,
  ])
  const hands = createHands<Ready>()
  const offered: Ready[] = []
  hands.open(Number(provider?.key), {
    ...{ holder, room: 10 },
    take(items) {
      offered.push(...items)
      return false
    },
  })
  const { database, settings, notificationSettings, policies } = service.parley.context
  const wakes = createWakes()
  const seats = createSeats(0)
  await planWhileAsked(
    {
      ...{ database, settings, notificationSettings, policies, hands, seats },
      ...{ now: Date.now, wakes, planWakes: wakes, tracing: undefined },
    },
    appId,
    new AbortController().signal,
  )
  return offered
}

it('a push that is sent as it is planned never waits, and an edit meanwhile comes after it', async () => {
  const { world, endpoint } = await notifiedWorld()
  await say(world, 'alice', 'bob', 'one')
  await untilDelivered(world, 1)
  // Nobody can write what becomes of pushes, so whoever sends stays.
  const release = await own.lock('select from usage_notifications where app_id = $1 for update', [world.app.appId])
  await say(world, 'alice', 'bob', 'two')
  await soon(() => expect(endpoint.received).toHaveLength(2))
  const { id } = await say(world, 'alice', 'bob', 'three')
  await soon(() => expect(endpoint.received).toHaveLength(3))
  expect((await rowsOf(world)).at(-1)).toEqual({ message: id, status: 'pending', waits: false, isDue: true })
  expect((await flightsOf(world)).length).toBeGreaterThan(0)
  expect((await logsOf(world)).at(-1)).toMatchObject({ messageId: Number(id), uid: 'bob', attempts: 0 })

  dataOf(await world.put(`/messages/${id}`, { data: { text: 'changed' } }, { as: 'alice' }))
  await soon(async () => expect((await rowsOf(world)).at(-1)).toMatchObject({ message: id, waits: true }))
  await release()
  await untilDelivered(world, 4)
  expect(toldTo(endpoint).sort()).toEqual([
    'bob: Alice, changed',
    'bob: Alice, one',
    'bob: Alice, three',
    'bob: Alice, two',
  ])
})

it('what a killed process was sending is sent again with the same id', async () => {
  const { world, endpoint } = await notifiedWorld()
  await say(world, 'alice', 'bob', 'hello')
  await untilDelivered(world, 1)
  await forgetResults(world)
  await untilDelivered(world, 1)
  const ids = endpoint.received.map(({ headers }) => headers['webhook-id'])
  expect([ids.length, new Set(ids).size]).toEqual([2, 1])
})

it('what was sent is not sent again because the database rolled back what became of it, as after a deadlock', async () => {
  const { world, endpoint } = await notifiedWorld()
  const end = await rollBackFirst(own, 'notification_deliveries')
  await say(world, 'alice', 'bob', 'hello')
  await untilDelivered(world, 1)
  expect(await end()).toBe(2)
  expect(endpoint.received).toHaveLength(1)
})

it('what could not be handed over any more waits, and is sent by others', async () => {
  const { world, endpoint } = await notifiedWorld()
  await say(world, 'alice', 'bob', 'hello')
  await untilDelivered(world, 1)
  const offered = await planForNobody(world, 'gone')
  expect(offered).toHaveLength(1)
  await untilDelivered(world, 2)
  expect(toldTo(endpoint)).toEqual(['bob: Alice, hello', 'bob: Alice, hello'])
  expect(endpoint.received.at(-1)?.headers['webhook-id']).toContain(`_${offered[0]?.id}`)
})

it('what could not be handed over any more takes back nothing else that is being sent', async () => {
  const { world, endpoint } = await notifiedWorld()
  const { id } = await say(world, 'alice', 'bob', 'hello')
  await untilDelivered(world, 1)
  // Nobody else sends meanwhile.
  await soon(async () =>
    expect(
      await own.query(
        `update notification_senders
        set leased_by = 'closing', leased_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000
        where app_id = $1 and leased_by is null
        returning provider`,
        [world.app.appId],
      ),
    ).toHaveLength(1),
  )
  await forgetResults(world, 'closing')
  expect(await planForNobody(world, 'closing')).toHaveLength(1)
  expect(await rowsOf(world)).toEqual([
    { message: id, status: 'pending', waits: false, isDue: true },
    { message: id, status: 'pending', waits: true, isDue: true },
  ])
  expect(await flightsOf(world)).toHaveLength(1)
  expect(endpoint.received).toHaveLength(1)
})

it('what is not taken while a lease is being given back is sent once where that is kept after all', async () => {
  const { world, endpoint } = await notifiedWorld()
  const { id: message } = await say(world, 'alice', 'bob', 'hello')
  await untilDelivered(world, 1)
  const [{ appId }, hands] = [world.app, createHands<Ready>()]
  const isFree = 'select provider from notification_senders where app_id = $1 and leased_by is null'
  const { provider } = await until(async () => (await own.query<{ provider: number }>(isFree, [appId]))[0])
  const key = { appId, endpoint: Number(provider) }
  const { config, database, outbound, ...context } = service.parley.context
  let isLate = true
  /** Somebody is late with what they have planned: the lease is about to be given back. */
  const withLateHandOver: Database = {
    ...database,
    async query<Row>(...[asked, values]: Parameters<Database['query']>) {
      const hand = hands.find(key.endpoint)
      if (isLate && asked.text.includes('with released') && hand !== undefined) {
        isLate = false
        const flight = await forgetResults(world, hand.holder)
        expect(hand.take([{ id: flight.first, flight } as Ready])).toBe(false)
        await leaveToOthers(database, key, hand.holder, flight)
      }
      return database.query<Row>(asked, values)
    },
  }
  await sendDue(
    {
      ...{ ...context, hands, database: withLateHandOver, results: database, now: Date.now, tracing: undefined },
      ...{ metrics: { ended() {} }, pace: { turn: () => undefined }, seats: createSeats(0), wakes: createWakes() },
      ...{ openToken: createTokenOpener(context.secrets), freshness: createFreshness() },
      senders: createSenders({ ...context, poster: outbound.poster, endpoints: config.notifications }),
      ...{ publicUrl: config.publicUrl, replyMailbox: undefined },
    },
    key,
    new AbortController().signal,
  )
  expect(isLate).toBe(false)
  expect(await rowsOf(world)).toEqual([{ message, status: 'delivered', waits: false, isDue: false }])
  expect(endpoint.received).toHaveLength(2)
})

it('what was being sent at the time of a backup waits for an operator after a restore', async () => {
  const { world, endpoint } = await notifiedWorld()
  const { id } = await say(world, 'alice', 'bob', 'hello')
  await untilDelivered(world, 1)
  // Nobody sends it again before it is held.
  await service.parley.close()
  await forgetResults(world)
  const database = openDatabase(own.connection)
  await hold(database)
  await database.close()
  expect(await rowsOf(world)).toEqual([{ message: id, status: 'pending', waits: true, isDue: false }])
  expect(await flightsOf(world)).toEqual([])
  expect(endpoint.received).toHaveLength(1)
})
