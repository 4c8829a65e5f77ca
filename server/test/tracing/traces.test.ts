import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFcmEmulator } from '../../src/emulators/fcm.ts'
import { createGroup, dataOf } from '../support/chat.ts'
import { type Collector, openCollector } from '../support/collector.ts'
import { addEngineList, addRule, settledAs } from '../support/engines.ts'
import { setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { registerFcm } from '../support/push-services.ts'
import { connect } from '../support/socket.ts'
import { createReachable, endWindows, openWindowsOf, setUpCustom } from '../support/unread.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open, register } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let own: OwnServices
let collector: Collector
let fcm: Awaited<ReturnType<typeof startFcmEmulator>>
let service: Service

beforeAll(async () => {
  ;[own, collector, fcm] = await Promise.all([
    createOwnServices(),
    // What nobody asks for is not told of.
    openCollector({ OTEL_TRACES_SAMPLER: 'parentbased_always_off', OTEL_SERVICE_NAME: 'chat' }),
    startFcmEmulator(),
  ])
  const endpoints = { FCM_ENDPOINT: fcm.endpoint, FCM_TOKEN_ENDPOINT: fcm.tokenEndpoint }
  service = await own.start({ ...collector.settings, ...endpoints })
})
afterAll(async () => {
  await own.close()
  await Promise.all([collector.close(), fcm.close(), closeEndpoints()])
})

const hex = (bytes: number) => randomBytes(bytes).toString('hex')
const secretText = 'the words that nobody else may read'

/** A caller who has begun a trace. */
function callerOf(flags = '01') {
  const [traceId, spanId] = [hex(16), hex(8)]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } }
}

const message = (receiver: string, more: object = {}) => ({
  ...{ receiver, receiverType: 'user', category: 'message', type: 'text', data: { text: secretText } },
  ...more,
})

const eventsOf = ({ app }: World) =>
  own.query<{ trigger: string; trace: string | null }>(
    `select trigger, data ->> 'trace' as trace from events where app_id = $1 order by id`,
    [app.appId],
  )

