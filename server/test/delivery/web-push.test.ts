import { createECDH } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmulatedSubscription, startWebPushEmulator, type WebPushEmulator } from '../../src/emulators/web-push.ts'
import { statement } from '../../src/store/statement.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import { logsOf, patch } from '../support/notifications.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let chrome: WebPushEmulator
let firefox: WebPushEmulator

beforeAll(async () => {
  ;[chrome, firefox] = await Promise.all([startWebPushEmulator(), startWebPushEmulator()])
})
afterAll(async () => {
  await Promise.all([chrome.close(), firefox.close()])
})

const provider = '/notifications/push/v1/providers/web_push'
const tokens = '/notifications/push/v1/tokens'
const vapidKey = '/notifications/push/v1/vapid-key'

async function chatWorld(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await createUsers(world, ...uids)
  return world
}

async function logIn(world: World, uid: string): Promise<string> {
  return dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken
}

const register = (world: World, token: string, subscription: unknown, extra: object = {}) =>
  world.post(tokens, { platform: 'web_push', subscription, ...extra }, { token })

let count = 0

/** A browser of a user subscribes as pages do. @param start of its name at the push service */
async function subscribe(world: World, uid: string, start = 'browser', at = chrome) {
  const token = await logIn(world, uid)
  const { publicKey } = dataOf(await world.get(vapidKey, { token }))
  const name = `${start}-${world.app.appId}-${++count}`
  const subscription = at.subscribe(publicKey, name)
  dataOf(await register(world, token, subscription))
  return { token, name, subscription, told: () => at.pushes.filter((push) => push.name === name) }
}

const endpointsOf = async (world: World, token: string) =>
  dataOf(await world.get(`${tokens}?all=1`, { token })).pushTokens.map((one: { pushToken: string }) => one.pushToken)

