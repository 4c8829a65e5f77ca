import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import type { Endpoint, Received } from '../support/endpoint.ts'
import { logsOf, setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const path = '/notifications/push/v1/providers/custom'
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

const members = Array.from({ length: 25 }, (_, i) => `member-${i + 10}`)

interface Told {
  readonly id: string
  readonly to: { readonly uid: string }
}

const toldIn = ({ body }: Received): Told[] => body.data
const uidsIn = (received: readonly Received[]) =>
  received
    .flatMap(toldIn)
    .map(({ to }) => to.uid)
    .sort()

/** An app with a group `team` of alice and others, whose pushes go in batches. */
async function batchWorld(batchSize: number, ...others: string[]): Promise<{ world: World; endpoint: Endpoint }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', ...others)
  await createGroup(world, 'team', 'alice', { participants: others })
  await setUpCustomPush(world, endpoint.url, { batchSize })
  return { world, endpoint }
}

const outcomes = async (world: World) =>
  (await logsOf(world, '?channel=push&limit=100'))
    .map(
      ({ uid, success, reason, attempts }: { uid: string; success?: boolean; reason?: string; attempts?: number }) =>
        `${uid} ${success === true ? 'sent' : (reason ?? 'waits')} ${attempts ?? 0}`,
    )
    .sort()

describe('pushes in batches', () => {
  it('tell as many as they may in one request, in an envelope of their own, signed', async () => {
    const { world, endpoint } = await batchWorld(10, ...members)
    const { secret } = dataOf(await world.post(`${path}/secret`))
    const message = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(() => expect(uidsIn(endpoint.received)).toEqual(members))
    expect(endpoint.received.map((one) => toldIn(one).length).sort()).toEqual([10, 10, 5])
    const [{ headers, text, body }] = endpoint.received as [Received]
    const [first] = toldIn(endpoint.received[0] as Received)
    expect(body).toEqual({
      trigger: 'push-notification-payload-generated-batch',
      data: expect.any(Array),
      ...{ appId: world.app.name, region: 'us', webhook: 'custom' },
    })
    expect(first).toEqual({
      id: expect.stringMatching(new RegExp(`^ntf_${world.app.appId}_\\d+$`)),
      to: { uid: expect.stringMatching(/^member-/) },
      notificationDetails: {
        ...{ title: 'Alice @ team', body: 'hello', sender: 'alice', senderName: 'Alice', receiver: 'team' },
        ...{ receiverName: 'team', receiverType: 'group', tag: message.id, conversationId: 'group_team' },
        ...{ type: 'chat', sentAt: String(message.sentAt * 1000), unreadMessageCount: '1' },
      },
    })
    expect(new Set(endpoint.received.flatMap(toldIn).map(({ id }) => id)).size).toBe(25)
    const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(new Set(endpoint.received.map((one) => one.headers['webhook-id'])).size).toBe(3)
    await soon(async () => expect(await outcomes(world)).toEqual(members.map((uid) => `${uid} sent 1`)))
  })

  it('hear what became of each: refused, tried again, and taken', async () => {
    const { world, endpoint } = await batchWorld(100, 'bob', 'carol', 'dave', 'erin')
    const statuses: Record<string, unknown> = { bob: 410, carol: 503, dave: 'ok', stranger: 500 }
    endpoint.behave((request, count) => ({
      body: JSON.stringify({
        results: [
          null,
          { id: 'ntf_0_0', status: 500 },
          ...(count > 1 ? [] : toldIn(request))
            .filter(({ to }) => to.uid in statuses)
            .map(({ id, to }) => ({ id, status: statuses[to.uid] })),
        ],
      }),
    }))
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () =>
      expect(await outcomes(world)).toEqual([
        'bob PROVIDER_ERROR 1',
        'carol sent 2',
        'dave PROVIDER_ERROR 1',
        'erin sent 1',
      ]),
    )
    expect(endpoint.received.map((one) => uidsIn([one]))).toEqual([['bob', 'carol', 'dave', 'erin'], ['carol']])
    const idsOf = (one: Received | undefined) =>
      Object.fromEntries(toldIn(one as Received).map((i) => [i.to.uid, i.id]))
    const [before, after] = [idsOf(endpoint.received[0]), idsOf(endpoint.received[1])]
    expect(after.carol).toBe(before.carol)
    const logs = await logsOf(world, '?channel=push')
    const logOf = (uid: string) => logs.find((log: { uid: string }) => log.uid === uid)
    expect(logOf('bob').answer).toMatchObject({ status: 410, text: JSON.stringify({ id: before.bob, status: 410 }) })
    expect(logOf('dave')).toMatchObject({
      error: 'the endpoint named no HTTP status from 200 to 599',
      answer: { text: JSON.stringify({ id: before.dave, status: 'ok' }) },
    })
  })

  it('are tried again with the same ids where the whole fails, and not where it is refused', async () => {
    const { world, endpoint } = await batchWorld(10, 'bob', 'carol', 'dave')
    endpoint.behave((_, count) => ({ status: count === 1 ? 503 : 200, body: 'no JSON' }))
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent 2', 'carol sent 2', 'dave sent 2']))
    const [failed, ...again] = endpoint.received as [Received, ...Received[]]
    const idsIn = (received: readonly Received[]) => new Set(received.flatMap(toldIn).map(({ id }) => id))
    expect(toldIn(failed)).toHaveLength(3)
    expect(again.flatMap(toldIn)).toHaveLength(3)
    expect(idsIn(again)).toEqual(idsIn([failed]))

    endpoint.behave({ status: 400, body: 'not like this' })
    await sayInGroup(world, 'alice', 'team', 'again')
    await soon(async () =>
      expect((await outcomes(world)).filter((one: string) => one.includes(' PROVIDER_ERROR 1'))).toHaveLength(3),
    )
    expect((await logsOf(world, '?channel=push')).at(-1)).toMatchObject({
      success: false,
      answer: { status: 400, text: 'not like this' },
    })
  })

  it('have an id that is the same for the same notifications, also for one alone', async () => {
    const { world, endpoint } = await batchWorld(2, 'bob')
    endpoint.behave((_, count) => ({ status: count === 1 ? 500 : 200 }))
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent 2']))
    const ids = endpoint.received.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([ids[0], ids[0]])
    expect(ids[0]).toMatch(/^ntb_/)
    expect(endpoint.received.map((one) => toldIn(one).length)).toEqual([1, 1])
  })

  it('leave for the next request what is too large for one', async () => {
    const { world, endpoint } = await batchWorld(100, ...members)
    dataOf(await world.put('/users/alice', { metadata: { filling: 'x'.repeat(5000) } }))
    const push = { includeMessageObjectSetting: true, includeSenderMetadataSetting: true, trimTextFieldSetting: false }
    dataOf(await world.call('PATCH', '/notifications/v1/settings', { preferences: { push } }))
    await sayInGroup(world, 'alice', 'team', 'x'.repeat(10_000))
    await soon(async () => expect(await outcomes(world)).toEqual(members.map((uid) => `${uid} sent 1`)))
    expect(uidsIn(endpoint.received)).toEqual(members)
    const bytes = endpoint.received.map(({ text }) => text.length)
    expect(bytes).toHaveLength(2)
    expect(Math.max(...bytes)).toBeGreaterThan(480_000)
    expect(Math.max(...bytes)).toBeLessThan(525_000)
  })
})