describe('a send that is told of', () => {
  it('leads by one trace to the webhook, the pushes and the socket; the batch is one span with a link to it', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const [hook, push] = [await open(), await open()]
    await register(world, hook.url)
    await setUpCustomPush(world, push.url)
    const providers = '/notifications/push/v1/providers/fcm'
    dataOf(await world.post(providers, { providerId: 'fcm', serviceAccountCreds: fcm.credentials }))
    const token = await registerFcm(world, 'bob', 'a-phone-of-bob', { providerId: 'fcm' })
    const socket = await connect(world, 'alice', { deviceId: 'tablet' })

    const { traceId, spanId, headers } = callerOf()
    const sent = dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers }))
    const frame = await socket.takeText(secretText)
    expect(frame.body.id).toBe(sent.id)

    const one = (name: string, fits: (attributes: Record<string, unknown>) => boolean = () => true) =>
      soon(() => {
        const found = collector.named(traceId, name).filter(({ attributes }) => fits(attributes))
        expect(found).toHaveLength(1)
        return found[0] as (typeof found)[number]
      })
    const request = await one('send-message')
    expect(request.parentSpanId).toBe(spanId)
    expect(request.attributes).toMatchObject({
      ...{ 'http.request.method': 'POST', 'http.response.status_code': 200, 'parley.app': world.app.name },
      ...{ 'http.route': '/messages', 'parley.uid': 'alice', 'parley.caller': 'fullAccess' },
    })
    expect(request.resource).toMatchObject({ 'service.name': 'chat' })
    const stored = await one('store message')
    expect(stored.parentSpanId).toBe(request.spanId)

    const batch = await soon(() => {
      const [found] = collector.spans.filter(
        ({ links, name }) => name === 'write batch' && links[0]?.spanId === stored.spanId,
      )
      expect(found).toBeDefined()
      return found as NonNullable<typeof found>
    })
    expect(batch.traceId).not.toBe(traceId)
    expect(batch.parentSpanId).toBeUndefined()
    expect(batch.attributes['messaging.batch.message_count']).toBe(1)
    expect(stored.links).toMatchObject([{ traceId: batch.traceId, spanId: batch.spanId }])
    await soon(() =>
      expect(collector.named(batch.traceId, 'transaction')).toMatchObject([{ parentSpanId: batch.spanId }]),
    )

    const sockets = await one('sockets', (attributes) => attributes['parley.trigger'] === 'message_sent')
    expect(sockets).toMatchObject({ parentSpanId: request.spanId, attributes: { 'parley.frames': 1 } })

    const webhook = await one('webhook')
    expect(webhook).toMatchObject({ parentSpanId: stored.spanId, isFailed: false })
    expect(webhook.attributes).toMatchObject({ 'parley.webhook': 'hook', 'http.response.status_code': 200 })
    expect(hook.received.map((received) => received.headers.traceparent)).toEqual([
      `00-${traceId}-${webhook.spanId}-01`,
    ])

    const planned = await one('plan notifications')
    expect(planned).toMatchObject({ parentSpanId: stored.spanId, attributes: { 'parley.candidates': 2 } })
    const custom = await one('push', (attributes) => attributes['parley.provider'] === 'custom')
    expect(custom).toMatchObject({ parentSpanId: stored.spanId, attributes: { 'parley.outcome': 'accepted' } })
    expect(push.received.map((received) => received.headers.traceparent)).toEqual([`00-${traceId}-${custom.spanId}-01`])
    const phone = await one('push', (attributes) => attributes['parley.provider'] === 'fcm')
    expect(phone).toMatchObject({ parentSpanId: stored.spanId, attributes: { 'parley.outcome': 'accepted' } })
    expect(fcm.pushes.filter(({ token }) => token === 'a-phone-of-bob')).toHaveLength(1)

    const told = collector.received.map(({ text }) => text).join()
    for (const secret of [secretText, token, world.apiKey, 'a-phone-of-bob', 'bob']) expect(told).not.toContain(secret)
  })

  it('leads to the e-mail and the SMS about it, once its window is over', async () => {
    const world = await createWorld(service)
    await createReachable(world, 'alice', 'bob')
    const [mail, sms] = [await open(), await open()]
    await setUpCustom(world, 'email', mail.url)
    await setUpCustom(world, 'sms', sms.url)
    sms.behave({ status: 400, body: 'no such number' })
    const { traceId, headers } = callerOf()
    dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers }))
    await soon(async () => expect(await openWindowsOf(own, world)).toEqual(['email bob', 'sms bob']))
    await endWindows(own, world)
    await soon(() => {
      const stored = collector.named(traceId, 'store message')[0]?.spanId
      const [mailed] = collector.named(traceId, 'email')
      expect(mailed).toMatchObject({ parentSpanId: stored, isFailed: false })
      expect(mailed?.attributes).toMatchObject({ 'parley.provider': 'custom', 'parley.outcome': 'accepted' })
      expect(mail.received.map((received) => received.headers.traceparent)).toEqual([
        `00-${traceId}-${mailed?.spanId}-01`,
      ])
      const [texted] = collector.named(traceId, 'sms')
      expect(texted).toMatchObject({ parentSpanId: stored, isFailed: true })
      expect(texted?.attributes).toMatchObject({ 'parley.outcome': 'refused', 'http.response.status_code': 400 })
    })
    const told = collector.received.map(({ text }) => text).join()
    for (const secret of [secretText, 'bob@example.com', '+15550101']) expect(told).not.toContain(secret)
  })

  it('leads on from what it is asked before it is stored, and from engines that decide about it later', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const [hook, before, engine] = [await open(), await open(), await open()]
    engine.behave({ body: '{"isMatchingCondition": false, "confidence": 1}' })
    await addEngineList(world, 'api', { customApi: { url: engine.url } } as never)
    await addRule(world, 'by-api', { condition: { category: 'custom-api', value: ['api_greaterThan_80'] } })
    await register(world, hook.url, { triggers: ['message_sent'] })
    const asked = { id: 'before', name: 'Before', webhookURL: before.url, triggers: ['before_message'] }
    dataOf(await world.post('/webhooks', asked, { headers: { 'X-Webhook-Version': '1' } }))
    const { traceId, headers } = callerOf()
    const { id } = dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers }))
    await settledAs(world, id, 'approved')
    await soon(() => {
      const [hooked] = collector.named(traceId, 'before_message')
      expect(before.received.map((received) => received.headers.traceparent)).toEqual([
        `00-${traceId}-${hooked?.spanId}-01`,
      ])
      const [moderated] = collector.named(traceId, 'moderate')
      const [asking] = collector.named(traceId, 'engine')
      expect(asking).toMatchObject({ parentSpanId: moderated?.spanId, attributes: { 'parley.engine': 'custom-api' } })
      expect(engine.received.map((received) => received.headers.traceparent)).toEqual([
        `00-${traceId}-${asking?.spanId}-01`,
      ])
      // It is let go by the engine, and told of then.
      expect(collector.named(traceId, 'webhook')).toHaveLength(1)
    })
  })

  it('is followed by what happens to it later, each by a trace of its own', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const hook = await open()
    await register(world, hook.url, { triggers: ['message_edited', 'message_reaction_added', 'group_member_joined'] })
    const { id } = dataOf(await world.post('/messages', message('bob'), { as: 'alice' }))
    await createGroup(world, 'team', 'alice')
    const [edit, reaction, joining] = [callerOf(), callerOf(), callerOf()]
    const asAlice = (caller: ReturnType<typeof callerOf>) => ({ as: 'alice', headers: caller.headers })
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'other words' } }, asAlice(edit)))
    dataOf(await world.post(`/messages/${id}/reactions/👍`, {}, asAlice(reaction)))
    dataOf(await world.post('/groups/team/members', {}, { as: 'bob', headers: joining.headers }))
    await soon(() => {
      for (const { traceId } of [edit, reaction, joining]) expect(collector.named(traceId, 'webhook')).toHaveLength(1)
    })
    const parts = collector.spans.filter(({ traceId }) => traceId === edit.traceId)
    const [edited] = collector.named(edit.traceId, 'update-message')
    const [transaction] = collector.named(edit.traceId, 'transaction')
    expect(transaction?.parentSpanId).toBe(edited?.spanId)
    expect(parts.some(({ parentSpanId }) => parentSpanId === transaction?.spanId)).toBe(true)
  })

  it('that fails says with which status, and not why', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const hook = await open()
    hook.behave({ status: 500, body: 'no' })
    await register(world, hook.url, { retryOnFailure: false })
    const { traceId, headers } = callerOf()
    dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers }))
    await soon(() => {
      const [webhook] = collector.named(traceId, 'webhook')
      expect(webhook).toMatchObject({ isFailed: true, attributes: { 'error.type': '500', 'parley.attempt': 1 } })
    })
  })
})

