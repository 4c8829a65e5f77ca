import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { logsOf, patch, setUpCustomPush, toldTo } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
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

/** An app whose users are notified by an endpoint. */
async function notifiedWorld(...uids: string[]): Promise<{ world: World; endpoint: Endpoint; secret: string }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, ...uids)
  await setUpCustomPush(world, endpoint.url)
  const { secret } = dataOf(await world.post('/notifications/push/v1/providers/custom/secret'))
  return { world, endpoint, secret }
}

const outcomes = async (world: World, query = '') =>
  (await logsOf(world, query)).map(
    (log: { uid: string; success?: boolean; reason?: string }) =>
      `${log.uid} ${log.success === true ? 'sent' : (log.reason ?? 'waits')}`,
  )

describe('usage figures', () => {
  it('count notifications by channel and by what became of them', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol')
    dataOf(await patch(world, '/notifications/v1/preferences?uid=carol', { mutePreferences: { dnd: 2 } }))
    const { id } = await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'bob', 'two')
    await say(world, 'alice', 'carol', 'three')
    const today = async () => {
      const range = `fromDate=${Date.now()}&toDate=${Date.now()}`
      return dataOf(await world.get(`/stats/daily?${range}`)).days[0].notifications
    }
    const none = { delivered: 0, failed: 0, stopped: 0 }
    await soon(async () => {
      expect(await today()).toEqual({ push: { ...none, delivered: 2, stopped: 1 }, email: none, sms: none })
    })
    endpoint.behave({ status: 400 })
    await say(world, 'bob', 'alice', `about ${id}`)
    await soon(async () => expect((await today()).push).toEqual({ delivered: 2, failed: 1, stopped: 1 }))
    const { database } = world.context
    expect(await findDrift(database, world.app.appId)).toEqual([])
    await own.query("update usage_notifications set count = 0 where outcome = 'failed' and app_id = $1", [
      world.app.appId,
    ])
    expect(await findDrift(database, world.app.appId)).toMatchObject([
      { check: 'notifications of days', examples: [{ stored: '0', expected: 'at least 1' }] },
    ])
    const other = await createWorld(service)
    const { days } = dataOf(await other.get(`/stats/daily?fromDate=${Date.now()}&toDate=${Date.now()}`))
    expect(days[0].notifications).toEqual({ push: none, email: none, sms: none })
  })
})

