import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inLongSuite } from '../gate/needs.ts'
import { dataOf, say } from '../support/chat.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, deliveriesOf, idsOf, open, register, tell } from '../support/webhooks.ts'
import { send, type World } from '../support/world.ts'

const settings = { WEBHOOK_RETRY_SCHEDULE_SECONDS: Array(20).fill('0.3').join(',') }
let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
})
beforeEach(async () => {
  service = await own.start(settings)
})
afterEach(() => own.stop())
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

/** Waits until an app has so many deliveries, all of them made. */
async function delivered(world: World, count: number): Promise<void> {
  await soon(async () => {
    const [row] = await own.query<{ done: string }>(
      "select count(*) as done from webhook_deliveries where app_id = $1 and status = 'delivered'",
      [world.app.appId],
    )
    expect(Number(row?.done)).toBe(count)
  })
}

/** Ids of the deliveries of an app. */
async function allIds(world: World): Promise<string[]> {
  const rows = await own.query<{ id: string }>(
    "select 'dlv_' || webhook || '_' || id as id from webhook_deliveries where app_id = $1",
    [world.app.appId],
  )
  return rows.map(({ id }) => id).sort()
}

const many = inLongSuite.isMet ? 1_000 : 400

describe('an endpoint that was down', () => {
  it('gets each of many events at least once, with the service restarted in between', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    await endpoint.close()
    for (let i = 0; i < 10; i++) await tell(world, message, many / 10, i % 7)
    await soon(async () => expect(await allIds(world)).toHaveLength(many))
    await soon(async () => {
      const [row] = await own.query<{ failures: number }>(
        'select failures from webhook_states s join webhooks w on w.key = s.webhook where w.app_id = $1',
        [world.app.appId],
      )
      expect(row?.failures).toBeGreaterThan(10)
    })
    await service.parley.close()
    await own.start(settings)

    const back = await open(endpoint.port)
    await delivered(world, many)
    expect([...new Set(idsOf(back))].sort()).toEqual(await allIds(world))
  })

  it('is left alone after ten failures, tried one at a time, and told everything once it is back', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url, { retryOnFailure: false })
    endpoint.behave({ status: 500, delayMs: 50 })
    await tell(world, message, 200, 1)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(11))
    expect(endpoint.received.length).toBeLessThan(30)
    const failed = endpoint.received.length
    endpoint.behave({})
    await soon(async () => expect(await deliveriesOf(world, '?status=pending&limit=1')).toEqual([]))
    // Those that were tried had their one attempt, and no others: what waited was not used up.
    const lost = await deliveriesOf(world, '?status=failed&limit=1000')
    expect(lost.length).toBeGreaterThanOrEqual(failed)
    expect(lost.length).toBeLessThan(30)
    expect(new Set(idsOf(endpoint)).size).toBe(200)
  })

  it('is disabled with a reason after days of failures only', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ status: 500 })
    await tell(world, message, 20)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(10))
    await service.parley.close()
    await own.query('update webhook_states set failing_since = failing_since - 6 * 86400000::bigint')
    const again = await own.start(settings)
    const headers = { appid: world.app.name, apikey: world.apiKey }
    await soon(async () => {
      expect(dataOf(await send(again.url, 'GET', '/webhooks/hook', undefined, headers))).toMatchObject({
        ...{ enabled: false, disabledReason: expect.stringMatching(/^No delivery has succeeded since 20\d\d-/) },
        disabledAt: expect.any(Number),
      })
    })
  })

  it('is not disabled where it has failed for a moment, in which the clock went ahead by days', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ status: 500 })
    await tell(world, message, 20)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(10))
    await service.parley.close()
    const before = Date.now() - 6 * 86_400_000
    const app = [world.app.appId]
    await own.query('update webhook_states set failing_since = $2, paused_until = 0 where app_id = $1', [
      ...app,
      before,
    ])
    await own.query(`update settings set value = $1 where name = 'age_clock'`, [`${before} ${before} 0`])
    const again = await own.start(settings)
    // It is left alone after another failure, which is when it would have been disabled.
    const paused = 'select from webhook_states where app_id = $1 and paused_until > 0'
    await soon(async () => expect(await own.query(paused, app)).toHaveLength(1))
    const headers = { appid: world.app.name, apikey: world.apiKey }
    expect(dataOf(await send(again.url, 'GET', '/webhooks/hook', undefined, headers)).enabled).toBe(true)
    dataOf(await send(again.url, 'DELETE', '/webhooks/hook', undefined, headers))
  })
})

describe('an endpoint that is slow', () => {
  it('holds up neither sends nor other endpoints', async () => {
    const [{ world, message }, slow, quick] = [await chatWorld(service), await open(), await open()]
    // It answers nothing before the rest of this is over, however slow the machine is.
    slow.behave({ delayMs: 60_000 })
    await register(world, slow.url)
    await register(world, quick.url, { id: 'quick' })
    for (let i = 0; i < 20; i++) await tell(world, message, 5, i)
    const texts = await Promise.all(Array.from({ length: 100 }, (_, i) => say(world, 'alice', 'bob', `text ${i}`)))
    expect(texts).toHaveLength(100)
    await soon(() => expect(quick.received.length).toBeGreaterThanOrEqual(100))
    // All of that went on while the slow one had not answered once in time.
    expect(await deliveriesOf(world, '?status=delivered')).toEqual([])
    expect(slow.mostAtOnce).toBeLessThanOrEqual(10)
    dataOf(await world.delete('/webhooks/hook'))
  })
})

