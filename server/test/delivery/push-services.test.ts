import { defaultAppSettings } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forgetStaleDevices } from '../../src/chat/notifications/stale-devices.ts'
import type { ApnsEmulator } from '../../src/emulators/apns.ts'
import type { FcmEmulator } from '../../src/emulators/fcm.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { logsOf, patch, sendNow } from '../support/notifications.ts'
import type { OwnServices, Service } from '../support/own-services.ts'
import { createPushServices, logIn, type PushServices, registerApns, registerFcm } from '../support/push-services.ts'
import { soon } from '../support/until.ts'
import { createWorld, type World } from '../support/world.ts'

let push: PushServices
let own: OwnServices
let service: Service
let fcm: FcmEmulator
let apns: ApnsEmulator
let pushWorld: PushServices['pushWorld']

beforeAll(async () => {
  push = await createPushServices()
  ;({ own, service, fcm, apns, pushWorld } = push)
})
afterAll(() => push.close())

const providers = '/notifications/push/v1/providers'
const tokens = '/notifications/push/v1/tokens'

/** A device token that no other test has. */
let count = 0
const unique = (start: string) => `${start}${process.pid}${++count}`
const toFcm = (token: string) => fcm.pushes.filter((push) => push.token === token)
const toApns = (token: string) => apns.pushes.filter((push) => push.token === token)
const devicesOf = async (world: World, authToken: string) =>
  dataOf(await world.get(`${tokens}?all=1`, { token: authToken })).pushTokens.map(
    (one: { pushToken: string }) => one.pushToken,
  )