describe('a message', () => {
  it('that was planned by nobody is planned later, since jobs can be lost', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob')
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    // As if its job had never been.
    await own.query('update notification_plans set event = 0 where app_id = $1', [world.app.appId])
    await soon(() => expect(endpoint.received).toHaveLength(2))
  })

  it('is told to who receives it, once, in the envelope of the contract, signed', async () => {
    const { world, endpoint, secret } = await notifiedWorld('alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    const [{ headers, text, body }] = endpoint.received as [Endpoint['received'][0]]
    expect(body).toEqual({
      trigger: 'push-notification-payload-generated',
      data: {
        to: { uid: 'bob' },
        notificationDetails: {
          title: 'Alice',
          body: 'hello',
          sender: 'alice',
          senderName: 'Alice',
          receiver: 'bob',
          receiverName: 'Bob',
          receiverType: 'user',
          tag: message.id,
          conversationId: 'alice_user_bob',
          type: 'chat',
          sentAt: String(message.sentAt * 1000),
          unreadMessageCount: '1',
        },
      },
      appId: world.app.name,
      region: 'us',
      webhook: 'custom',
    })
    const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(headers.authorization).toBeUndefined()
    await soon(async () => {
      expect(await logsOf(world)).toEqual([
        {
          _id: String(id).split('_')[2],
          processingStartedAtMS: expect.any(Number),
          processingEndedAtMS: expect.any(Number),
          totalProcessingTimeInMS: expect.any(Number),
          component: 'notifications-core',
          ...{ channel: 'push', provider: 'custom', providerId: 'custom', trigger: 'after_message' },
          messageId: Number(message.id),
          messageSentAtMS: message.sentAt * 1000,
          ...{ sender: 'alice', receiver: 'bob', receiverType: 'user', uid: 'bob' },
          ...{ notificationTriggered: true, success: true, attempts: 1, answer: { status: 200 } },
        },
      ])
    })
    expect(endpoint.received).toHaveLength(1)
  })

  it('in a group is told to each member but who sent it, with the count of what they have not read', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await sayInGroup(world, 'alice', 'team', 'one')
    await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice @ team, one', 'carol: Alice @ team, one']))
    await sayInGroup(world, 'bob', 'team', 'two <@uid:carol>')
    await soon(() => expect(endpoint.received).toHaveLength(4))
    const counts = endpoint.received
      .slice(2)
      .map(({ body: { data } }) => [
        data.to.uid,
        data.notificationDetails.unreadMessageCount,
        data.notificationDetails.body,
      ])
    expect(counts.sort()).toEqual([
      ['alice', '1', 'two @Carol'],
      ['carol', '2', 'two @Carol'],
    ])
  })

  it('is not told to who does not want it, and the log says why', async () => {
    const { world, endpoint } = await notifiedWorld(
      'alice',
      'never',
      'mentions',
      'quiet',
      'muting',
      'night',
      'blocking',
      'wants',
    )
    const members = ['never', 'mentions', 'quiet', 'muting', 'night', 'blocking', 'wants']
    await createGroup(world, 'team', 'alice', { participants: members })
    const choose = async (uid: string, change: object) =>
      dataOf(await patch(world, `/notifications/v1/preferences?uid=${uid}`, change))
    const off = Object.fromEntries(
      ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [day, { dnd: true }]),
    )
    await choose('never', { groupPreferences: { groupMessages: 1 } })
    await choose('mentions', { groupPreferences: { groupMessages: 3 } })
    await choose('quiet', { mutePreferences: { dnd: 2 } })
    await choose('night', { mutePreferences: { schedule: off } })
    dataOf(
      await world.put('/notifications/v1/preferences/mute?uid=muting', {
        conversations: [{ id: 'team', type: 'group' }],
      }),
    )
    dataOf(await world.post('/users/blocking/blockedusers', { blockedUids: ['alice'] }))
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () =>
      expect((await outcomes(world)).sort()).toEqual([
        'blocking BLOCKED',
        'mentions MESSAGES_PREFERENCE',
        'muting MUTE_PREFERENCE',
        'never MESSAGES_PREFERENCE',
        'night SCHEDULE_PREFERENCE',
        'quiet DND_PREFERENCE',
        'wants sent',
      ]),
    )
    await sayInGroup(world, 'alice', 'team', 'hello <@uid:mentions>')
    await soon(() =>
      expect(toldTo(endpoint)).toEqual([
        'mentions: Alice @ team, hello @Mentions',
        'wants: Alice @ team, hello',
        'wants: Alice @ team, hello @Mentions',
      ]),
    )
    expect(await outcomes(world, '?reason=DND_PREFERENCE&notificationTriggered=false&member=quiet')).toHaveLength(2)
  })

  it('is told by templates, and not shown to who chose so', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await patch(world, '/notifications/v1/preferences?uid=carol', { usePrivacyTemplate: true }))
    const custom = { titleGroup: '{{message.sender}}', body: '{{message.data.customData.a}}', body_fallback: 'none' }
    dataOf(
      await patch(world, '/notifications/v1/settings', {
        preferences: {
          push: { includeMessageObjectSetting: true, includeSenderMetadataSetting: false, customJson: { k: 1 } },
        },
        templates: { customMessageTemplateDefault: custom },
      }),
    )
    const inTeam = { receiver: 'team', receiverType: 'group', category: 'custom', type: 'location' }
    dataOf(await world.post('/messages', { ...inTeam, data: { customData: { a: 'b' } } }, { as: 'alice' }))
    const notifying = { sendNotification: true }
    dataOf(
      await world.post('/messages', { ...inTeam, data: { ...notifying, customData: { a: 'there' } } }, { as: 'alice' }),
    )
    dataOf(await world.post('/messages', { ...inTeam, data: { ...notifying, customData: { b: 1 } } }, { as: 'alice' }))
    await soon(() =>
      expect(toldTo(endpoint)).toEqual([
        'bob: alice, none',
        'bob: alice, there',
        'carol: Alice @ team, New message',
        'carol: Alice @ team, New message',
      ]),
    )
    const objects = endpoint.received.map(({ body: { data } }) => [data.to.uid, data.notificationDetails])
    for (const [uid, { message, custom: sent }] of objects) {
      expect(sent).toEqual({ k: 1 })
      expect(message?.data.customData === undefined).toBe(uid === 'carol')
    }
  })

  it('that was read or deleted by the time of sending is not told', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob')
    endpoint.behave({ status: 503 })
    const read = await say(world, 'alice', 'bob', 'read')
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(0))
    const deleted = await say(world, 'alice', 'bob', 'deleted')
    dataOf(await world.post('/users/alice/conversation/read', { messageId: read.id }, { as: 'bob' }))
    dataOf(
      await patch(world, '/notifications/v1/settings', { preferences: { oneOnOne: { messageDeletedSetting: 1 } } }),
    )
    await soon(async () => expect(await logsOf(world)).toHaveLength(2))
    dataOf(await world.delete(`/messages/${deleted.id}`, {}, { as: 'alice' }))
    endpoint.behave({})
    await soon(async () => expect((await outcomes(world)).sort()).toEqual(['bob ALREADY_READ', 'bob NOT_FOUND']))
  })
})