describe('the key of Web Push', () => {
  it('is made once for each app, when it is needed', async () => {
    const world = await chatWorld('bob')
    expect(dataOf(await world.get(provider))).toEqual({ pushProviders: [] })
    const token = await logIn(world, 'bob')
    const asked = await Promise.all(Array.from({ length: 8 }, () => world.get(vapidKey, { token })))
    const [key, ...others] = asked.map((answer) => dataOf(answer).publicKey)
    expect(new Set(others)).toEqual(new Set([key]))
    const pair = createECDH('prime256v1')
    pair.generateKeys()
    expect(pair.computeSecret(Buffer.from(key, 'base64url'))).toHaveLength(32)
    expect(dataOf(await world.get(vapidKey))).toEqual({ publicKey: key, providerId: 'web_push' })
    expect(dataOf(await world.get(provider)).pushProviders).toEqual([
      { providerId: 'web_push', isEnabled: true, publicKey: key },
    ])
    expect(dataOf(await (await createWorld()).get(vapidKey)).publicKey).not.toBe(key)
    const [row] = await world.context.database.query<{ settings: object; sealed: Buffer }>(
      statement('select settings, sealed from notification_providers where app_id = $1'),
      [world.app.appId],
    )
    expect(row?.settings).toEqual({ publicKey: key })
    expect(row?.sealed.toString('latin1')).not.toContain('PRIVATE KEY')
  })

  it('is for users and for fullAccess keys', async () => {
    const world = await chatWorld('bob')
    const { authKey } = world
    expect(refusal(await world.get(vapidKey, { headers: { apikey: authKey } }))).toBe('403 AUTH_ERR_NO_ACCESS')
    const token = await logIn(world, 'bob')
    expect(refusal(await world.put(provider, { isEnabled: false }, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('is nobody’s while Web Push is off, and the same when it is on again', async () => {
    const world = await chatWorld('alice', 'bob')
    const { token, subscription, told } = await subscribe(world, 'bob')
    const { publicKey } = dataOf(await world.get(vapidKey))
    expect(refusal(await world.put(provider, { isEnabled: 'no' }))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.put(provider, { isEnabled: false })).pushProviders).toEqual([
      { providerId: 'web_push', isEnabled: false, publicKey },
    ])
    expect(refusal(await world.get(vapidKey, { token }))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    expect(refusal(await register(world, token, subscription))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    await say(world, 'alice', 'bob', 'untold')
    dataOf(await world.put(provider, { isEnabled: true }))
    expect(dataOf(await world.get(vapidKey)).publicKey).toBe(publicKey)
    await say(world, 'alice', 'bob', 'told')
    await soon(() => expect(told().map(({ payload }) => payload.body)).toEqual(['told']))
    // Whoever wants none at all turns it off before anybody has asked.
    const other = await chatWorld('bob')
    dataOf(await other.put(provider, { isEnabled: false }))
    expect(refusal(await other.get(vapidKey, { token: await logIn(other, 'bob') }))).toBe('404 ERR_PROVIDER_NOT_FOUND')
  })

  it('is removed with all subscriptions, and made anew', async () => {
    const world = await chatWorld('bob')
    expect(refusal(await world.delete(provider))).toBe('404 ERR_PROVIDER_NOT_FOUND')
    const { token } = await subscribe(world, 'bob')
    const { publicKey } = dataOf(await world.get(vapidKey))
    dataOf(await world.delete(provider))
    expect(await endpointsOf(world, token)).toEqual([])
    expect(dataOf(await world.get(vapidKey)).publicKey).not.toBe(publicKey)
  })
})

describe('a browser', () => {
  it('is told what other devices are told, encrypted and signed', async () => {
    const world = await chatWorld('alice', 'bob')
    const { told, name } = await subscribe(world, 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(told()).toHaveLength(1))
    const [push] = told()
    // The emulator has checked the signature, its audience, end and subject.
    expect(push?.status).toBe(201)
    expect(push?.payload).toEqual({
      ...{ title: 'Alice', body: 'hello', sender: 'alice', senderName: 'Alice', receiver: 'bob', receiverName: 'Bob' },
      ...{ receiverType: 'user', type: 'chat', tag: id, conversationId: 'alice_user_bob', unreadMessageCount: '1' },
      sentAt: expect.stringMatching(/^\d{13}$/),
    })
    expect(push?.headers).toMatchObject({ urgency: 'high', 'content-encoding': 'aes128gcm' })
    expect(push?.headers.topic).toBeUndefined()
    expect(Number(push?.headers.ttl)).toBeGreaterThan(3000)
    expect(Number(push?.headers.ttl)).toBeLessThanOrEqual(3600)
    const [log] = await soon(async () => {
      const logs = await logsOf(world, '?provider=web_push&success=true')
      expect(logs).toHaveLength(1)
      return logs
    })
    expect(log).toMatchObject({ tokenType: 'web_push', providerId: 'web_push', uid: 'bob', attempts: 1 })
    expect(JSON.stringify(log)).not.toContain(name)
  })

  it('is told within what push services take', async () => {
    const world = await chatWorld('alice', 'bob')
    const { told } = await subscribe(world, 'bob')
    const push = { includeMessageObjectSetting: true }
    dataOf(await patch(world, '/notifications/v1/settings', { preferences: { push } }))
    await say(world, 'alice', 'bob', 'short')
    await soon(() => expect(told()[0]?.payload.message.data.text).toBe('short'))
    await say(world, 'alice', 'bob', '👩‍👩‍👧'.repeat(400))
    await soon(() => expect(told()).toHaveLength(2))
    expect(told()[1]).toMatchObject({ status: 201, payload: { body: expect.stringMatching(/^(👩‍👩‍👧)+…$/u) } })
    expect(told()[1]?.payload.message).toBeUndefined()
    expect(told()[1]?.bytes).toBeLessThanOrEqual(4096)
  })

  it('is listed and unregistered by its endpoint; its keys are shown to nobody', async () => {
    const world = await chatWorld('bob')
    const { token, subscription } = await subscribe(world, 'bob')
    expect(dataOf(await world.get(tokens, { token })).pushTokens).toEqual([
      {
        ...{ authToken: token, uid: 'bob', platform: 'web_push', providerId: 'web_push', pushTokenType: 'chat' },
        ...{ pushToken: subscription.endpoint, createdAt: expect.any(String), updatedAt: expect.any(String) },
      },
    ])
    const path = `${tokens}/${encodeURIComponent(subscription.endpoint)}`
    const { pushTokens } = dataOf(await world.delete(path, undefined, { token }))
    expect(pushTokens).toMatchObject([{ pushToken: subscription.endpoint }])
    expect(refusal(await world.delete(path, undefined, { token }))).toBe('404 ERR_TOKEN_NOT_FOUND')
  })

  it('that another user registers leaves the one before', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    const { token, subscription, told } = await subscribe(world, 'bob')
    dataOf(await register(world, await logIn(world, 'carol'), subscription, { timezone: 'Europe/Oslo' }))
    expect(await endpointsOf(world, token)).toEqual([])
    await say(world, 'alice', 'bob', 'to bob')
    await say(world, 'alice', 'carol', 'to carol')
    await soon(() => expect(told().map(({ payload }) => payload.body)).toEqual(['to carol']))
    expect(await logsOf(world, '?receiver=bob')).toEqual([])
    expect(dataOf(await world.get('/notifications/v1/preferences/timezone?uid=carol')).timezone).toBe('Europe/Oslo')
  })

  it('that subscribes again has its new keys used', async () => {
    const world = await chatWorld('alice', 'bob')
    const { token, name, told } = await subscribe(world, 'bob')
    const { publicKey } = dataOf(await world.get(vapidKey))
    await say(world, 'alice', 'bob', 'with the old keys')
    await soon(() => expect(told().map(({ status }) => status)).toEqual([201]))
    dataOf(await register(world, token, chrome.subscribe(publicKey, name), { providerId: 'default' }))
    await say(world, 'alice', 'bob', 'with the new keys')
    await soon(() =>
      expect(told().map(({ status, payload }) => [status, payload?.body])).toEqual([
        [201, 'with the old keys'],
        [201, 'with the new keys'],
      ]),
    )
  })

  it.each([
    ['logging out', (world: World, token: string) => world.delete('/me', undefined, { token })],
    ['a flush of all auth tokens', (world: World) => world.delete('/users/bob/auth_tokens')],
    ['the end of its auth token', (world: World, token: string) => world.delete(`/users/bob/auth_tokens/${token}`)],
    ['deactivation', (world: World) => world.delete('/users', { uidsToDeactivate: ['bob'] })],
    ['deletion for good', (world: World) => world.delete('/users/bob', { permanent: true })],
  ])('is forgotten after %s', async (_, act) => {
    const world = await chatWorld('bob')
    const { token } = await subscribe(world, 'bob')
    const query = statement('select from push_tokens where app_id = $1')
    const left = () => world.context.database.query(query, [world.app.appId])
    expect(await left()).toHaveLength(1)
    dataOf(await act(world, token))
    expect(await left()).toHaveLength(0)
  })

  const good = () => chrome.subscribe()
  const changed = (change: (subscription: EmulatedSubscription) => unknown) => () => change(good())
  it.each([
    ['without a subscription', () => undefined],
    ['with one that is none', () => 'https://127.0.0.1/push/1'],
    ['without keys', changed(({ endpoint }) => ({ endpoint }))],
    ['with a short secret', changed((one) => ({ ...one, keys: { ...one.keys, auth: 'AAAA' } }))],
    ['with characters of no base64', changed((one) => ({ ...one, keys: { ...one.keys, auth: '????????????????' } }))],
    [
      'with a point that is on no curve',
      changed((one) => ({ ...one, keys: { ...one.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } })),
    ],
    ['with a key of its own size', changed((one) => ({ ...one, keys: { ...one.keys, p256dh: 'BAAA' } }))],
    ['at no URL', changed((one) => ({ ...one, endpoint: 'push' }))],
    ['at another scheme', changed((one) => ({ ...one, endpoint: 'ftp://127.0.0.1/1' }))],
    ['with a password', changed((one) => ({ ...one, endpoint: one.endpoint.replace('//', '//a:b@') }))],
    ['at a host that is not allowed', changed((one) => ({ ...one, endpoint: 'https://127.0.0.2/push/1' }))],
    ['at one that only ends like it', changed((one) => ({ ...one, endpoint: 'https://evilpush.example.com/1' }))],
    ['at one that only begins like it', changed((one) => ({ ...one, endpoint: 'https://127.0.0.1.example.com/1' }))],
    ['at the end of the world', changed((one) => ({ ...one, endpoint: `${one.endpoint}${'x'.repeat(2000)}` }))],
  ])('is not registered %s', async (_, subscription) => {
    const world = await chatWorld('bob')
    expect(refusal(await register(world, await logIn(world, 'bob'), subscription()))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get(provider)).pushProviders).toEqual([])
  })

  it('is not registered for nobody, nor with a provider that is none', async () => {
    const world = await chatWorld('bob')
    const body = { platform: 'web_push', subscription: chrome.subscribe() }
    expect(refusal(await world.post(tokens, body))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.post(tokens, { ...body, authToken: 'nobody_1' }))).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
    const token = await logIn(world, 'bob')
    expect(refusal(await register(world, token, body.subscription, { providerId: 'fcm' }))).toBe(
      '404 ERR_PROVIDER_NOT_FOUND',
    )
    dataOf(await register(world, token, { ...body.subscription, expirationTime: null }, { providerId: 'web_push' }))
    expect(await endpointsOf(world, token)).toEqual([body.subscription.endpoint])
  })
})

describe('an answer of a push service', () => {
  it.each(['gone', 'unknown'])('that says %s forgets the subscription', async (start) => {
    const world = await chatWorld('alice', 'bob')
    const { token } = await subscribe(world, 'bob', start)
    const other = await subscribe(world, 'bob')
    await say(world, 'alice', 'bob', 'hello')
    const [log] = await soon(async () => {
      const logs = await logsOf(world, '?success=false')
      expect(logs).toHaveLength(1)
      return logs
    })
    expect(log).toMatchObject({
      reason: 'PROVIDER_ERROR',
      attempts: 1,
      answer: { status: start === 'gone' ? 410 : 404 },
    })
    expect(await endpointsOf(world, token)).toEqual([other.subscription.endpoint])
  })

  it('that says gone does not forget who has registered again meanwhile', async () => {
    const world = await chatWorld('alice', 'bob')
    const { token, name, subscription } = await subscribe(world, 'bob')
    chrome.behave(async (push) => {
      if (push.name !== name) return undefined
      dataOf(await register(world, token, subscription))
      return { status: 410, reason: 'expired' }
    })
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=false')).toHaveLength(1))
    chrome.behave(() => undefined)
    expect(await endpointsOf(world, token)).toEqual([subscription.endpoint])
  })

  it.each([400, 401, 403, 413])('of %i is final, and forgets nobody', async (status) => {
    const world = await chatWorld('alice', 'bob')
    const { token, name, subscription, told } = await subscribe(world, 'bob')
    chrome.behave((push) => (push.name === name ? { status, reason: 'no' } : undefined))
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=false')).toHaveLength(1))
    chrome.behave(() => undefined)
    expect(told()).toHaveLength(1)
    expect(await endpointsOf(world, token)).toEqual([subscription.endpoint])
  })

  it('of 429 is about one browser: it is told when the service says, the others at once', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    const { name, told } = await subscribe(world, 'bob')
    const other = await subscribe(world, 'carol')
    chrome.behave((push) => (push.name === name ? { status: 429, reason: 'busy', retryAfter: 600 } : undefined))
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(told()).toHaveLength(1))
    await say(world, 'alice', 'carol', 'hello')
    await soon(() => expect(other.told()).toHaveLength(1))
    const [log] = await soon(async () => {
      const logs = await logsOf(world, '?receiver=bob')
      expect(logs).toMatchObject([{ attempts: 1 }])
      return logs
    })
    expect(log.nextAttemptAtMS - log.processingStartedAtMS).toBeGreaterThan(590_000)
    chrome.behave(() => undefined)
  })

  it('of a service that is down holds up no other service, and it is told when it is back', async () => {
    const world = await chatWorld('alice', 'bob', 'carol')
    const { told } = await subscribe(world, 'bob', 'browser', firefox)
    const other = await subscribe(world, 'carol')
    firefox.behave(() => ({ status: 503, reason: 'down' }))
    for (let i = 0; i < 12; i++) await say(world, 'alice', 'bob', `to bob ${i}`)
    await soon(() => expect(told().length).toBeGreaterThanOrEqual(10))
    await say(world, 'alice', 'carol', 'to carol')
    await soon(() => expect(other.told()).toHaveLength(1))
    firefox.behave(() => undefined)
    await soon(() => expect(told().filter(({ status }) => status === 201)).toHaveLength(12))
  })
})

describe('a trial of Web Push', () => {
  it('says what the push service said', async () => {
    const world = await chatWorld('bob')
    const { publicKey } = dataOf(await world.get(vapidKey))
    const trial = async (subscription: unknown) => dataOf(await world.post(`${provider}/test`, { subscription }))
    expect(await trial(chrome.subscribe(publicKey))).toMatchObject({ success: true, status: 201 })
    const failed = await trial(
      chrome.subscribe((await createWorld().then((other) => other.get(vapidKey))).body.data.publicKey),
    )
    expect(failed).toMatchObject({ success: false, status: 403, error: `${chrome.host} answered 403` })
    expect(refusal(await world.post(`${provider}/test`, {}))).toBe('400 ERR_BAD_REQUEST')
    const elsewhere = { ...chrome.subscribe(), endpoint: 'https://192.0.2.1/push' }
    expect(refusal(await world.post(`${provider}/test`, { subscription: elsewhere }))).toBe('400 ERR_BAD_REQUEST')
  })
})