describe('deliveries of one conversation', () => {
  it('start in the order of its events, also where some fail, and where others overtake', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    const failing = new Set<string>()
    endpoint.behave(({ headers }, count) => {
      const id = headers['webhook-id'] as string
      const isFirst = !failing.has(id)
      failing.add(id)
      return { delayMs: (count * 7) % 23, ...(count % 9 === 0 && isFirst && { status: 500 }) }
    })
    const conversationOf = new Map<string, number>()
    for (let i = 0; i < 40; i++) await tell(world, message, 5, i % 4)
    await delivered(world, 200)
    for (const { id, conversation } of await own.query<{ id: string; conversation: string }>(
      "select 'dlv_' || webhook || '_' || id as id, conversation from webhook_deliveries where app_id = $1",
      [world.app.appId],
    )) {
      conversationOf.set(id, Number(conversation))
    }
    expect(conversationOf.size).toBe(200)
    const firsts = [...new Set(idsOf(endpoint))]
    for (const conversation of [0, 1, 2, 3]) {
      const order = firsts.filter((id) => conversationOf.get(id) === conversation).map((id) => Number(id.split('_')[2]))
      expect(order).toEqual([...order].sort((a, b) => a - b))
      expect(order).toHaveLength(50)
    }
    expect(endpoint.mostAtOnce).toBeGreaterThan(1)
  })
})

describe('two processes', () => {
  it('share the deliveries: each is made once', async () => {
    await own.start(settings)
    const worlds = await Promise.all([1, 2, 3, 4, 5, 6].map(() => chatWorld(service)))
    const endpoints = await Promise.all(worlds.map(() => open()))
    for (const [i, { world }] of worlds.entries()) await register(world, endpoints[i]?.url as string)
    for (let round = 0; round < 10; round++) {
      await Promise.all(worlds.map(({ world, message }, i) => tell(world, message, 10, i)))
    }
    for (const [i, { world }] of worlds.entries()) {
      await delivered(world, 100)
      expect(idsOf(endpoints[i] as never).sort()).toEqual(await allIds(world))
    }
  })

  it('go on for each other: one that stops leaves nothing behind', async () => {
    const other = await own.start(settings)
    const [{ world, message }, endpoint] = [await chatWorld(other), await open()]
    endpoint.behave({ delayMs: 100 })
    await register(world, endpoint.url)
    await tell(world, message, 60, 1)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(3))
    await service.parley.close()
    await delivered(world, 60)
    expect([...new Set(idsOf(endpoint))]).toHaveLength(60)
  })

  it('take over what one holds that is gone without a word', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url, { enabled: false })
    // As a process leaves it that was killed while it delivered: lease, job, lock of the job.
    await own.query(
      `update webhook_states s set leased_by = 'gone',
         leased_until = (extract(epoch from now()) * 1000)::bigint + 3000
       from webhooks w where w.key = s.webhook and w.app_id = $1`,
      [world.app.appId],
    )
    await own.query('update webhooks set enabled = true where app_id = $1', [world.app.appId])
    world.context.events.forget(world.app.appId)
    await tell(world, message, 5)
    await delivered(world, 5)
    expect(new Set(idsOf(endpoint)).size).toBe(5)
  })
})

describe('the database', () => {
  it('may cut every connection: what was due is delivered all the same', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ delayMs: 50 })
    await tell(world, message, 60, 1)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(5))
    await own.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await delivered(world, 60)
    expect(new Set(idsOf(endpoint)).size).toBe(60)
    // The next ones are delivered as quickly as ever: the runner and its listener are there again.
    await soon(async () => {
      await tell(world, message)
    })
    await delivered(world, 61)
  })
})

describe('a webhook that is changed while it is delivered to', () => {
  /** Sixty events of one conversation are on their way, slowly. */
  async function underWay() {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    endpoint.behave({ delayMs: 100 })
    await register(world, endpoint.url)
    await tell(world, message, 60, 1)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(3))
    return { world, endpoint }
  }

  it('gets the rest at its new address', async () => {
    const [{ world, endpoint }, other] = [await underWay(), await open()]
    dataOf(await world.put('/webhooks/hook', { webhookURL: other.url }))
    await delivered(world, 60)
    expect(other.received.length).toBeGreaterThan(20)
    expect(new Set([...idsOf(endpoint), ...idsOf(other)]).size).toBe(60)
  })

  it('gets no more once it is disabled or removed', async () => {
    for (const stop of [
      (world: World) => world.put('/webhooks/hook', { enabled: false }),
      (world: World) => world.delete('/webhooks/hook'),
    ]) {
      const { world, endpoint } = await underWay()
      dataOf(await stop(world))
      await soon(async () => {
        const holders = await own.query(
          `select from webhook_states s join webhooks w on w.key = s.webhook
           where w.app_id = $1 and s.leased_by is not null`,
          [world.app.appId],
        )
        const jobs = await own.query('select from graphile_worker.jobs')
        expect([holders, jobs]).toEqual([[], []])
      })
      expect(endpoint.received.length).toBeLessThan(50)
    }
  })
})