describe('what is done to a message', () => {
  it('is told under the same tag: edits, deletions, and reactions to who wrote it', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'one')
    await soon(() => expect(endpoint.received).toHaveLength(2))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'two' } }, { as: 'alice' }))
    await soon(() => expect(toldTo(endpoint)).toContain('carol: Alice @ team, two'))
    dataOf(await world.post(`/messages/${id}/reactions/%F0%9F%91%8D`, undefined, { as: 'bob' }))
    await soon(() => expect(toldTo(endpoint)).toContain('alice: Bob, Reacted to your message: 👍'))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await soon(() => expect(toldTo(endpoint)).toContain('carol: team, This message was deleted'))
    await soon(() => expect(endpoint.received).toHaveLength(7))
    expect(new Set(endpoint.received.map(({ body }) => body.data.notificationDetails.tag))).toEqual(new Set([id]))
    const triggers = (await logsOf(world)).map((log: { trigger: string }) => log.trigger)
    expect(triggers).toEqual([
      ...['after_message', 'after_message', 'message_edited', 'message_edited'],
      ...['message_reaction_added', 'message_deleted', 'message_deleted'],
    ])
    const [reaction] = await logsOf(world, '?reactionSender=bob')
    expect(reaction).toMatchObject({ reactionSender: 'bob', reactionReceiver: 'alice', messageId: Number(id) })
  })
})

describe('what happens to members', () => {
  it('is told to those who want to know, by the name of the group', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const wants = { groupPreferences: { groupMemberAdded: 2, groupMemberLeft: 2 } }
    dataOf(await patch(world, '/notifications/v1/preferences?uid=bob', wants))
    dataOf(await world.post('/groups/team/members', { participants: ['dave'] }, { as: 'alice' }))
    dataOf(await world.delete('/groups/team/members', undefined, { as: 'dave' }))
    await soon(() => expect(toldTo(endpoint)).toEqual(['bob: team, Alice added Dave', 'bob: team, Dave left']))
    expect(endpoint.received[0]?.body.data.notificationDetails).toMatchObject({ tag: 'team', receiverType: 'group' })
  })
})