describe('the size of batches', () => {
  it('is from 1 to 100, shown where it is set, and changed; a trial goes as pushes do', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    const setUp = { isEnabled: false, webhookURL: endpoint.url, useBasicAuth: false, basicAuthUsername: '' }
    const body = { ...setUp, basicAuthPassword: '' }
    for (const batchSize of [0, 101, -1, 1.5, '10', null, true]) {
      expect(refusal(await world.post(path, { ...body, batchSize }))).toBe('400 ERR_BAD_REQUEST')
    }
    expect(dataOf(await world.get(path))).toEqual({ pushProviders: [] })
    expect(dataOf(await world.post(path, body)).pushProviders[0]).not.toHaveProperty('batchSize')
    expect(dataOf(await world.post(`${path}/test`))).toMatchObject({ success: true })
    expect(dataOf(await world.put(path, { batchSize: 100 })).pushProviders[0]).toMatchObject({ batchSize: 100 })
    for (const batchSize of [0, 101, '10']) {
      expect(refusal(await world.put(path, { batchSize }))).toBe('400 ERR_BAD_REQUEST')
    }
    expect(dataOf(await world.get(path)).pushProviders[0]).toMatchObject({ ...setUp, batchSize: 100 })
    expect(dataOf(await world.post(`${path}/test`))).toMatchObject({ success: true, status: 200 })
    dataOf(await world.put(path, { batchSize: 1 }))
    dataOf(await world.post(`${path}/test`))
    const one = 'push-notification-payload-generated'
    expect(endpoint.received.map((request) => request.body.trigger)).toEqual([one, `${one}-batch`, one])
    // Set up anew, without it.
    expect(dataOf(await world.post(path, body)).pushProviders[0]).not.toHaveProperty('batchSize')
    for (const channel of ['email', 'sms']) {
      const elsewhere = `/notifications/${channel}/v1/providers/custom`
      const provider = { ...body, useStoredEmailID: false, useStoredPhNo: false, batchSize: 5 }
      expect(dataOf(await world.post(elsewhere, provider))).not.toHaveProperty('batchSize')
    }
  })
})
