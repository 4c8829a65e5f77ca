import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { rollBackFirst } from '../support/roll-back.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, deliveriesOf, idsOf, open, register, tell } from '../support/webhooks.ts'

let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.1' })
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

/** A webhook to which three deliveries failed for good and two succeeded, in that order. */
async function worldWithFailures() {
  const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
  await register(world, endpoint.url, { retryOnFailure: false })
  endpoint.behave({ status: 500 })
  await tell(world, message, 3)
  await soon(async () => expect(await deliveriesOf(world, '?status=failed')).toHaveLength(3))
  endpoint.behave({})
  await tell(world, message, 2)
  await soon(async () => expect(await deliveriesOf(world, '?status=delivered')).toHaveLength(2))
  const failed: string[] = (await deliveriesOf(world, '?status=failed')).map(({ id }: { id: string }) => id)
  endpoint.received.length = 0
  return { world, message, endpoint, failed }
}

describe('deliveries', () => {
  it('are listed newest first, in pages, by status, trigger and time', async () => {
    const { world, failed } = await worldWithFailures()
    const statuses = async (query: string) =>
      (await deliveriesOf(world, query)).map(({ status }: { status: string }) => status)
    expect(await statuses('')).toEqual(['delivered', 'delivered', 'failed', 'failed', 'failed'])
    expect(await statuses('?trigger=message_sent&status=failed')).toHaveLength(3)
    expect(await statuses('?trigger=group_created')).toEqual([])
    expect(await statuses('?status=pending')).toEqual([])
    const now = Math.floor(Date.now() / 1000)
    expect(await statuses(`?from=${now - 100}&to=${now + 100}`)).toHaveLength(5)
    expect(await statuses(`?from=${now + 100}`)).toEqual([])
    expect(await statuses(`?to=${now - 100}`)).toEqual([])

    const seen: string[] = []
    let next: { before?: string } | undefined = {}
    while (next !== undefined) {
      const before: string = next.before === undefined ? '' : `&before=${next.before}`
      const { data, meta }: { data: { id: string }[]; meta: { next?: { before: string } } } = (
        await world.get(`/webhooks/hook/deliveries?limit=2${before}`)
      ).body
      seen.push(...data.map(({ id }) => id))
      next = meta.next
    }
    expect(seen).toHaveLength(5)
    expect(seen.slice(2)).toEqual(failed)
  })

  it('are refused to be listed by what is no status, no time and no id', async () => {
    const { world } = await chatWorld(service)
    await register(world, 'http://127.0.0.1:9/', { enabled: false })
    for (const query of ['status=lost', 'from=yesterday', 'limit=0', 'limit=1001', 'before=12', 'before=dlv_0_1']) {
      expect(refusal(await world.get(`/webhooks/hook/deliveries?${query}`))).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await world.get('/webhooks/nowhere/deliveries'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
  })

  it('are sent again one by one, with their own ids, whatever became of them', async () => {
    const { world, endpoint, failed } = await worldWithFailures()
    const again = dataOf(await world.post(`/webhooks/hook/deliveries/${failed[1]}/redeliver`))
    expect(again).toMatchObject({ id: failed[1], status: 'pending', nextAttemptAt: expect.any(Number) })
    await soon(() => expect(idsOf(endpoint)).toEqual([failed[1]]))
    await soon(async () => {
      const delivery = (await deliveriesOf(world)).find(({ id }: { id: string }) => id === failed[1])
      expect(delivery).toMatchObject({ status: 'delivered', attempts: 2 })
    })
    dataOf(await world.post(`/webhooks/hook/deliveries/${failed[1]}/redeliver`))
    await soon(() => expect(idsOf(endpoint)).toEqual([failed[1], failed[1]]))
  })

  it.each([
    ['by its id', (id: string) => `/${id}/redeliver`, undefined],
    ['with others', () => '/redeliver', { status: 'pending' }],
  ])(
    'are sent again where an attempt is under way as they are asked for %s, whatever becomes of it',
    async (_, path, body) => {
      for (const status of [500, 200]) {
        const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
        await register(world, endpoint.url, { retryOnFailure: false })
        endpoint.behave((_, count) => (count === 1 ? { status, body: 'first', delayMs: 1_500 } : {}))
        await tell(world, message)
        await soon(() => expect(endpoint.received).toHaveLength(1))
        const [id] = idsOf(endpoint)
        dataOf(await world.post(`/webhooks/hook/deliveries${path(id as string)}`, body))
        await soon(() => expect(idsOf(endpoint)).toEqual([id, id]))
        await soon(async () => expect(await deliveriesOf(world)).toMatchObject([{ status: 'delivered', attempts: 2 }]))
      }
    },
  )

  it('are sent again together, by status and time', async () => {
    const { world, endpoint, failed } = await worldWithFailures()
    const redeliver = async (body: object) =>
      dataOf(await world.post('/webhooks/hook/deliveries/redeliver', body)).count
    const now = Math.floor(Date.now() / 1000)
    expect(await redeliver({ status: 'failed', from: now + 100 })).toBe(0)
    expect(await redeliver({ status: 'failed', trigger: 'group_created' })).toBe(0)
    expect(await redeliver({ status: 'failed', from: now - 100, to: String(now + 100) })).toBe(3)
    await soon(() => expect(endpoint.received).toHaveLength(3))
    expect(idsOf(endpoint).sort()).toEqual([...failed].sort())
    await soon(async () => expect(await deliveriesOf(world, '?status=delivered')).toHaveLength(5))
  })

  it('are not sent again where they are not of this webhook', async () => {
    const [one, other] = [await worldWithFailures(), await worldWithFailures()]
    for (const id of [other.failed[0], 'dlv_1_99999999', '17', 'x', '__proto__', `${one.failed[0]}0`]) {
      const answer = await one.world.post(`/webhooks/hook/deliveries/${id}/redeliver`)
      expect(refusal(answer)).toBe('404 ERR_DELIVERY_NOT_FOUND')
    }
    expect(refusal(await one.world.post('/webhooks/nowhere/deliveries/x/redeliver'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
    for (const body of [{}, { status: 'lost' }, { status: 'failed', from: 'today' }]) {
      const answer = await one.world.post('/webhooks/hook/deliveries/redeliver', body)
      expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    }
    expect(other.endpoint.received).toEqual([])
  })

  it('tell what is there when they are sent again', async () => {
    const { world, message, endpoint, failed } = await worldWithFailures()
    dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    dataOf(await world.post(`/webhooks/hook/deliveries/${failed[0]}/redeliver`))
    await soon(() => expect(endpoint.received).toHaveLength(1))
    expect(endpoint.received[0]?.body.data.message).toMatchObject({ id: message.id, deletedAt: expect.any(Number) })
    expect(endpoint.received[0]?.text).not.toContain('hello')
  })

  it('of events that are gone fail with a reason', async () => {
    const { world, failed } = await worldWithFailures()
    await own.query('delete from events where app_id = $1', [world.app.appId])
    dataOf(await world.post(`/webhooks/hook/deliveries/${failed[0]}/redeliver`))
    await soon(async () => {
      const delivery = (await deliveriesOf(world)).find(({ id }: { id: string }) => id === failed[0])
      expect(delivery).toMatchObject({ status: 'failed', error: 'what happened can no longer be told' })
    })
  })

  it('are removed when they are too old', async () => {
    const { world } = await worldWithFailures()
    await own.query('update webhook_deliveries set created_at = created_at - 8 * 86400 where app_id = $1', [
      world.app.appId,
    ])
    // A service that starts looks at once.
    const other = await own.start()
    await soon(async () => expect(await deliveriesOf(world)).toEqual([]))
    await other.parley.close()
  })
})

describe('a test', () => {
  it('sends a signed sample at once and answers what came back, also where the webhook is disabled', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url, { enabled: false, triggers: [] })
    endpoint.behave({ body: '{"thanks":true}' })
    const delivery = dataOf(await world.post('/webhooks/hook/test'))
    expect(delivery).toEqual({
      ...{ id: idsOf(endpoint)[0], eventId: expect.any(String), trigger: 'message_sent', status: 'delivered' },
      ...{ attempts: 1, createdAt: expect.any(Number), attemptedAt: expect.any(Number) },
      ...{ durationMs: expect.any(Number), test: true, answer: { status: 200, excerpt: '{"thanks":true}' } },
    })
    expect(endpoint.received[0]?.body).toMatchObject({
      ...{ trigger: 'message_sent', webhook: 'hook', appId: world.app.name },
      data: { message: { sender: 'sample-alice' } },
    })
    expect(endpoint.received[0]?.headers['webhook-signature']).toMatch(/^v1,/)
    // What a success answered is not kept.
    expect(await deliveriesOf(world)).toEqual([{ ...delivery, answer: { status: 200 } }])
  })

  it('tells why it failed, and can be sent again like any delivery', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ status: 401, body: 'who are you?' })
    const failed = dataOf(await world.post('/webhooks/hook/test'))
    expect(failed).toMatchObject({
      ...{ status: 'failed', error: 'the endpoint answered 401' },
      answer: { status: 401, excerpt: 'who are you?' },
    })
    endpoint.behave({})
    dataOf(await world.post(`/webhooks/hook/deliveries/${failed.id}/redeliver`))
    await soon(() => expect(idsOf(endpoint)).toEqual([failed.id, failed.id]))
    expect(refusal(await world.post('/webhooks/nowhere/test'))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
  })

  it('is read with the body that it would send now', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(1))
    const [id] = idsOf(endpoint)
    const delivery = () => world.get(`/webhooks/hook/deliveries/${id}`)
    // What became of it is written a moment after it came.
    await soon(async () => expect(await deliveriesOf(world)).toMatchObject([{ status: 'delivered' }]))
    const [listed] = await deliveriesOf(world)
    expect(dataOf(await delivery())).toEqual({ ...listed, body: endpoint.received[0]?.body })
    dataOf(await world.put(`/messages/${message.id}`, { data: { text: 'changed' } }, { as: 'alice' }))
    expect(dataOf(await delivery()).body.data.message.data.text).toBe('changed')
    const test = dataOf(await world.post('/webhooks/hook/test'))
    const { body } = dataOf(await world.get(`/webhooks/hook/deliveries/${test.id}`))
    expect(body.data.message.sender).toBe('sample-alice')

    // Nothing of another webhook, and nothing that is no delivery.
    await register(world, endpoint.url, { id: 'other' })
    expect(refusal(await world.get(`/webhooks/other/deliveries/${id}`))).toBe('404 ERR_DELIVERY_NOT_FOUND')
    expect(refusal(await world.get('/webhooks/hook/deliveries/dlv_1_nothing'))).toBe('404 ERR_DELIVERY_NOT_FOUND')
    expect(refusal(await world.get(`/webhooks/nowhere/deliveries/${id}`))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
  })

  it('says so where nobody listens', async () => {
    const { world } = await chatWorld(service)
    await register(world, 'http://127.0.0.1:9/')
    const failed = dataOf(await world.post('/webhooks/hook/test'))
    expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('ECONNREFUSED') })
    expect(failed.answer).toBeUndefined()
  })
})

it('what was delivered is not delivered again because the database rolled back what became of it', async () => {
  const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
  await register(world, endpoint.url)
  const end = await rollBackFirst(own, 'webhook_deliveries')
  await tell(world, message)
  await soon(async () => expect(await deliveriesOf(world, '?status=delivered')).toHaveLength(1))
  expect(await end()).toBe(2)
  expect(endpoint.received).toHaveLength(1)
})