describe('a provider', () => {
  it('is tried again where it fails, with the same id, and not where it refuses', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob')
    endpoint.behave((_, count) => ({ status: count === 1 ? 500 : 200 }))
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    const ids = endpoint.received.map(({ headers }) => headers['webhook-id'])
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
    endpoint.behave({ status: 400, body: 'no such user' })
    await say(world, 'alice', 'bob', 'again')
    await soon(async () =>
      expect((await logsOf(world)).at(-1)).toMatchObject({
        ...{ notificationTriggered: true, success: false, reason: 'PROVIDER_ERROR', attempts: 1 },
        answer: { status: 400, text: 'no such user' },
      }),
    )
    expect(await logsOf(world, '?success=false')).toHaveLength(1)
  })

  it('that fails holds up no other app', async () => {
    const failing = await notifiedWorld('alice', 'bob')
    const healthy = await notifiedWorld('alice', 'bob')
    failing.endpoint.behave({ status: 503, headers: { 'retry-after': '300' } })
    await Promise.all(Array.from({ length: 20 }, (_, i) => say(failing.world, 'alice', 'bob', `${i}`)))
    await soon(() => expect(failing.endpoint.received.length).toBeGreaterThan(0))
    await say(healthy.world, 'alice', 'bob', 'hello')
    await soon(() => expect(toldTo(healthy.endpoint)).toEqual(['bob: Alice, hello']))
  })

  it('that is not enabled, or gone, is told nothing, and no event is kept for it', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob')
    const path = '/notifications/push/v1/providers/custom'
    dataOf(await world.put(path, { isEnabled: false }))
    await say(world, 'alice', 'bob', 'unseen')
    const kept = await own.query('select from events where app_id = $1', [world.app.appId])
    expect(kept).toHaveLength(0)
    dataOf(await world.put(path, { isEnabled: true }))
    await say(world, 'alice', 'bob', 'seen')
    await soon(() => expect(toldTo(endpoint)).toEqual(['bob: Alice, seen']))
    expect(dataOf(await world.delete(path))).toEqual({ success: true })
    await say(world, 'alice', 'bob', 'gone')
    expect(dataOf(await world.get(path))).toEqual({ pushProviders: [] })
    expect(await own.query('select from events where app_id = $1', [world.app.appId])).toHaveLength(1)
  })

  it('is set up once, shows its password shortened, and is tried', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    const auth = { useBasicAuth: true, basicAuthUsername: 'hook', basicAuthPassword: 'very-secret-1' }
    const made = await setUpCustomPush(world, endpoint.url, { ...auth, isEnabled: false })
    const shown = { isEnabled: false, webhookURL: endpoint.url, ...auth, basicAuthPassword: '********et-1' }
    expect(made).toEqual(shown)
    const path = '/notifications/push/v1/providers/custom'
    expect(dataOf(await world.get(path))).toEqual({ pushProviders: [shown] })
    // As it was answered: the password stays.
    expect(dataOf(await world.post(path, shown))).toEqual({ pushProviders: [shown] })
    dataOf(await world.put(path, shown))
    expect(dataOf(await world.post(`${path}/test`))).toMatchObject({ success: true, status: 200 })
    expect(endpoint.received[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('hook:very-secret-1').toString('base64')}`,
    )
    endpoint.behave({ status: 418, body: 'teapot' })
    expect(dataOf(await world.post(`${path}/test`))).toMatchObject({ success: false, status: 418, answer: 'teapot' })
    expect(refusal(await world.put(path, { basicAuthPassword: '' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put(path, { webhookURL: 'ftp://example.com' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put(path, { isEnabled: 'yes' }))).toBe('400 ERR_BAD_REQUEST')
    const other = await createWorld(service)
    for (const refused of [
      other.put(path, {}),
      other.delete(path),
      other.post(`${path}/test`),
      other.post(`${path}/secret`),
    ]) {
      expect(refusal(await refused)).toBe('404 ERR_PROVIDER_NOT_FOUND')
    }
    const [row] = await own.query<{ row: string }>(
      'select p::text as row from notification_providers p where app_id = $1',
      [world.app.appId],
    )
    expect(row?.row).not.toContain('very-secret-1')
  })
})

describe('an explanation', () => {
  const explain = async (world: World, uid: string, messageId: string) =>
    dataOf(await world.get(`/notifications/v1/explain?uid=${uid}&messageId=${messageId}`))

  it('names every gate, its value and who set it, and what became of it', async () => {
    const { world } = await notifiedWorld('alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await patch(world, '/notifications/v1/preferences?uid=carol', { mutePreferences: { dnd: 2 } }))
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => expect((await outcomes(world)).sort()).toEqual(['bob sent', 'carol DND_PREFERENCE']))
    const bob = await explain(world, 'bob', id)
    expect(bob.notifications).toHaveLength(1)
    expect(bob.notifications[0]).toMatchObject({ success: true, attempts: 1, answer: { status: 200 }, uid: 'bob' })
    const { notifications, unplanned } = await explain(world, 'carol', id)
    expect(unplanned).toBeUndefined()
    expect(notifications[0]).toMatchObject({ notificationTriggered: false, reason: 'DND_PREFERENCE' })
    expect(notifications[0].gates.slice(0, 3)).toEqual([
      { gate: 'messages', value: 2, setBy: 'default', passes: true },
      { gate: 'dnd', value: 2, setBy: 'user', passes: false },
      { gate: 'mute', value: false, setBy: 'default', passes: true },
    ])
    const closed = (gate: string, value: unknown, setBy: string) => [{ gate, value, setBy, passes: false }]
    const ofNobody = { notifications: [] }
    expect(await explain(world, 'alice', id)).toEqual({
      ...{ uid: 'alice', ...ofNobody, unplanned: 'OWN_ACTION', gates: closed('sender', 'alice', 'chat') },
    })
    expect(await explain(world, 'dave', id)).toEqual({
      ...{ uid: 'dave', ...ofNobody, unplanned: 'NOT_A_PARTICIPANT', gates: closed('membership', false, 'chat') },
    })
  })

  it('names the gate for whom nothing was planned, with its value and who set it', async () => {
    const { world } = await notifiedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const change = (preferences: object) => patch(world, '/notifications/v1/settings', { preferences })
    dataOf(await change({ group: { messagesSetting: 1, messagesOverride: true } }))
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => {
      const { unplanned, gates } = await explain(world, 'bob', id)
      expect({ unplanned, gates }).toEqual({
        unplanned: 'NOT_CHOSEN',
        gates: [{ gate: 'messages', value: 1, setBy: 'app', passes: false }],
      })
    })
    dataOf(await change({ group: { messagesSetting: 2 } }))
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { pushGroupSize: 2 }))
    const large = await sayInGroup(world, 'alice', 'team', 'too many')
    await soon(async () => {
      const { unplanned, gates } = await explain(world, 'bob', large.id)
      expect({ unplanned, gates }).toEqual({
        unplanned: 'GROUP_TOO_LARGE',
        gates: [{ gate: 'pushGroupSize', value: 2, setBy: 'app', passes: false }],
      })
    })
  })

  it('says why there is nothing to explain, and is for API keys alone', async () => {
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'before')
    expect((await explain(world, 'bob', id)).unplanned).toBe('NO_PROVIDER')
    await setUpCustomPush(world, 'http://127.0.0.1:9/nowhere')
    expect((await explain(world, 'bob', id)).unplanned).toBe('NO_EVENT')
    const path = '/notifications/v1/explain'
    const token = dataOf(await world.post('/users/bob/auth_tokens', {})).authToken
    expect(refusal(await world.get(`${path}?uid=bob&messageId=${id}`, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.get(`${path}?uid=bob`))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(`${path}?uid=bob&messageId=${id}&eventId=1`))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(`${path}?uid=nobody&messageId=${id}`))).toBe('404 ERR_UID_NOT_FOUND')
    const other = await createWorld(service)
    await createUsers(other, 'bob')
    expect(refusal(await other.get(`${path}?uid=bob&messageId=${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })
})

