import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { chatWorld, closeEndpoints, open } from '../support/webhooks.ts'
import type { World } from '../support/world.ts'

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

afterEach(() => vi.restoreAllMocks())

/** Has the clocks of this process go on as if so much time had passed. */
function passTime(ms: number): void {
  for (const clock of [Date, performance]) {
    const now = clock.now.bind(clock)
    vi.spyOn(clock, 'now').mockImplementation(() => now() + ms)
  }
}

async function registerBefore(world: World, webhookURL: string, id = 'before') {
  const body = { id, name: 'Before', webhookURL, triggers: ['before_message'] }
  return dataOf(await world.post('/webhooks', body, { headers: { 'X-Webhook-Version': '1' } }))
}

const sendTo = (world: World, body: object) =>
  world.post('/messages', { receiver: 'bob', receiverType: 'user', ...body }, { as: 'alice' })

describe('before_message', () => {
  it('is asked with the message as it will be told, without its id', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    const sent = await say(world, 'alice', 'bob', 'hi', { muid: 'm1', tags: ['a'] })
    expect(endpoint.received[0]?.body).toEqual({
      ...{ trigger: 'before_message', appId: world.app.name, region: 'us', webhook: 'before' },
      data: {
        ...{ muid: 'm1', conversationId: 'alice_user_bob', sender: 'alice', receiverType: 'user', receiver: 'bob' },
        ...{ category: 'message', type: 'text', tags: ['a'], data: sent.data },
      },
    })
    expect(endpoint.received[0]?.headers['webhook-signature']).toMatch(/^v1,/)

    await createGroup(world, 'team', 'alice')
    await sayInGroup(world, 'alice', 'team', 'hello')
    expect(endpoint.received[1]?.body.data).toMatchObject({
      ...{ receiverType: 'group', receiver: 'team', conversationId: 'group_team' },
      data: { text: 'hello', entities: { receiver: { entityType: 'group', entity: { guid: 'team' } } } },
    })
  })

  it('puts its answer into the metadata, for good', async () => {
    const [{ world }, endpoint, other] = [await chatWorld(service), await open(), await open()]
    await registerBefore(world, endpoint.url)
    await registerBefore(world, other.url, 'other')
    endpoint.behave({ body: '{"language":"en","score":[1]}' })
    other.behave({ status: 204 })
    const data = {
      text: 'hi',
      metadata: { mine: 1, '@injected': { extensions: { x: 1 }, webhooks: { before: 'forged' } } },
    }
    const sent = dataOf(await sendTo(world, { data }))
    const metadata = {
      mine: 1,
      '@injected': { webhooks: { before: { language: 'en', score: [1] } } },
    }
    expect(sent.data.metadata).toEqual(metadata)
    expect(dataOf(await world.get(`/messages/${sent.id}`)).data.metadata).toEqual(metadata)
  })

  it('stops a message, which is then nowhere', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave(({ body }) => (body.data.data.text === 'bad' ? { body: '{"action":"do_not_propagate"}' } : {}))
    expect(refusal(await sendTo(world, { data: { text: 'bad' } }))).toBe('403 ERR_BLOCKED_BY_WEBHOOK')
    expect(
      refusal(
        await world.post(
          `/messages/${message.id}/thread`,
          {
            ...{ receiver: 'bob', receiverType: 'user', data: { text: 'bad' } },
          },
          { as: 'alice' },
        ),
      ),
    ).toBe('403 ERR_BLOCKED_BY_WEBHOOK')
    await say(world, 'alice', 'bob', 'good')
    const texts = dataOf(await world.get('/messages')).map(({ data }: { data: { text: string } }) => data.text)
    expect(texts).toEqual(['hello', 'good'])
  })

  it('stops one of several receivers, not the others', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    dataOf(await world.post('/users', { uid: 'carol', name: 'Carol' }))
    await registerBefore(world, endpoint.url)
    endpoint.behave(({ body }) => (body.data.receiver === 'bob' ? { body: '{"action":"do_not_propagate"}' } : {}))
    const { uids } = dataOf(
      await world.post(
        '/messages',
        { multipleReceivers: { uids: ['bob', 'carol'] }, data: { text: 'x' } },
        { as: 'alice' },
      ),
    )
    expect(uids.bob.error.code).toBe('ERR_BLOCKED_BY_WEBHOOK')
    expect(uids.carol.success).toBe(true)
  })

  it.each([
    ['does not answer in time', { delayMs: 5_000 }],
    ['fails', { status: 500, body: '{"action":"do_not_propagate"}' }],
    ['cuts the connection', { cut: true }],
    ['answers what is no JSON', { body: '<html>' }],
    ['answers what is no object', { body: '["do_not_propagate"]' }],
    ['answers too much', { body: JSON.stringify({ filler: 'x'.repeat(6_000) }) }],
    ['answers a redirect', { status: 307, headers: { location: '/' } }],
  ])('lets a message through where the endpoint %s', async (_, behaviour) => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave(behaviour)
    const sent = await say(world, 'alice', 'bob', 'hi')
    expect(endpoint.received).toHaveLength(1)
    expect(sent.data.metadata).toBeUndefined()
  })

  it('is not asked any more for a while where the endpoint is dead, so that sends do not wait for it', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave({ status: 500 })
    for (let i = 0; i < 20; i++) await say(world, 'alice', 'bob', `text ${i}`)
    expect(endpoint.received).toHaveLength(3)
  })

  it('is asked again after 5 s where many at once were not answered in time', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave({ delayMs: 30_000 })
    await Promise.all(Array.from({ length: 13 }, (_, i) => say(world, 'alice', 'bob', `text ${i}`)))
    expect(endpoint.received).toHaveLength(13)
    await say(world, 'alice', 'bob', 'unchecked')
    expect(endpoint.received).toHaveLength(13)

    passTime(5_000)
    endpoint.behave({})
    for (const text of ['first', 'second']) await say(world, 'alice', 'bob', text)
    expect(endpoint.received.map(({ body }) => body.data.data.text).slice(13)).toEqual(['first', 'second'])
  })

  it('is asked as long as it is enabled and subscribed, from the moment it is', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await say(world, 'alice', 'bob', 'one')
    await registerBefore(world, endpoint.url)
    const asked = async () => {
      const before = endpoint.received.length
      await say(world, 'alice', 'bob', 'hi')
      return endpoint.received.length - before
    }
    expect(await asked()).toBe(1)
    dataOf(await world.put('/webhooks/before', { enabled: false }))
    expect(await asked()).toBe(0)
    dataOf(await world.put('/webhooks/before', { enabled: true }))
    expect(await asked()).toBe(1)
    dataOf(await world.delete('/webhooks/before/triggers', { triggerIds: ['before_message'] }))
    expect(await asked()).toBe(0)
    dataOf(await world.put('/webhooks/before', { triggers: ['before_message'] }))
    expect(await asked()).toBe(1)
    dataOf(await world.delete('/webhooks/before'))
    expect(await asked()).toBe(0)
  })

  it('is not asked about messages from or to nobody', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    expect(refusal(await sendTo(world, { receiver: 'nobody', data: { text: 'x' } }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(endpoint.received).toEqual([])
  })
})