describe('what is not told of', () => {
  it('leaves nothing behind: no span, nothing in the log of events, no header for webhooks', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const hook = await open()
    await register(world, hook.url)
    const unsampled = callerOf('00')
    const broken = { traceparent: `00-${hex(16)}-0000000000000000-01` }
    dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers: unsampled.headers }))
    dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers: broken }))
    dataOf(await world.post('/messages', message('bob'), { as: 'alice' }))
    const { traceId, headers } = callerOf()
    dataOf(await world.post('/messages', message('bob'), { as: 'alice', headers }))
    await soon(() => expect(collector.named(traceId, 'webhook')).toHaveLength(1))
    await soon(() => expect(hook.received).toHaveLength(4))
    expect(hook.received.map((received) => received.headers.traceparent?.slice(3, 35))).toEqual([
      ...[undefined, undefined, undefined],
      traceId,
    ])
    expect((await eventsOf(world)).map(({ trace }) => trace?.slice(3, 35) ?? null)).toEqual([null, null, null, traceId])
    expect(collector.spans.filter((span) => span.traceId === unsampled.traceId)).toEqual([])
  })

  it('is anything of probes, whatever they bring along', async () => {
    const { traceId, headers } = callerOf()
    for (const path of ['/health', '/ready', '/metrics']) await fetch(`${service.url}${path}`, { headers })
    const world = await createWorld(service)
    dataOf(await world.get('/users', { headers }))
    await soon(() => expect(collector.named(traceId, 'list-users')).toHaveLength(1))
    expect(
      collector.spans.filter((span) => span.traceId === traceId && span.attributes['http.route'] !== undefined),
    ).toHaveLength(1)
  })
})