describe('a preview', () => {
  it('tells who would be told what, and sends nothing', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await patch(world, '/notifications/v1/preferences?uid=bob', { groupPreferences: { groupMessages: 3 } }))
    dataOf(await patch(world, '/notifications/v1/preferences?uid=carol', { usePrivacyTemplate: true }))
    const imagined = { sender: 'alice', receiver: 'team', receiverType: 'group' }
    const previewOf = async (data: object) =>
      dataOf(await world.post('/notifications/v1/preview', { ...imagined, data })).notifications.map(
        ({ uid, reason, title, body }: Record<string, string>) => [uid, reason, title, body],
      )
    expect(await previewOf({ text: 'hi' })).toEqual([
      ['bob', 'MESSAGES_PREFERENCE', 'Alice @ team', 'hi'],
      ['carol', undefined, 'Alice @ team', 'New message'],
    ])
    expect((await previewOf({ text: 'hi <@uid:bob>' }))[0]).toEqual(['bob', undefined, 'Alice @ team', 'hi @Bob'])
    // A template that is not saved, beside those that are.
    const templates = { textMessageTemplateDefault: { body: '{{message.data.text}}!' }, usePrivacyTemplate: 1 }
    const tried = await world.post('/notifications/v1/preview', { ...imagined, data: { text: 'hi' }, templates })
    expect(dataOf(tried).notifications.map(({ body }: { body: string }) => body)).toEqual(['hi!', 'hi!'])
    expect((await previewOf({ text: 'hi' }))[1]).toEqual(['carol', undefined, 'Alice @ team', 'New message'])
    const open = { ...imagined, data: {}, templates: { textMessageTemplateDefault: { body: '{{message' } } }
    expect(refusal(await world.post('/notifications/v1/preview', open))).toBe('400 ERR_BAD_REQUEST')
    const unknown = { ...imagined, receiver: 'nowhere', data: {} }
    expect(refusal(await world.post('/notifications/v1/preview', unknown))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.post('/notifications/v1/preview', { ...unknown, sender: 'nobody' }))).toBe(
      '404 ERR_UID_NOT_FOUND',
    )
    expect(await logsOf(world)).toEqual([])
    expect(endpoint.received).toEqual([])
  })
})