describe('before_message of an edit', () => {
  const edit = (world: World, id: string, body: object) => world.put(`/messages/${id}`, body, { as: 'alice' })

  it('is asked with the message as it will be, its id and the action', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    dataOf(await edit(world, message.id, { data: { metadata: { a: 1 } }, tags: ['t'] }))
    const { entities } = message.data as { entities: object }
    expect(endpoint.received[0]?.body).toEqual({
      ...{ trigger: 'before_message', appId: world.app.name, region: 'us', webhook: 'before' },
      data: {
        ...{ id: message.id, action: 'edited', conversationId: 'alice_user_bob', sender: 'alice' },
        ...{ receiverType: 'user', receiver: 'bob', category: 'message', type: 'text', tags: ['t'] },
        data: { text: 'hello', metadata: { a: 1 }, entities },
      },
    })
  })

  it('stops it: the old text stays, and nothing is told', async () => {
    const [{ world, message }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave({ body: '{"action":"do_not_propagate"}' })
    expect(refusal(await edit(world, message.id, { data: { text: 'bad' } }))).toBe('403 ERR_BLOCKED_BY_WEBHOOK')
    expect(dataOf(await world.get('/users/bob/messages', { as: 'alice' }))).toMatchObject([{ data: { text: 'hello' } }])
  })

  it('replaces what the webhook said of the old text, also by nothing; what others said stays', async () => {
    const [{ world }, endpoint, other] = [await chatWorld(service), await open(), await open()]
    await registerBefore(world, endpoint.url)
    await registerBefore(world, other.url, 'other')
    endpoint.behave(({ body }) => ({ body: JSON.stringify({ says: body.data.data.text }) }))
    other.behave({ body: '{"score":1}' })
    const { id } = await say(world, 'alice', 'bob', 'one')
    const verdicts = async () => dataOf(await world.get(`/messages/${id}`)).data.metadata['@injected']?.webhooks
    expect(await verdicts()).toEqual({ before: { says: 'one' }, other: { score: 1 } })
    dataOf(await world.put('/webhooks/other', { enabled: false }))
    const forged = { '@injected': { webhooks: { before: { says: 'forged' }, mine: {} } }, mine: 2 }
    dataOf(await edit(world, id, { data: { text: 'two', metadata: forged } }))
    expect(await verdicts()).toEqual({ before: { says: 'two' }, other: { score: 1 } })
    endpoint.behave({ status: 500 })
    dataOf(await edit(world, id, { data: { text: 'three' } }))
    expect(await verdicts()).toEqual({ other: { score: 1 } })
    expect(dataOf(await world.get(`/messages/${id}`)).data.metadata.mine).toBe(2)
  })

  it('does not count what was answered among what a sender may write', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave({ body: JSON.stringify({ long: 'x'.repeat(5_000) }) })
    const { id } = await say(world, 'alice', 'bob', 'x'.repeat(8_000))
    dataOf(await edit(world, id, { data: { metadata: { mine: 'y'.repeat(1_000) } } }))
    dataOf(await edit(world, id, { data: { text: 'z' } }))
    const { data } = dataOf(await world.get(`/messages/${id}`))
    expect(data).toMatchObject({ text: 'z', metadata: { mine: 'y'.repeat(1_000) } })
    expect(data.metadata['@injected'].webhooks.before.long).toHaveLength(5_000)
    const tooMuch = await edit(world, id, { data: { metadata: { mine: 'y'.repeat(6_000) } } })
    expect(refusal(tooMuch)).toBe('400 ERR_BAD_REQUEST')
  })
})

describe('What before_message answers', () => {
  it('is stored without NUL characters and broken surrogates', async () => {
    const [{ world }, endpoint] = [await chatWorld(service), await open()]
    await registerBefore(world, endpoint.url)
    endpoint.behave({ body: '{"a":"b\\u0000c","d":["\\ud800"],"\\u0000e":{"\\ud800f":1}}' })
    const { id } = await say(world, 'alice', 'bob', 'hi')
    expect(dataOf(await world.get(`/messages/${id}`)).data.metadata['@injected'].webhooks.before).toEqual({
      ...{ a: 'bc', d: ['\ufffd'], e: { '\ufffdf': 1 } },
    })
  })
})