describe('a device of FCM', () => {
  it('is told as flat data, all strings, by the project of its provider', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    await registerFcm(world, 'bob', device)
    const requests = fcm.tokenRequests
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toFcm(device)).toHaveLength(1))
    const [push] = toFcm(device)
    expect(push?.data).toMatchObject({
      ...{ title: 'Alice', body: 'hello', sender: 'alice', receiver: 'bob', receiverType: 'user', type: 'chat' },
      ...{ tag: id, unreadMessageCount: '1', conversationId: 'alice_user_bob' },
    })
    expect(push?.message.android).toMatchObject({ priority: 'HIGH', ttl: expect.stringMatching(/^3[56]\d\ds$/) })
    expect(push?.message.notification).toBeUndefined()
    expect(push?.message).not.toHaveProperty('android.collapse_key')
    await say(world, 'alice', 'bob', 'again')
    await soon(() => expect(toFcm(device)).toHaveLength(2))
    expect(fcm.tokenRequests - requests).toBeLessThanOrEqual(1)
    const [log] = await logsOf(world)
    expect(log).toMatchObject({ provider: 'fcm', providerId: 'phones', tokenType: 'fcm_android' })
    expect(JSON.stringify(log)).not.toContain(device)
  })

  it('shows notifications by itself where the provider says so', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    await registerFcm(world, 'bob', device)
    const change = { providerId: 'phones', notificationInPayload: { android: { chat: true } } }
    dataOf(await world.put(`${providers}/fcm`, change))
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toFcm(device)[0]?.message.notification).toEqual({ title: 'Alice', body: 'hello' }))
  })

  it('that is an iPhone shows notifications by itself, unless the provider says otherwise: then it is woken in the background', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    await registerFcm(world, 'bob', device, { platform: 'fcm_ios' })
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toFcm(device).map(({ status }) => status)).toEqual([200]))
    expect(toFcm(device)[0]?.message).toMatchObject({
      notification: { title: 'Alice', body: 'hello' },
      apns: {
        headers: { 'apns-priority': '10', 'apns-collapse-id': id },
        payload: { aps: { badge: 1, sound: 'default', 'mutable-content': 1 } },
      },
    })
    dataOf(
      await world.put(`${providers}/fcm`, { providerId: 'phones', notificationInPayload: { ios: { chat: false } } }),
    )
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'hi' } }, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await say(world, 'alice', 'bob', 'again')
    await soon(() => expect(toFcm(device).map(({ data }) => data.body)).toContain('again'))
    for (const { message, data, status } of toFcm(device).slice(1)) {
      expect({ status, notification: message.notification, apns: message.apns }).toMatchObject({
        ...{ status: 200, notification: undefined },
        apns: {
          headers: { 'apns-priority': '5', 'apns-push-type': 'background', 'apns-collapse-id': data.tag },
          payload: { aps: { 'content-available': 1 } },
        },
      })
      expect(Object.keys(message.apns.payload.aps)).toEqual(['content-available'])
    }
  })

  it('that FCM knows no more is forgotten, and no other', async () => {
    const world = await pushWorld('alice', 'bob')
    const [gone, invalid, kept] = [unique('gone'), unique('invalid'), unique('kept')]
    await registerFcm(world, 'bob', gone)
    await registerFcm(world, 'bob', invalid)
    const authToken = await registerFcm(world, 'bob', kept)
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await devicesOf(world, authToken)).toEqual([kept]))
    expect((await logsOf(world, '?success=false')).map((log: { error: string }) => log.error).sort()).toEqual([
      'FCM answered 400 INVALID_ARGUMENT',
      'FCM answered 404 UNREGISTERED',
    ])
  })

  it('stays where only the message was bad, and a new access token is asked for where the old one ended', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    const authToken = await registerFcm(world, 'bob', device)
    fcm.behave(({ token }) =>
      token === device ? { status: 400, code: 'INVALID_ARGUMENT', message: 'data is too odd' } : undefined,
    )
    await say(world, 'alice', 'bob', 'odd')
    await soon(async () => expect(await logsOf(world, '?success=false')).toHaveLength(1))
    fcm.behave(() => undefined)
    fcm.expireTokens()
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toFcm(device).some(({ status }) => status === 200)).toBe(true))
    expect(await devicesOf(world, authToken)).toEqual([device])
  })

  it('whose token cannot be read fails with a reason, and holds up nobody', async () => {
    const world = await pushWorld('alice', 'bob')
    const [broken, device] = [unique('broken'), unique('device')]
    await registerFcm(world, 'bob', broken)
    await own.query(`update push_tokens set sealed = '\\x00' where app_id = $1`, [world.app.appId])
    await registerFcm(world, 'bob', device)
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toFcm(device)).toHaveLength(1))
    await soon(async () =>
      expect(await logsOf(world, '?success=false')).toMatchObject([
        { reason: 'PROVIDER_ERROR', error: 'the push token cannot be unsealed' },
      ]),
    )
    expect(toFcm(broken)).toEqual([])
  })

  it('is told once credentials that cannot be read are back, and the log says what is wrong meanwhile', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    await registerFcm(world, 'bob', device)
    const app = [world.app.appId]
    const ofFcm = `where app_id = $1 and kind = 'fcm'`
    const [kept] = await own.query<{ sealed: Buffer }>(`select sealed from notification_providers ${ofFcm}`, app)
    await own.query(`update notification_providers set sealed = '\\x00' ${ofFcm}`, app)
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(async () => {
      const { notifications } = dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${id}`))
      expect(notifications).toMatchObject([
        { attempts: 1, error: expect.stringContaining('credentials of the provider cannot be unsealed') },
      ])
    })
    await own.query(`update notification_providers set sealed = $2 ${ofFcm}`, [...app, kept?.sealed])
    await soon(() => expect(toFcm(device)).toHaveLength(1))
  })

  it.each([
    { status: 403, code: 'PERMISSION_DENIED' },
    { status: 404, code: 'NOT_FOUND' },
  ])('is told once the project is mended that FCM refuses: $status $code', async (refusal) => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    const authToken = await registerFcm(world, 'bob', device)
    fcm.behave(({ token }) => (token === device ? refusal : undefined))
    await say(world, 'alice', 'bob', 'hello')
    const error = `FCM answered ${refusal.status} ${refusal.code}`
    await soon(async () => {
      const [log] = await logsOf(world)
      expect(log).toMatchObject({ error, attempts: expect.any(Number), nextAttemptAtMS: expect.any(Number) })
    })
    await soon(async () => {
      const [row] = await own.query<{ failures: number }>(
        `select s.failures from notification_senders s
         join notification_providers p on p.app_id = s.app_id and p.key = s.provider
         where s.app_id = $1 and p.kind = 'fcm'`,
        [world.app.appId],
      )
      expect(row?.failures).toBeGreaterThan(0)
    })
    fcm.behave(() => undefined)
    await sendNow(own, world)
    await soon(() => expect(toFcm(device).map(({ status }) => status)).toContain(200))
    expect(await devicesOf(world, authToken)).toEqual([device])
  })

  it('of another project is told nothing, and the others are', async () => {
    const world = await pushWorld('alice', 'bob', 'carol')
    const [foreign, device] = [unique('foreign'), unique('device')]
    await registerFcm(world, 'bob', foreign)
    await registerFcm(world, 'carol', device)
    fcm.behave(({ token }) => (token === foreign ? { status: 403, code: 'SENDER_ID_MISMATCH' } : undefined))
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => {
      expect(await logsOf(world, '?success=false')).toMatchObject([
        { reason: 'PROVIDER_ERROR', error: 'FCM answered 403 SENDER_ID_MISMATCH', attempts: 1 },
      ])
    })
    await say(world, 'alice', 'carol', 'hello')
    await soon(() => expect(toFcm(device).map(({ status }) => status)).toEqual([200]))
    fcm.behave(() => undefined)
  })

  it('is told later where FCM asks for it', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('device')
    await registerFcm(world, 'bob', device)
    let refused = 0
    fcm.behave(({ token }) =>
      token === device && refused++ === 0 ? { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 1 } : undefined,
    )
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toFcm(device).map(({ status }) => status)).toEqual([429, 200]))
    fcm.behave(() => undefined)
  })
})

describe('a device that gets too much', () => {
  it.each([
    {
      service: 'FCM',
      register: registerFcm,
      pushesTo: toFcm,
      limit: (of: string) =>
        fcm.behave(({ token }) =>
          token === of ? { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 600 } : undefined,
        ),
      lift: () => fcm.behave(() => undefined),
    },
    {
      service: 'APNs',
      register: registerApns,
      pushesTo: toApns,
      limit: (of: string) =>
        apns.behave(({ token }) =>
          token === of ? { status: 429, reason: 'TooManyRequests', retryAfter: 600 } : undefined,
        ),
      lift: () => apns.behave(() => undefined),
    },
  ])('is told later, and the others at once: $service', async ({ register, pushesTo, limit, lift }) => {
    const world = await pushWorld('alice', 'bob', 'carol')
    const [device, other] = [unique('a5'), unique('a6')]
    await register(world, 'bob', device)
    await register(world, 'carol', other)
    limit(device)
    // As many as a provider may fail before it is left alone, and more.
    for (let i = 0; i < 12; i++) await say(world, 'alice', 'bob', `to bob ${i}`)
    const logs = await soon(async () => {
      const ofBob = await logsOf(world, '?receiver=bob')
      expect(ofBob).toHaveLength(12)
      expect(ofBob.filter((log: { attempts: number }) => log.attempts === 1)).toHaveLength(12)
      return ofBob
    })
    for (const log of logs) expect(log.nextAttemptAtMS - log.processingStartedAtMS).toBeGreaterThan(590_000)
    await say(world, 'alice', 'carol', 'to carol')
    await soon(() => expect(pushesTo(other).map(({ status }) => status)).toEqual([200]))
    lift()
  })

  it('is another matter than a project that sends too much: then all wait', async () => {
    const world = await pushWorld('alice', 'bob', 'carol')
    const [device, other] = [unique('device'), unique('device')]
    await registerFcm(world, 'bob', device)
    await registerFcm(world, 'carol', other)
    const limit = { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 2, subject: 'project:demo' }
    let [refusedAt, toldAt] = [0, 0]
    fcm.behave(({ token }) => {
      if (token === other) toldAt = performance.now()
      if (token !== device || refusedAt > 0) return undefined
      refusedAt = performance.now()
      return limit
    })
    await say(world, 'alice', 'bob', 'to bob')
    await soon(async () => expect(await logsOf(world, '?receiver=bob')).toMatchObject([{ attempts: 1 }]))
    await say(world, 'alice', 'carol', 'to carol')
    await soon(() => expect(toFcm(other)).toHaveLength(1))
    expect(toldAt - refusedAt).toBeGreaterThan(1_900)
    fcm.behave(() => undefined)
  })
})

describe('a device that FCM reaches through a service that refuses its credentials', () => {
  it('is told later, and the others at once with the same access token', async () => {
    const world = await pushWorld('alice', 'bob', 'carol')
    const [iphone, other] = [unique('iphone'), unique('device')]
    await registerFcm(world, 'bob', iphone)
    await registerFcm(world, 'carol', other)
    fcm.behave(({ token }) =>
      token === iphone ? { status: 401, code: 'THIRD_PARTY_AUTH_ERROR', retryAfter: 600 } : undefined,
    )
    const requests = fcm.tokenRequests
    // As many as a provider may fail before it is left alone, and more.
    for (let i = 0; i < 12; i++) await say(world, 'alice', 'bob', `to bob ${i}`)
    await soon(() => expect(new Set(toFcm(iphone).map(({ data }) => data.body)).size).toBe(12))
    await say(world, 'alice', 'carol', 'to carol')
    await soon(() => expect(toFcm(other).map(({ status }) => status)).toEqual([200]))
    expect(fcm.tokenRequests - requests).toBeLessThanOrEqual(1)
    const [log] = await logsOf(world, '?receiver=bob')
    expect(log).toMatchObject({ error: 'FCM answered 401 THIRD_PARTY_AUTH_ERROR' })
    fcm.behave(() => undefined)
  })
})

describe('a device of APNs', () => {
  it('is told with the details beside aps, a badge, and an id that is the same for each attempt', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('a0')
    await registerApns(world, 'bob', device)
    let refused = 0
    apns.behave(({ token }) =>
      token === device && refused++ === 0 ? { status: 500, reason: 'InternalServerError' } : undefined,
    )
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(toApns(device).map(({ status }) => status)).toEqual([500, 200]))
    apns.behave(() => undefined)
    const [first, second] = toApns(device)
    expect(first?.headers['apns-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(second?.headers['apns-id']).toBe(first?.headers['apns-id'])
    expect(second?.headers).toMatchObject({
      ...{ 'apns-topic': 'com.example.app', 'apns-push-type': 'alert', 'apns-priority': '10', 'apns-collapse-id': id },
    })
    expect(second?.payload).toMatchObject({
      aps: { alert: { title: 'Alice', body: 'hello' }, badge: 1, sound: 'default' },
      ...{ tag: id, sender: 'alice', type: 'chat' },
    })
  })

  it('goes on over a new connection when APNs takes its leave', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('a1')
    await registerApns(world, 'bob', device)
    await say(world, 'alice', 'bob', 'one')
    await soon(() => expect(toApns(device)).toHaveLength(1))
    const before = apns.connections
    apns.goAway()
    for (const text of ['two', 'three', 'four']) await say(world, 'alice', 'bob', text)
    await soon(() =>
      expect(
        toApns(device)
          .map(({ payload }) => payload.aps.alert.body)
          .sort(),
      ).toEqual(['four', 'one', 'three', 'two']),
    )
    expect(apns.connections).toBeGreaterThan(before)
    // One signed token for all of it: APNs refuses two within 20 minutes.
    expect(apns.pushes.filter(({ reason }) => reason === 'TooManyProviderTokenUpdates')).toEqual([])
  })

  it('that is gone is forgotten, unless it has registered again since', async () => {
    const world = await pushWorld('alice', 'bob')
    const [gone, again] = [unique('a2'), unique('a3')]
    await registerApns(world, 'bob', gone)
    const authToken = await registerApns(world, 'bob', again)
    apns.behave(({ token }) => {
      if (token === gone) return { status: 410, reason: 'Unregistered', timestamp: Date.now() }
      return token === again ? { status: 410, reason: 'Unregistered', timestamp: Date.now() - 3_600_000 } : undefined
    })
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=false')).toHaveLength(2))
    apns.behave(() => undefined)
    expect(await devicesOf(world, authToken)).toEqual([again])
  })

  it('is told within what APNs takes: without the message, then with a shorter body', async () => {
    const world = await pushWorld('alice', 'bob')
    const device = unique('a4')
    await registerApns(world, 'bob', device)
    dataOf(
      await patch(world, '/notifications/v1/settings', {
        preferences: { push: { includeMessageObjectSetting: true } },
      }),
    )
    await say(world, 'alice', 'bob', 'short')
    await soon(() => expect(toApns(device)[0]?.payload.message.data.text).toBe('short'))
    await say(world, 'alice', 'bob', '👩‍👩‍👧'.repeat(400))
    await soon(() => expect(toApns(device)).toHaveLength(2))
    const [, long] = toApns(device)
    expect(long?.status).toBe(200)
    expect(long?.payload.message).toBeUndefined()
    expect(long?.payload.aps.alert.body).toMatch(/^(👩‍👩‍👧)+…$/u)
  })
})

describe('an edit and a deletion', () => {
  it('replace and take back what is shown under the same tag, without a sound', async () => {
    const world = await pushWorld('alice', 'bob')
    const [android, iphone] = [unique('device'), unique('a6')]
    await registerFcm(world, 'bob', android)
    await registerApns(world, 'bob', iphone)
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(() => expect([toFcm(android).length, toApns(iphone).length]).toEqual([1, 1]))
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(2))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'two' } }, { as: 'alice' }))
    await soon(() => expect([toFcm(android).length, toApns(iphone).length]).toEqual([2, 2]))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await soon(() => expect([toFcm(android).length, toApns(iphone).length]).toEqual([3, 3]))
    const quiet = { badge: 1, 'interruption-level': 'passive' }
    expect(toApns(iphone).map(({ payload }) => payload.aps)).toEqual([
      { alert: { title: 'Alice', body: 'one' }, badge: 1, sound: 'default' },
      { alert: { title: 'Alice', body: 'two' }, ...quiet },
      { alert: { title: 'Alice', body: 'This message was deleted' }, ...quiet, badge: 0, 'content-available': 1 },
    ])
    expect(new Set(toApns(iphone).map(({ headers }) => headers['apns-collapse-id']))).toEqual(new Set([id]))
    expect(toApns(iphone).map(({ payload }) => payload.action)).toEqual([undefined, 'edited', 'deleted'])
    expect(toFcm(android).map(({ data }) => [data.tag, data.action, data.body])).toEqual([
      [id, undefined, 'one'],
      [id, 'edited', 'two'],
      [id, 'deleted', 'This message was deleted'],
    ])
    expect(toFcm(android).map(({ message }) => (message.android as { priority: string }).priority)).toEqual([
      ...['HIGH', 'NORMAL', 'NORMAL'],
    ])
  })
})

describe('a notification about a group', () => {
  it('has a collapse id that Apple takes, however long the guid is', async () => {
    const world = await pushWorld('alice', 'bob', 'carol')
    const [ofFcm, ofApns] = [unique('device'), unique('a7')]
    await registerFcm(world, 'bob', ofFcm, { platform: 'fcm_ios' })
    await registerApns(world, 'bob', ofApns)
    const guid = 'g'.repeat(100)
    await createGroup(world, guid, 'alice', { participants: ['bob'] })
    dataOf(await patch(world, '/notifications/v1/preferences?uid=bob', { groupPreferences: { groupMemberAdded: 2 } }))
    dataOf(await world.post(`/groups/${guid}/members`, { participants: ['carol'] }, { as: 'alice' }))
    await soon(() => expect([toFcm(ofFcm).length, toApns(ofApns).length]).toEqual([1, 1]))
    const collapseId = 'g'.repeat(64)
    expect(toApns(ofApns)[0]).toMatchObject({ status: 200, headers: { 'apns-collapse-id': collapseId } })
    expect(toFcm(ofFcm)[0]?.message).toMatchObject({ apns: { headers: { 'apns-collapse-id': collapseId } } })
    expect(toFcm(ofFcm)[0]?.data.tag).toBe(guid)
  })
})

describe('the message in a push', () => {
  it('has nothing of what it quotes, which may be hidden, and tells nobody who is there', async () => {
    const world = await pushWorld('alice', 'bob', 'carol')
    const device = unique('a5')
    await registerApns(world, 'bob', device)
    dataOf(
      await patch(world, '/notifications/v1/settings', {
        preferences: { push: { includeMessageObjectSetting: true } },
      }),
    )
    const forgotten = await say(world, 'alice', 'bob', 'forgotten words')
    await soon(() => expect(toApns(device)).toHaveLength(1))
    dataOf(await world.delete('/users/alice/conversation', {}, { as: 'bob' }))
    const quoting = { quotedMessageId: forgotten.id }
    await say(world, 'alice', 'bob', 'again, <@uid:carol>', quoting)
    await soon(() => expect(toApns(device)).toHaveLength(2))
    const { message } = toApns(device)[1]?.payload ?? {}
    expect(message.data.mentions.carol).toMatchObject({ uid: 'carol', name: expect.any(String) })
    expect(message.quotedMessageId).toBe(forgotten.id)
    expect(JSON.stringify(message)).not.toMatch(/forgotten|"status"|"lastActiveAt"/)
  })
})

describe('a device', () => {
  it('belongs to the login that registered it last, and goes with it', async () => {
    const world = await pushWorld('alice', 'bob')
    const [device, other] = [unique('device'), unique('device')]
    const bob = await registerFcm(world, 'bob', device)
    expect(dataOf(await world.get(`${tokens}?authToken=${bob}`)).pushTokens).toEqual([
      {
        authToken: bob,
        pushTokenType: 'chat',
        createdAt: expect.stringMatching(/^20.*\.\d{3}Z$/),
        updatedAt: expect.stringMatching(/^20.*\.\d{3}Z$/),
        ...{ platform: 'fcm_android', providerId: 'phones', pushToken: device, uid: 'bob' },
      },
    ])
    // One for each auth token.
    dataOf(
      await world.post(tokens, { platform: 'fcm_android', providerId: 'default', fcmToken: other }, { token: bob }),
    )
    expect(await devicesOf(world, bob)).toEqual([other])
    // It moves to whoever registers it next.
    const alice = await registerFcm(world, 'alice', other)
    expect(await devicesOf(world, bob)).toEqual([])
    expect(await devicesOf(world, alice)).toEqual([other])
    // The same device with a renewed login stays when the old login ends.
    const renewed = await registerFcm(world, 'alice', other)
    dataOf(await world.delete('/me', undefined, { token: alice }))
    expect(await devicesOf(world, renewed)).toEqual([other])
    dataOf(await world.delete('/me', undefined, { token: renewed }))
    expect(await devicesOf(world, await logIn(world, 'alice'))).toEqual([])
  })

  it.each([
    ['a flush of all auth tokens', (world: World) => world.delete('/users/bob/auth_tokens')],
    ['deactivation', (world: World) => world.delete('/users', { uidsToDeactivate: ['bob'] })],
    ['deletion for good', (world: World) => world.delete('/users/bob', { permanent: true })],
    ['the removal of its provider', (world: World) => world.delete(`${providers}/fcm/phones`)],
  ])('is gone after %s', async (_, act) => {
    const world = await pushWorld('bob')
    await registerFcm(world, 'bob', unique('device'))
    const left = () => own.query('select from push_tokens where app_id = $1', [world.app.appId])
    expect(await left()).toHaveLength(1)
    dataOf(await act(world))
    expect(await left()).toHaveLength(0)
  })

  it.each([
    ['lifetime', { tokenLifetime: 86_400 }, 86_400],
    ['idle time-out', { tokenIdleTimeout: 86_400 }, 86_400 + 3_600],
  ])(
    'is told for 60 days after its auth token has expired by its %s, and then forgotten',
    async (_, change, seconds) => {
      const world = await pushWorld('alice', 'bob', 'carol')
      dataOf(await patch(world, `/apps/${world.app.name}/settings`, change))
      const device = unique('device')
      const authToken = await registerFcm(world, 'bob', device)
      await registerFcm(world, 'carol', unique('device'))
      const left = () => own.query<{ uid: string }>('select uid from push_tokens where app_id = $1', [world.app.appId])
      const sweep = () => forgetStaleDevices(world.context.database, defaultAppSettings, Date.now())
      /** As if the token was that old, and had not been used since. */
      const age = (secondsAgo: number) =>
        own.query("update auth_tokens set created_at = $2, used_at = $2 where app_id = $1 and uid = 'bob'", [
          world.app.appId,
          Math.floor(Date.now() / 1000) - secondsAgo,
        ])
      const almost = 60 * 86_400 - 600
      await age(seconds + almost)
      expect(refusal(await world.get('/me', { token: authToken }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
      await sweep()
      await say(world, 'alice', 'bob', 'are you there?')
      await soon(() => expect(toFcm(device)).toHaveLength(1))
      await age(seconds + 60 * 86_400)
      await sweep()
      expect(await left()).toEqual([{ uid: 'carol' }])
    },
  )

  it('stays when a new login on it registers it anew, whatever becomes of the old auth token', async () => {
    const world = await pushWorld('bob')
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { tokenLifetime: 86_400 }))
    const device = unique('device')
    await registerFcm(world, 'bob', device)
    await own.query('update auth_tokens set created_at = 1 where app_id = $1', [world.app.appId])
    const renewed = await registerFcm(world, 'bob', device)
    await forgetStaleDevices(world.context.database, defaultAppSettings, Date.now())
    expect(await devicesOf(world, renewed)).toEqual([device])
  })

  it('of apps whose auth tokens do not expire is never forgotten for its age', async () => {
    const world = await pushWorld('bob')
    const device = unique('device')
    const authToken = await registerFcm(world, 'bob', device)
    await own.query('update auth_tokens set created_at = 1, used_at = 1 where app_id = $1', [world.app.appId])
    await forgetStaleDevices(world.context.database, defaultAppSettings, Date.now())
    expect(await devicesOf(world, authToken)).toEqual([device])
  })

  it('is unregistered alone, with its login, or with all of its user', async () => {
    const world = await pushWorld('bob', 'eve')
    const devices = [unique('d'), unique('d'), unique('d'), unique('d')] as const
    const logins = []
    for (const device of devices) logins.push(await registerFcm(world, 'bob', device))
    const [first = '', second = '', third = ''] = logins
    const gone = (answer: { pushTokens: Array<{ pushToken: string }> }) => answer.pushTokens.map((one) => one.pushToken)
    expect(gone(dataOf(await world.delete(`${tokens}/${devices[1]}`, { authToken: first })))).toEqual([devices[1]])
    expect(refusal(await world.delete(`${tokens}/${devices[1]}`, { authToken: first }))).toBe('404 ERR_TOKEN_NOT_FOUND')
    const eve = await logIn(world, 'eve')
    expect(refusal(await world.delete(`${tokens}/${devices[0]}`, {}, { token: eve }))).toBe('404 ERR_TOKEN_NOT_FOUND')
    // As front ends do, without a body.
    expect(gone(dataOf(await world.delete(tokens, undefined, { token: third })))).toEqual([devices[2]])
    expect(gone(dataOf(await world.delete(`${tokens}?all=true`, { authToken: second })))).toEqual([
      devices[0],
      devices[3],
    ])
    expect(await devicesOf(world, first)).toEqual([])
  })

  it('is not registered without what it needs', async () => {
    const world = await pushWorld('bob')
    const authToken = await logIn(world, 'bob')
    const good = { platform: 'fcm_android', fcmToken: 'x', authToken }
    const register = async (body: object) => refusal(await world.post(tokens, body))
    expect(await register({ ...good, fcmToken: undefined })).toBe('400 ERR_BAD_REQUEST')
    expect(await register({ ...good, authToken: undefined })).toBe('400 ERR_BAD_REQUEST')
    expect(await register({ ...good, platform: 'fcm_toaster' })).toBe('400 ERR_BAD_REQUEST')
    expect(await register({ ...good, fcmToken: 'x'.repeat(4097) })).toBe('400 ERR_BAD_REQUEST')
    expect(await register({ ...good, timezone: 'Mars/Olympus' })).toBe('400 ERR_BAD_REQUEST')
    expect(await register({ ...good, platform: 'apns_ios_device', deviceToken: '../x' })).toBe('400 ERR_BAD_REQUEST')
    expect(await register({ ...good, providerId: 'nowhere' })).toBe('404 ERR_PROVIDER_NOT_FOUND')
    expect(await register({ ...good, authToken: 'nobody_1' })).toBe('404 ERR_AUTH_TOKEN_NOT_FOUND')
    dataOf(await world.delete(`${providers}/fcm/phones`))
    expect(await register(good)).toBe('404 ERR_PROVIDER_NOT_FOUND')
  })

  it('of each member is told, whatever its provider', async () => {
    const world = await pushWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const [android, iphone] = [unique('device'), unique('a5')]
    await registerFcm(world, 'bob', android, { timezone: 'Europe/Oslo' })
    await registerApns(world, 'carol', iphone)
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(() => expect([toFcm(android).length, toApns(iphone).length]).toEqual([1, 1]))
    expect(dataOf(await world.get('/notifications/v1/preferences/timezone?uid=bob')).timezone).toBe('Europe/Oslo')
  })
})

describe('providers of push services', () => {
  it('are added once, changed in part, tried, and one of them is the default', async () => {
    const world = await pushWorld('bob')
    const spare = { providerId: 'spare', serviceAccountCreds: { ...fcm.credentials, token_uri: 'http://127.0.0.1:1' } }
    dataOf(await world.post(`${providers}/fcm`, spare))
    expect(refusal(await world.post(`${providers}/fcm`, spare))).toBe('409 ERR_PROVIDER_ALREADY_EXISTS')
    const list = async () => dataOf(await world.get(`${providers}/fcm`)).pushProviders
    const [phones, other] = await list()
    expect([phones.isDefault, other.isDefault]).toEqual([true, false])
    expect(phones.serviceAccountCreds).toEqual({ ...fcm.credentials, private_key: expect.stringMatching(/^\*{8}/) })
    dataOf(await world.put(`${providers}/fcm/default/spare`))
    // As it was answered: the key stays.
    dataOf(await world.put(`${providers}/fcm`, { providerId: 'spare', serviceAccountCreds: other.serviceAccountCreds }))
    expect((await list()).map((one: { isDefault: boolean }) => one.isDefault)).toEqual([false, true])
    expect(dataOf(await world.post(`${providers}/fcm/test/spare`, { pushToken: 'trial' }))).toMatchObject({
      success: true,
    })
    const failed = dataOf(await world.post(`${providers}/apns/test/apples`, { pushToken: 'bad0' }))
    expect(failed).toMatchObject({ success: false, status: 400, error: 'APNs answered 400 BadDeviceToken' })
    dataOf(await world.delete(`${providers}/fcm/spare`))
    expect(await list()).toMatchObject([{ providerId: 'phones', isDefault: true }])
    const [apple] = dataOf(await world.get(`${providers}/apns`)).pushProviders
    expect(apple).toMatchObject({ providerId: 'apples', productionMode: false, p8Key: expect.stringMatching(/^\*{8}/) })
    dataOf(await world.put(`${providers}/apns`, { providerId: 'apples', productionMode: true }))
    expect(dataOf(await world.get(`${providers}/apns`)).pushProviders[0].productionMode).toBe(true)
  })

  it('are refused with keys that are none', async () => {
    const world = await pushWorld('bob')
    const creds = { ...fcm.credentials, private_key: apns.credentials.p8Key }
    const wrong = [
      world.post(`${providers}/fcm`, { providerId: 'x', serviceAccountCreds: creds }),
      world.post(`${providers}/fcm`, { providerId: 'x', serviceAccountCreds: { ...creds, private_key: 'none' } }),
      world.post(`${providers}/fcm`, { providerId: 'a/b', serviceAccountCreds: fcm.credentials }),
      world.post(`${providers}/fcm`, { serviceAccountCreds: fcm.credentials }),
      world.put(`${providers}/fcm`, { providerId: 'phones', serviceAccountCreds: { private_key: 'none' } }),
      world.post(`${providers}/apns`, { ...apns.credentials, providerId: 'x', p8Key: fcm.credentials.private_key }),
      world.post(`${providers}/apns`, { ...apns.credentials, providerId: 'x', keyId: 'short' }),
    ]
    for (const answer of wrong) expect(refusal(await answer)).toBe('400 ERR_BAD_REQUEST')
    for (const kind of ['fcm', 'apns']) {
      const unknown = [
        world.put(`${providers}/${kind}`, { providerId: 'nowhere' }),
        world.put(`${providers}/${kind}/default/nowhere`),
        world.delete(`${providers}/${kind}/nowhere`),
        world.post(`${providers}/${kind}/test/nowhere`, { pushToken: 'x' }),
      ]
      for (const answer of unknown) expect(refusal(await answer)).toBe('404 ERR_PROVIDER_NOT_FOUND')
    }
  })

  it('take keys in which line ends are written out', async () => {
    const world = await createWorld(service)
    const private_key = fcm.credentials.private_key.replaceAll('\n', '\\n')
    dataOf(
      await world.post(`${providers}/fcm`, {
        providerId: 'x',
        serviceAccountCreds: { ...fcm.credentials, private_key },
      }),
    )
    expect(dataOf(await world.post(`${providers}/fcm/test/x`, { pushToken: 'trial' }))).toMatchObject({ success: true })
  })
})