describe('the badge', () => {
  it('counts what its user sees, and nothing that is hidden from them by their role or scope', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { admins: ['carol'], participants: ['bob', 'dave'] })
    dataOf(await world.post('/roles', { role: 'narrow', name: 'narrow' }))
    dataOf(await world.put('/users/dave', { role: 'narrow' }))
    const permissions = { 'listMessages.allowedMessageCategories': 'message' }
    dataOf(await world.put('/roles/narrow/permissions', { permissions }))
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    const poll = { category: 'custom', type: 'poll', data: { customData: { question: '?' } } }
    const to = (receiver: string, receiverType: string) => ({ receiver, receiverType, ...poll })
    for (const uid of ['bob', 'dave']) dataOf(await world.post('/messages', to(uid, 'user'), { as: 'alice' }))
    dataOf(await world.post('/messages', to('team', 'group'), { as: 'alice' }))
    const read = await sayInGroup(world, 'alice', 'team', 'hello')
    const badges = () =>
      endpoint.received
        .map(({ body: { data } }) => `${data.to.uid} ${data.notificationDetails.unreadMessageCount}`)
        .sort()
    // The poll for bob alone is one that he sees.
    await soon(() => expect(badges()).toEqual(['bob 2', 'carol 2', 'dave 1']))
    const unreadOf = async (uid: string) =>
      dataOf(await world.get('/conversations', { as: uid }))
        .map(({ unreadMessageCount }: { unreadMessageCount: string }) => Number(unreadMessageCount))
        .reduce((sum: number, count: number) => sum + count, 0)
    for (const uid of ['bob', 'carol', 'dave']) expect(badges()).toContain(`${uid} ${await unreadOf(uid)}`)
    // What is taken back tells the badge as well.
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { pushTakeBackRead: true }))
    endpoint.received.length = 0
    dataOf(await world.post('/groups/team/conversation/read', { messageId: read.id }, { as: 'dave' }))
    await soon(() =>
      expect(endpoint.received.map(({ body }) => body.data.notificationDetails.action)).toEqual(['read']),
    )
    expect(badges()).toEqual(['dave 0'])
  })

  it('is exact however much is unread, and what was counted once is not counted with each push', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob')
    const sentAt = Math.floor(Date.now() / 1000) - 3600
    const messages = Array.from({ length: 250 }, (_, i) => ({
      ...{
        muid: `old-${i}`,
        sender: 'alice',
        receiver: 'bob',
        receiverType: 'user',
        category: 'message',
        type: 'text',
      },
      ...{ data: { text: `${i}` }, sentAt },
    }))
    dataOf(await world.post('/data_import/messages', { messages }))
    const badges = () =>
      endpoint.received
        .filter(({ body }) => body.data.to.uid === 'bob')
        .map(({ body }) => body.data.notificationDetails.unreadMessageCount)
    await say(world, 'alice', 'bob', 'new')
    await soon(() => expect(badges()).toEqual(['251']))
    const remembered = 'select counted_unread as count from conversation_states where app_id = $1 and uid = $2'
    await soon(async () => expect(await own.query(remembered, [world.app.appId, 'bob'])).toEqual([{ count: 251 }]))
    await say(world, 'alice', 'bob', 'newer')
    await soon(() => expect(badges()).toEqual(['251', '252']))
    await say(world, 'bob', 'alice', 'read')
    await say(world, 'alice', 'bob', 'newest')
    await soon(() => expect(badges()).toEqual(['251', '252', '1']))
  })
})

