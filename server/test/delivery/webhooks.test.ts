import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, refusal, say } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { connect } from '../support/socket.ts'
import { soon } from '../support/until.ts'
import { chatWorld, closeEndpoints, deliveriesOf, idsOf, open, register, tell } from '../support/webhooks.ts'

let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.2,0.2,0.2,0.2,0.2,0.2,0.2,0.2' })
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

function signatures(secrets: string[], id: string, timestamp: string, text: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')}`
    })
    .join(' ')
}

describe('a delivery', () => {
  it('is posted in the envelope, named, dated and signed, with the password', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    const { secret } = await register(world, endpoint.url, { useBasicAuth: true, username: 'user', password: 'pass1' })
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(1))

    const [{ headers, text, body, path }] = endpoint.received as [Endpoint['received'][0]]
    expect(path).toBe('/hook')
    expect(body).toEqual({
      trigger: 'message_sent',
      data: { message: expect.objectContaining({ id: message.id, sender: 'alice' }) },
      appId: world.app.name,
      region: 'us',
      webhook: 'hook',
    })
    expect(body.data.message.data.text).toBe('hello')
    expect(headers['content-type']).toBe('application/json')
    expect(headers['user-agent']).toMatch(/^Parley-Webhooks\//)
    expect(headers.authorization).toBe(`Basic ${Buffer.from('user:pass1').toString('base64')}`)
    const [id, timestamp] = [headers['webhook-id'] as string, headers['webhook-timestamp'] as string]
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(30)
    expect(headers['webhook-signature']).toBe(signatures([secret], id, timestamp, text))

    await soon(async () => {
      const [delivery] = await deliveriesOf(world)
      expect(delivery).toEqual({
        id,
        eventId: id.split('_')[2],
        trigger: 'message_sent',
        status: 'delivered',
        attempts: 1,
        createdAt: expect.any(Number),
        attemptedAt: expect.any(Number),
        answer: { status: 200 },
        durationMs: expect.any(Number),
      })
    })
  })

  it('that waits behind a slow one does not say what was deleted meanwhile', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ delayMs: 700 })
    // In one conversation: one after the other.
    await tell(world, message, 3)
    await soon(() => expect(endpoint.received).toHaveLength(1))
    // By now, all three have been read.
    await delay(300)
    dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    await soon(() => expect(endpoint.received).toHaveLength(3))
    expect(endpoint.received[0]?.text).toContain('hello')
    expect(endpoint.received[2]?.text).not.toContain('hello')
    expect(endpoint.received[2]?.body.data.message.deletedAt).toEqual(expect.any(Number))
  })

  it('is signed with each old secret too, for as long as it is valid', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    const first = (await register(world, endpoint.url)).secret
    const renew = async (body: object) => dataOf(await world.post('/webhooks/hook/secret', body))
    const renewed = await renew({})
    expect(renewed).toEqual({ secret: expect.stringMatching(/^whsec_/), oldSecretValidUntil: expect.any(Number) })
    expect(renewed.secret).not.toBe(first)
    expect(renewed.oldSecretValidUntil - Date.now() / 1000).toBeGreaterThan(86_000)
    const isSignedWith = async (...secrets: string[]) => {
      const count = endpoint.received.length
      await tell(world, message)
      await soon(() => expect(endpoint.received).toHaveLength(count + 1))
      const { headers, text } = endpoint.received[count] as Endpoint['received'][0]
      const [id, timestamp] = [headers['webhook-id'] as string, headers['webhook-timestamp'] as string]
      expect(headers['webhook-signature']).toBe(signatures(secrets, id, timestamp, text))
    }
    await isSignedWith(renewed.secret, first)

    // Whoever did not hear the answer asks once more.
    const again = await renew({ oldValidForSeconds: 3 })
    await isSignedWith(again.secret, renewed.secret, first)
    await soon(() => isSignedWith(again.secret, first), { interval: 500 })
    const third = await renew({ oldValidForSeconds: 604_800 })
    await isSignedWith(third.secret, again.secret, first)

    await isSignedWith((await renew({ oldValidForSeconds: 0 })).secret)
    expect(refusal(await world.post('/webhooks/nowhere/secret', {}))).toBe('404 ERR_WEBHOOK_NOT_FOUND')
    expect(refusal(await world.post('/webhooks/hook/secret', { oldValidForSeconds: -1 }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('is signed with the old secret that an earlier version left', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    const first = (await register(world, endpoint.url)).secret
    const { secret } = dataOf(await world.post('/webhooks/hook/secret', {}))
    await own.query('update webhooks set old_secret_sealed = $2 where app_id = $1', [
      world.app.appId,
      world.context.secrets.seal(first),
    ])
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(1))
    const [{ headers, text }] = endpoint.received as [Endpoint['received'][0]]
    const [id, timestamp] = [headers['webhook-id'] as string, headers['webhook-timestamp'] as string]
    expect(headers['webhook-signature']).toBe(signatures([secret, first], id, timestamp, text))
  })

  it('is tried again with the same id and another date, until it succeeds', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave((_, count) => (count < 4 ? { status: count === 2 ? 404 : 500, body: 'not\0 now' } : {}))
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(4))
    expect(new Set(idsOf(endpoint)).size).toBe(1)
    await soon(async () => {
      const [delivery] = await deliveriesOf(world)
      expect(delivery).toMatchObject({ status: 'delivered', attempts: 4, answer: { status: 200 } })
      expect(delivery.error).toBeUndefined()
    })
  })

  it('is tried once without retryOnFailure, and kept as failed with the answer', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url, { retryOnFailure: false })
    endpoint.behave({ status: 503, body: 'x'.repeat(10_000) })
    await tell(world, message)
    await soon(async () => {
      const [delivery] = await deliveriesOf(world, '?status=failed')
      expect(delivery).toMatchObject({
        ...{ status: 'failed', attempts: 1, error: 'the endpoint answered 503' },
        answer: { status: 503, excerpt: 'x'.repeat(512) },
      })
      expect(delivery.nextAttemptAt).toBeUndefined()
    })
    expect(endpoint.received).toHaveLength(1)
  })

  it.each([
    [
      'a redirect, which is not followed',
      { status: 302, headers: { location: '/elsewhere' } },
      /302; redirects are not/,
    ],
    ['an answer that does not come in time', { delayMs: 4_000 }, /no answer within 2 s/],
    ['a connection that is cut', { cut: true }, /./],
  ])('has failed with %s', async (_, behaviour, error) => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url, { retryOnFailure: false })
    endpoint.behave(behaviour)
    await tell(world, message)
    await soon(async () => {
      const [delivery] = await deliveriesOf(world)
      expect(delivery).toMatchObject({ status: 'failed', attempts: 1, error: expect.stringMatching(error) })
    })
    expect(endpoint.received.map(({ path }) => path)).toEqual(['/hook'])
  })

  it('disables the webhook where the endpoint says that it is gone, until somebody enables it', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ status: 410 })
    await tell(world, message)
    await soon(async () => {
      expect(dataOf(await world.get('/webhooks/hook'))).toMatchObject({
        ...{ enabled: false, disabledReason: expect.stringContaining('410'), disabledAt: expect.any(Number) },
        failingSince: expect.any(Number),
      })
    })
    expect((await deliveriesOf(world)).map(({ status }: { status: string }) => status)).toEqual(['failed'])

    endpoint.behave({})
    const enabled = dataOf(await world.put('/webhooks/hook', { enabled: true }))
    for (const member of ['disabledReason', 'disabledAt', 'failingSince']) expect(enabled).not.toHaveProperty(member)
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(2))
  })

  it('waits while the webhook is disabled, and goes out once it is enabled', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ status: 500 })
    await tell(world, message, 3)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(2))
    dataOf(await world.put('/webhooks/hook', { enabled: false }))
    // What happens meanwhile is not kept for it.
    await tell(world, message)
    await soon(async () => {
      const rows = await own.query(
        'select from webhook_states s join webhooks w on w.key = s.webhook where w.app_id = $1 and leased_by is null',
        [world.app.appId],
      )
      expect(rows).toHaveLength(1)
    })
    endpoint.behave({})
    const before = endpoint.received.length
    expect(await deliveriesOf(world, '?status=pending')).toHaveLength(3)
    dataOf(await world.put('/webhooks/hook', { enabled: true }))
    await soon(async () => expect(await deliveriesOf(world, '?status=delivered')).toHaveLength(3))
    expect(endpoint.received).toHaveLength(before + 3)
  })

  it('is put off as Retry-After says', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave((_, count) => (count === 1 ? { status: 429, headers: { 'retry-after': '2' } } : {}))
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(1))
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(3))
    const [first, ...later] = endpoint.received as [Endpoint['received'][0]]
    for (const { at } of later as Endpoint['received']) expect(at - first.at).toBeGreaterThan(1_900)
  })

  it('ends where the webhook is removed', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    endpoint.behave({ status: 500 })
    await tell(world, message)
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(0))
    dataOf(await world.delete('/webhooks/hook'))
    endpoint.behave({})
    await register(world, endpoint.url)
    // One made under the same id gets nothing of the old one's.
    expect(await deliveriesOf(world)).toEqual([])
    await tell(world, message)
    await soon(async () => expect(await deliveriesOf(world, '?status=delivered')).toHaveLength(1))
  })

  it('goes to each webhook for what it is subscribed to, as operations raise it', async () => {
    const [{ world }, groups, blocks] = [await chatWorld(service), await open(), await open()]
    await register(world, groups.url, { id: 'groups', triggers: ['group_created', 'group_member_added'] })
    await register(world, blocks.url, { id: 'blocks', triggers: [] })
    dataOf(await world.post('/webhooks/blocks/triggers', { triggerIds: ['user_blocked', 'group_created'] }))
    dataOf(await world.post('/groups', { guid: 'team', name: 'Team', type: 'public', owner: 'alice' }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    await soon(() => expect(blocks.received).toHaveLength(2))
    await soon(() => expect(groups.received).toHaveLength(1))
    expect(blocks.received.map(({ body }) => [body.webhook, body.trigger])).toEqual([
      ['blocks', 'group_created'],
      ['blocks', 'user_blocked'],
    ])
    expect(groups.received[0]?.body).toMatchObject({ trigger: 'group_created', webhook: 'groups' })
  })

  it('tells of each message that is sent, in the order of the conversation', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url)
    const sent = []
    for (let i = 0; i < 20; i++) sent.push(await say(world, 'alice', 'bob', `text ${i}`))
    await soon(() => expect(endpoint.received).toHaveLength(20))
    const told = endpoint.received.map(({ body }) => body.data.message)
    expect(told.map(({ id }: { id: string }) => id)).toEqual(sent.map(({ id }) => id))
    expect(told[7]).toMatchObject({ sender: 'alice', receiver: 'bob', data: { text: 'text 7' } })
  })

  it('comes in the legacy envelope to webhooks of version 1', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    const body = { id: 'old', name: 'Old', webhookURL: endpoint.url, triggers: ['after_message'] }
    dataOf(await world.post('/webhooks', body, { headers: { 'X-Webhook-Version': '1' } }))
    await tell(world, message)
    await soon(() => expect(endpoint.received).toHaveLength(1))
    expect(endpoint.received[0]?.body).toEqual({
      ...{ trigger: 'after_message', appId: world.app.name, region: 'us', webhook: 'old' },
      data: expect.objectContaining({ id: message.id, sender: 'alice', receiver: 'bob' }),
    })
  })

  it('says of receipts in the legacy envelope whether they came by a request or a socket', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    const triggers = ['message_delivery_receipt', 'message_read_receipt']
    const body = { id: 'old', name: 'Old', webhookURL: endpoint.url, triggers }
    dataOf(await world.post('/webhooks', body, { headers: { 'X-Webhook-Version': '1' } }))
    dataOf(await world.post('/users/alice/conversation/delivered', {}, { as: 'bob' }))
    await soon(() => expect(endpoint.received).toHaveLength(1))
    const bob = await connect(world, 'bob')
    bob.send({
      receiver: 'alice',
      receiverType: 'user',
      type: 'receipts',
      body: { action: 'read', messageId: message.id },
    })
    await soon(() => expect(endpoint.received).toHaveLength(2))
    bob.close()
    expect(endpoint.received.map(({ body }) => [body.trigger, body.origin])).toEqual([
      ['message_delivery_receipt', { platform: 'API' }],
      ['message_read_receipt', { platform: 'WEBSOCKET' }],
    ])
  })

  it('is counted', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await register(world, endpoint.url, { retryOnFailure: false })
    const count = async (outcome: string) => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      expect(text).toMatch(/^parley_webhook_deliveries_pending \d+$/m)
      return Number(
        new RegExp(`^parley_webhook_attempts_total{outcome="${outcome}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
      )
    }
    const before = { delivered: await count('delivered'), failed: await count('failed') }
    await tell(world, message)
    await soon(async () => expect(await count('delivered')).toBe(before.delivered + 1))
    endpoint.behave({ status: 500 })
    await tell(world, message)
    await soon(async () => expect(await count('failed')).toBe(before.failed + 1))
  })
})