describe('the logs', () => {
  it('are found by each of their parameters, and by several together', async () => {
    const { world } = await notifiedWorld('alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await patch(world, '/notifications/v1/preferences?uid=carol', { mutePreferences: { dnd: 2 } }))
    const direct = await say(world, 'alice', 'bob', 'hello')
    const image = {
      text: 'look',
      attachments: [{ url: 'https://example.com/a.png', name: 'a.png', mimeType: 'image/png' }],
    }
    const inGroup = dataOf(
      await world.post(
        '/messages',
        { receiver: 'team', receiverType: 'group', category: 'message', type: 'image', data: image },
        { as: 'alice' },
      ),
    )
    dataOf(await world.post(`/messages/${direct.id}/reactions/%F0%9F%91%8D`, undefined, { as: 'bob' }))
    const shown = (log: { uid: string; trigger: string; receiverType: string }) =>
      `${log.uid} ${log.trigger} ${log.receiverType}`
    const found = async (query: string) => (await logsOf(world, query)).map(shown).sort()
    const [bob, bobInTeam, carol] = [
      ...['bob after_message user', 'bob after_message group', 'carol after_message group'],
    ]
    const reacted = 'alice message_reaction_added user'
    const all = [reacted, bobInTeam, bob, carol]
    await soon(async () => {
      expect(await found('')).toEqual(all)
      expect(await found('?success=true')).toEqual([reacted, bobInTeam, bob])
    })
    const { reactionId } = (await logsOf(world, '?reactionSender=bob'))[0]
    const sentAt = (await logsOf(world, `?messageId=${direct.id}`))[0].messageSentAtMS
    const cases: ReadonlyArray<readonly [string, readonly (string | undefined)[]]> = [
      [`messageId=${inGroup.id}`, [bobInTeam, carol]],
      [`reactionId=${reactionId}`, [reacted]],
      [`from=${sentAt - 1}`, all],
      [`from=${sentAt + 3_600_000}`, []],
      [`to=${sentAt - 1}`, []],
      [`to=${sentAt + 3_600_000}`, all],
      ['messageCategory=message', all],
      ['messageCategory=interactive', []],
      ['messageType=image', [bobInTeam, carol]],
      ['trigger=after_message', [bobInTeam, bob, carol]],
      ['trigger=message_reaction_added', [reacted]],
      ['sender=ALICE', all],
      ['sender=bob', []],
      ['reactionSender=bob', [reacted]],
      ['receiver=team&receiverType=group', [bobInTeam, carol]],
      ['receiver=bob&receiverType=user', [bob]],
      ['receiverType=group', [bobInTeam, carol]],
      ['reactionReceiver=alice', [reacted]],
      ['reactionReceiver=bob', []],
      ['member=carol', [carol]],
      ['channel=push', all],
      ['channel=email', []],
      ['provider=custom', all],
      ['provider=fcm', []],
      ['notificationTriggered=true', [reacted, bobInTeam, bob]],
      ['notificationTriggered=false', [carol]],
      ['reason=DND_PREFERENCE', [carol]],
      ['reason=MUTE_PREFERENCE', []],
      ['success=true', [reacted, bobInTeam, bob]],
      ['success=false', []],
      ['member=bob&trigger=after_message&success=true', [bobInTeam]],
    ]
    for (const [query, expected] of cases) expect([query, await found(`?${query}`)]).toEqual([query, expected])
    for (const wrong of [
      'messageCategory=call',
      'trigger=nothing',
      'receiverType=room',
      'reason=NONE',
      'success=maybe',
    ]) {
      expect([wrong, refusal(await world.get(`/notifications/v1/logs?${wrong}`))]).toEqual([
        wrong,
        '400 ERR_BAD_REQUEST',
      ])
    }
  })

  it('begin at the oldest where newer ones are asked for and nothing says than which', async () => {
    const { world } = await notifiedWorld('alice', 'bob')
    for (const text of ['1', '2', '3']) await say(world, 'alice', 'bob', text)
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(3))
    const all = await logsOf(world)
    const { body } = await world.get('/notifications/v1/logs?limit=2&affix=append')
    expect(body.data).toEqual(all.slice(0, 2))
    expect(body.meta).toEqual({ current: { limit: 2, count: 2 }, next: { affix: 'append', logId: all[1]._id } })
    const rest = (await world.get(`/notifications/v1/logs?limit=2&affix=append&logId=${all[1]._id}`)).body
    expect(rest.data).toEqual(all.slice(2))
    expect(rest.meta).toEqual({ previous: { affix: 'prepend', logId: all[2]._id }, current: { limit: 2, count: 1 } })
  })

  it('are paged both ways, are those of the app, and go with a user who is deleted for good', async () => {
    const { world, endpoint } = await notifiedWorld('alice', 'bob')
    for (const text of ['1', '2', '3', '4', '5']) await say(world, 'alice', 'bob', text)
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(5))
    expect(endpoint.received).toHaveLength(5)
    const newest = (await world.get('/notifications/v1/logs?limit=2')).body
    expect(newest.data).toHaveLength(2)
    expect(newest.meta.next).toBeUndefined()
    const page = (cursor: { affix: string; logId: string }) =>
      world.get(`/notifications/v1/logs?limit=2&affix=${cursor.affix}&logId=${cursor.logId}`)
    const older = (await page(newest.meta.previous)).body
    const ids = [...older.data, ...newest.data].map((log: { _id: string }) => Number(log._id))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect((await page(older.meta.next)).body.data).toEqual(newest.data)
    expect((await page(older.meta.previous)).body.data).toHaveLength(1)
    expect(await logsOf(await createWorld(service))).toEqual([])
    for (const query of ['?channel=fax', '?limit=0', '?messageId=x', '?logId=x']) {
      expect(refusal(await world.get(`/notifications/v1/logs${query}`))).toBe('400 ERR_BAD_REQUEST')
    }
    dataOf(await world.delete('/users/bob', { permanent: true }))
    expect(await logsOf(world)).toEqual([])
  })
})
