import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blockMessage } from '../../src/areas/messages/index.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { addRules } from '../support/held.ts'
import { contact, customEmail, logsOf, patch, setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createReachable, endWindows, openWindowsOf, setUpCustom, whenPlanned } from '../support/unread.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'

/** Epoch milliseconds by which is decided; undefined: the machine's. */
let clock: number | undefined
let own: OwnServices
let service: Service

beforeAll(async () => {
  own = await createOwnServices()
  service = await own.start({}, { notificationClock: () => clock ?? Date.now() })
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

/** An app whose users get e-mails by an endpoint; each has an address. */
async function mailWorld(...uids: string[]): Promise<{ world: World; endpoint: Endpoint }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createReachable(world, ...uids)
  await setUpCustom(world, 'email', endpoint.url)
  return { world, endpoint }
}

const waitForWindows = (world: World, ...expected: string[]) =>
  soon(async () => expect(await openWindowsOf(own, world)).toEqual(expected))
const settings = async (world: World, preferences: object) =>
  dataOf(await patch(world, '/notifications/v1/settings', { preferences }))
const choose = async (world: World, uid: string, change: object) =>
  dataOf(await patch(world, `/notifications/v1/preferences?uid=${uid}`, change))
const read = async (world: World, uid: string, path: string) => dataOf(await world.post(path, {}, { as: uid }))

/** What an endpoint was told, as `bob: one, two`. */
const told = (endpoint: Endpoint) =>
  endpoint.received
    .map(
      ({ body: { data } }) =>
        `${data.to.uid}: ${data.messages.map(({ message }: { message: string }) => message).join(', ')}`,
    )
    .sort()

const outcomes = async (world: World, query = '?channel=email') =>
  (await logsOf(world, query))
    .map(
      (log: { uid: string; success?: boolean; reason?: string }) =>
        `${log.uid} ${log.success === true ? 'sent' : (log.reason ?? 'waits')}`,
    )
    .sort()

describe('messages that stay unread', () => {
  it('are told by one e-mail at the end of the window, and the next message opens the next one', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    const [waiting] = await logsOf(world)
    const wait = waiting.nextAttemptAtMS - waiting.processingStartedAtMS
    expect({ wait, attempts: waiting.attempts }).toEqual({ wait: 7_200_000, attempts: 0 })
    await say(world, 'alice', 'bob', 'two')
    const last = await say(world, 'alice', 'bob', 'three')
    await whenPlanned(own, world)
    expect(await openWindowsOf(own, world)).toEqual(['email bob'])
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)).toEqual(['bob: one, two, three']))
    expect(endpoint.received[0]?.body).toEqual({
      trigger: 'email-notification-payload-generated',
      data: {
        to: { uid: 'bob', name: 'Bob', email: 'bob@example.com' },
        messages: ['one', 'two', 'three'].map((message) => ({
          ...{ sender: { uid: 'alice', name: 'Alice' }, message },
          sentAt: expect.any(Number),
        })),
        unreadMessageCount: '3',
        senderDetails: { uid: 'alice', name: 'Alice' },
        subject: 'Unread messages from Alice',
      },
      ...{ appId: world.app.name, region: 'us', webhook: 'custom' },
    })
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    expect((await logsOf(world))[0]).toMatchObject({ channel: 'email', messageId: Number(last.id), provider: 'custom' })
    await say(world, 'alice', 'bob', 'four')
    await waitForWindows(world, 'email bob')
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)[1]).toBe('bob: one, two, three, four'))
  })

  it('are told by SMS as well, each in its own window and its own words', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    const texts = await open()
    await setUpCustom(world, 'sms', texts.url)
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await sayInGroup(world, 'alice', 'team', 'hello')
    await waitForWindows(world, 'email bob', 'email carol', 'sms bob', 'sms carol')
    await endWindows(own, world)
    await soon(() => expect([told(endpoint).length, texts.received.length]).toEqual([2, 2]))
    const [sms] = texts.received.filter(({ body }) => body.data.to.uid === 'carol')
    expect(sms?.body).toMatchObject({
      trigger: 'sms-notification-payload-generated',
      data: {
        to: { uid: 'carol', name: 'Carol', phno: '+15550102' },
        groupDetails: { guid: 'team', name: 'team' },
        smsContent: 'You have 1 unread message in team.',
      },
    })
    expect(sms?.body.data.subject).toBeUndefined()
    expect(told(endpoint)).toEqual(['bob: hello', 'carol: hello'])
  })

  it('and were read meanwhile are not told, and the log says so', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'carol', 'one')
    await waitForWindows(world, 'email bob', 'email carol')
    await read(world, 'bob', '/users/alice/conversation/read')
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob ALREADY_READ', 'carol sent']))
    expect(told(endpoint)).toEqual(['carol: one'])
    await say(world, 'alice', 'bob', 'two')
    await waitForWindows(world, 'email bob')
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)).toContain('bob: two'))
  })

  it('are listed with what was read since, where the app wants that', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await settings(world, { email: { notifyForUnreadOnly: false } })
    await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    await read(world, 'bob', '/users/alice/conversation/read')
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)).toEqual(['bob: one']))
  })

  it('are told although the first of them was deleted, and not at all where all were', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    const first = await say(world, 'alice', 'bob', 'first')
    const only = await say(world, 'alice', 'carol', 'only')
    await waitForWindows(world, 'email bob', 'email carol')
    await say(world, 'alice', 'bob', 'second')
    for (const [{ id }, permanent] of [
      [first, true],
      [only, false],
    ] as const) {
      dataOf(await world.delete(`/messages/${id}`, { permanent }))
    }
    await whenPlanned(own, world)
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent', 'carol NOT_FOUND']))
    expect(told(endpoint)).toEqual(['bob: second'])
  })

  it('are told without what moderation holds or has blocked, and not at all where nothing else is left', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    const removeRules = addRules(world)
    try {
      const blocked = [await say(world, 'alice', 'bob', 'first'), await say(world, 'alice', 'carol', 'only')]
      await waitForWindows(world, 'email bob', 'email carol')
      await say(world, 'alice', 'bob', 'bad')
      await say(world, 'alice', 'bob', 'second')
      for (const { id } of blocked) {
        const outcome = await blockMessage(world.context, world.app, Number(id), { by: { reviewer: 'rita' } })
        expect(outcome).toMatchObject({ blocked: true })
      }
      await whenPlanned(own, world)
      await endWindows(own, world)
      await soon(async () => expect(await outcomes(world)).toEqual(['bob sent', 'carol NOT_FOUND']))
      expect(told(endpoint)).toEqual(['bob: second'])
    } finally {
      removeRules()
    }
  })
})

describe('an e-mail', () => {
  it('is not sent to who does not want it, and the log says why', async () => {
    const members = ['never', 'mentions', 'quiet', 'muting', 'night', 'blocking', 'homeless', 'wants']
    const { world, endpoint } = await mailWorld('alice', ...members)
    await createGroup(world, 'team', 'alice', { participants: members })
    const off = Object.fromEntries(
      ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [day, { dnd: true }]),
    )
    await choose(world, 'never', { groupPreferences: { groupMessages: 1 } })
    await choose(world, 'mentions', { groupPreferences: { groupMessages: 3 } })
    await choose(world, 'quiet', { mutePreferences: { dnd: 2 } })
    await choose(world, 'night', { mutePreferences: { schedule: off } })
    dataOf(
      await world.put('/notifications/v1/preferences/mute?uid=muting', {
        conversations: [{ id: 'team', type: 'group' }],
      }),
    )
    dataOf(await world.post('/users/blocking/blockedusers', { blockedUids: ['alice'] }))
    dataOf(await world.delete('/notifications/v1/contact-details', undefined, { as: 'homeless' }))
    await sayInGroup(world, 'alice', 'team', 'hello')
    await waitForWindows(world, 'email muting', 'email night', 'email quiet', 'email wants')
    expect(await outcomes(world)).toEqual(
      expect.arrayContaining(['blocking BLOCKED', 'homeless MISSING_EMAIL', 'mentions MESSAGES_PREFERENCE']),
    )
    await endWindows(own, world)
    await soon(async () =>
      expect(await outcomes(world)).toEqual([
        'blocking BLOCKED',
        'homeless MISSING_EMAIL',
        'mentions MESSAGES_PREFERENCE',
        'muting MUTE_PREFERENCE',
        'never MESSAGES_PREFERENCE',
        'night SCHEDULE_PREFERENCE',
        'quiet DND_PREFERENCE',
        'wants sent',
      ]),
    )
    // What changes before the end of the window counts, for each message.
    await choose(world, 'quiet', { mutePreferences: { dnd: 1 } })
    await sayInGroup(world, 'alice', 'team', 'you <@uid:mentions>')
    await waitForWindows(world, 'email mentions', 'email muting', 'email night', 'email quiet', 'email wants')
    await choose(world, 'wants', { groupPreferences: { groupMessages: 1 } })
    await endWindows(own, world)
    await soon(() =>
      expect(told(endpoint)).toEqual(['mentions: you @Mentions', 'quiet: hello, you @Mentions', 'wants: hello']),
    )
  })

  it('is not sent to who has left, was deactivated or has unsubscribed', async () => {
    const { world, endpoint } = await mailWorld('alice', 'leaver', 'away', 'tired', 'stays')
    await createGroup(world, 'team', 'alice', { participants: ['leaver', 'away', 'tired', 'stays'] })
    await sayInGroup(world, 'alice', 'team', 'hello')
    await waitForWindows(world, 'email away', 'email leaver', 'email stays', 'email tired')
    dataOf(await world.delete('/groups/team/members', undefined, { as: 'leaver' }))
    dataOf(await world.delete('/users/away'))
    await own.query(
      `insert into notification_unsubscriptions (app_id, uid, channel, since) values ($1, 'tired', 'email', 0)`,
      [world.app.appId],
    )
    await endWindows(own, world)
    await soon(async () =>
      expect(await outcomes(world)).toEqual(['away NOT_FOUND', 'leaver NOT_FOUND', 'stays sent', 'tired UNSUBSCRIBED']),
    )
    expect(told(endpoint)).toEqual(['stays: hello'])
    await sayInGroup(world, 'alice', 'team', 'again')
    await waitForWindows(world, 'email stays')
  })

  it('is sent only so often on a day, and of a conversation', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    await settings(world, { email: { maxPerDay: 2, maxPerDayPerConversation: 1 } })
    const tell = async (from: string, text: string) => {
      await say(world, from, 'bob', text)
      await waitForWindows(world, 'email bob')
      await endWindows(own, world)
      await waitForWindows(world)
    }
    await tell('alice', 'one')
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    await tell('alice', 'two')
    await soon(async () => expect(await outcomes(world)).toEqual(['bob QUOTA_PREFERENCE', 'bob sent']))
    await tell('carol', 'three')
    await soon(() => expect(told(endpoint)).toEqual(['bob: one', 'bob: three']))
    clock = Date.now() + 172_800_000
    try {
      await tell('alice', 'four')
      await soon(() => expect(told(endpoint)).toContain('bob: one, two, four'))
    } finally {
      clock = undefined
    }
  })

  it('counts by the day of its user, also by one that has 25 hours', async () => {
    const { world } = await mailWorld('alice', 'bob')
    await settings(world, { email: { maxPerDay: 1, maxPerDayPerConversation: 1 } })
    const zone = { timezone: 'Europe/Oslo' }
    dataOf(await patch(world, '/notifications/v1/preferences/timezone?uid=bob', zone))
    const days: ReadonlyArray<readonly [string, string]> = [
      // The first and the last minutes of a Sunday on which clocks go back, and the first of Monday.
      ['2030-10-26T22:10:00Z', 'sent'],
      ['2030-10-27T22:50:00Z', 'QUOTA_PREFERENCE'],
      ['2030-10-27T23:10:00Z', 'sent'],
      ['2030-10-28T22:50:00Z', 'QUOTA_PREFERENCE'],
      // The first and the last minutes of one on which they go forward, which has 23.
      ['2031-03-29T23:10:00Z', 'sent'],
      ['2031-03-30T21:50:00Z', 'QUOTA_PREFERENCE'],
      ['2031-03-30T22:10:00Z', 'sent'],
    ]
    try {
      for (const [i, [time]] of days.entries()) {
        clock = Date.parse(time)
        await say(world, 'alice', 'bob', `number ${i}`)
        await waitForWindows(world, 'email bob')
        await endWindows(own, world)
        const expected = days.slice(0, i + 1).map(([, outcome]) => `bob ${outcome}`)
        await soon(async () => expect(await outcomes(world)).toEqual(expected.sort()))
      }
    } finally {
      clock = undefined
    }
  })

  it('is sent only in groups that are not too large for it', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    const pushes = await open()
    await setUpCustomPush(world, pushes.url)
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { emailGroupSize: 2 }))
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(() => expect(pushes.received).toHaveLength(2))
    await whenPlanned(own, world)
    expect(await openWindowsOf(own, world)).toEqual([])
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { emailGroupSize: 3 }))
    await sayInGroup(world, 'alice', 'team', 'again')
    await waitForWindows(world, 'email bob', 'email carol')
    expect(endpoint.received).toEqual([])
  })

  it('goes to who has no address as well, where the app finds them itself, and then names none', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'carol')
    await setUpCustom(world, 'email', endpoint.url, false)
    dataOf(await contact(world, 'bob', { email: 'bob@example.com' }))
    await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'carol', 'two')
    await waitForWindows(world, 'email bob', 'email carol')
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)).toEqual(['bob: one', 'carol: two']))
    const receivers = endpoint.received.map(({ body }) => Object.keys(body.data.to))
    expect(receivers).toEqual([
      ['uid', 'name'],
      ['uid', 'name'],
    ])
  })

  it('is sent by the provider that was saved last, also of windows that another one opened', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    dataOf(await world.delete(customEmail))
    const other = await open()
    await setUpCustom(world, 'email', other.url)
    await say(world, 'alice', 'bob', 'two')
    await whenPlanned(own, world)
    await endWindows(own, world)
    await soon(() => expect(told(other)).toEqual(['bob: one, two']))
    expect(endpoint.received).toEqual([])
  })

  it('is sent of a message that comes once the time of the last window is over, before that is seen', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol')
    await say(world, 'alice', 'bob', 'one')
    await say(world, 'alice', 'carol', 'one')
    await waitForWindows(world, 'email bob', 'email carol')
    await own.query('update notification_deliveries set expires_at = 1 where app_id = $1', [world.app.appId])
    await say(world, 'alice', 'bob', 'two')
    await whenPlanned(own, world)
    expect(await openWindowsOf(own, world)).toEqual(['email bob', 'email carol'])
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent', 'carol TIMED_OUT']))
    expect(told(endpoint)).toEqual(['bob: one, two'])
  })

  it('by a mail server that the operator has taken away waits and says so, until its time is over', async () => {
    const services = await createOwnServices()
    try {
      const before = await services.start()
      const set = await createWorld(before)
      await createReachable(set, 'alice', 'bob')
      dataOf(await set.put('/notifications/email/v1/providers/smtp', { isEnabled: true }))
      await before.parley.close()
      const after = await services.start({ SMTP_URL: '', MAIL_FROM: '' })
      const world = servedBy(set, after.url)
      await say(world, 'alice', 'bob', 'hello')
      await soon(async () => expect(await openWindowsOf(services, world)).toEqual(['email bob']))
      await endWindows(services, world)
      const error = expect.stringContaining('the operator has set no mail server')
      await soon(async () => expect(await logsOf(world)).toMatchObject([{ provider: 'smtp', error }]))
      await services.query('update notification_deliveries set due_at = 1, expires_at = 1')
      await soon(async () => expect(await outcomes(world)).toEqual(['bob TIMED_OUT']))
    } finally {
      await services.close()
    }
  })

  it('counts what its user sees, and nothing that is hidden from them', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { admins: ['carol'], participants: ['bob'] })
    dataOf(await world.post('/roles', { role: 'narrow', name: 'narrow' }))
    dataOf(await world.put('/users/dave', { role: 'narrow' }))
    const permissions = { 'listMessages.allowedMessageCategories': 'message' }
    dataOf(await world.put('/roles/narrow/permissions', { permissions }))
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    const poll = { category: 'custom', type: 'poll', data: { customData: { question: '?' } } }
    for (let i = 0; i < 2; i++) {
      await say(world, 'alice', 'dave', '', poll)
      await sayInGroup(world, 'alice', 'team', '', poll)
    }
    await say(world, 'alice', 'dave', 'hello')
    await sayInGroup(world, 'alice', 'team', 'hello')
    await waitForWindows(world, 'email bob', 'email carol', 'email dave')
    await endWindows(own, world)
    await soon(() => expect(endpoint.received).toHaveLength(3))
    const counts = endpoint.received.map(({ body: { data } }) => `${data.to.uid} ${data.unreadMessageCount}`)
    expect(counts.sort()).toEqual(['bob 1', 'carol 3', 'dave 1'])
  })

  it('of two windows is not sent twice where nothing came between', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    const [row] = await own.query<{ id: string }>('select id from notification_deliveries where app_id = $1', [
      world.app.appId,
    ])
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    // As if the message had been planned just after the window was closed that told of it.
    await own.query(
      `insert into notification_deliveries (app_id, uid, channel, provider_kind, provider_id, provider, trigger, event,
         conversation, kind, receiver, status, gates, due_at, expires_at, created_at, opened_sent_at, opened_id)
       select app_id, uid, channel, provider_kind, provider_id, provider, trigger, event, conversation, kind, receiver,
         'pending', gates, 1, expires_at, created_at, opened_sent_at, opened_id
       from notification_deliveries where app_id = $1 and id = $2`,
      [world.app.appId, row?.id],
    )
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob ALREADY_TOLD', 'bob sent']))
    expect(endpoint.received).toHaveLength(1)
  })
})

describe('a repeat', () => {
  it('after a failure or a crash has the same id and tells of the same messages', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    endpoint.behave((_, count) => ({ cut: count === 1 }))
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    expect(told(endpoint)).toEqual(['bob: one', 'bob: one'])
    await say(world, 'alice', 'bob', 'two')
    await waitForWindows(world, 'email bob')
    // Killed after it was sent and before that was written.
    await own.query(
      `update notification_deliveries set status = 'pending', day = 0, attempts = 0, ended_at = null, due_at = 1
       where app_id = $1 and status = 'delivered'`,
      [world.app.appId],
    )
    await own.query(
      `select graphile_worker.add_job('send_notifications', json_build_object('appId', app_id, 'provider', provider))
       from notification_senders where app_id = $1`,
      [world.app.appId],
    )
    await soon(() => expect(told(endpoint)).toEqual(['bob: one', 'bob: one', 'bob: one']))
    const ids = endpoint.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
  })

  it('is made by one of two services alone', async () => {
    const second = await own.start()
    const { world, endpoint } = await mailWorld('alice', ...Array.from({ length: 20 }, (_, i) => `user${i}`))
    await createGroup(world, 'team', 'alice', { participants: Array.from({ length: 20 }, (_, i) => `user${i}`) })
    await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => expect(await openWindowsOf(own, world)).toHaveLength(20))
    await endWindows(own, world)
    await endWindows(own, world)
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(20))
    expect(endpoint.received).toHaveLength(20)
    await second.parley.close()
  })
})

describe('an explanation', () => {
  it('of any message of a window names the gates of its end', async () => {
    const { world } = await mailWorld('alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    const { id } = await say(world, 'alice', 'bob', 'two')
    const explain = async () =>
      dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${id}`)).notifications
    expect(await explain()).toMatchObject([{ channel: 'email', attempts: 0, nextAttemptAtMS: expect.any(Number) }])
    await say(world, 'alice', 'bob', 'three')
    await whenPlanned(own, world)
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    const [found, ...others] = await explain()
    expect(others).toEqual([])
    expect(found.gates.map(({ gate, value }: { gate: string; value: unknown }) => [gate, value])).toEqual([
      ['messages', 2],
      ['dnd', 1],
      ['mute', false],
      ['schedule', expect.stringMatching(/^\w+day 0-2359, it is \d+ in UTC$/)],
      ['privacyTemplate', false],
      ['window', 7200],
      ['quota', '0 of 20 today, 0 of 2 here'],
      ['address', 'stored'],
      ['unsubscribed', false],
      ['blocks', false],
      ['timeToLive', true],
      ['membership', true],
      ['message', 'there'],
      ['account', true],
      ['read', false],
    ])
  })

  const explain = async (world: World, uid: string, messageId: string) =>
    dataOf(await world.get(`/notifications/v1/explain?uid=${uid}&messageId=${messageId}`))
  const closed = (gate: string, value: unknown, setBy = 'chat') => [{ gate, value, setBy, passes: false }]

  it('of a message that an e-mail does not list says why, and nothing of the e-mail', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await say(world, 'bob', 'alice', 'hi')
    await waitForWindows(world, 'email alice')
    const one = await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email alice', 'email bob')
    const two = await say(world, 'alice', 'bob', 'two')
    const custom = { receiver: 'bob', receiverType: 'user', category: 'custom', type: 'dice' }
    const silent = dataOf(
      await world.post('/messages', { ...custom, data: { customData: { eyes: 6 } } }, { as: 'alice' }),
    )
    const three = await say(world, 'alice', 'bob', 'three')
    dataOf(await world.delete(`/messages/${two.id}`, {}, { as: 'alice' }))
    await whenPlanned(own, world)
    const expectThem = async (outcome: object) => {
      const told = { notifications: [expect.objectContaining({ channel: 'email', ...outcome })] }
      expect(await explain(world, 'bob', one.id)).toMatchObject(told)
      expect(await explain(world, 'bob', three.id)).toMatchObject(told)
      const none = { uid: 'bob', notifications: [] }
      expect(await explain(world, 'bob', two.id)).toEqual({
        ...{ ...none, unplanned: 'DELETED', gates: closed('message', 'deleted') },
      })
      expect(await explain(world, 'bob', silent.id)).toEqual({
        ...{ ...none, unplanned: 'NOT_NOTIFYING', gates: closed('sendNotification', false) },
      })
      expect(await explain(world, 'alice', one.id)).toEqual({
        ...{ ...none, uid: 'alice', unplanned: 'OWN_ACTION', gates: closed('sender', 'alice') },
      })
    }
    await expectThem({ attempts: 0 })
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)).toContain('bob: one, three'))
    await soon(async () => expect(await outcomes(world, '?channel=email&receiver=bob')).toEqual(['bob sent']))
    await expectThem({ success: true })
  })

  it('of a message that was read before the others says that it is not listed', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    const one = await say(world, 'alice', 'bob', 'one')
    await waitForWindows(world, 'email bob')
    await read(world, 'bob', '/users/alice/conversation/read')
    const two = await say(world, 'alice', 'bob', 'two')
    await whenPlanned(own, world)
    await endWindows(own, world)
    await soon(() => expect(told(endpoint)).toEqual(['bob: two']))
    await soon(async () => expect(await outcomes(world)).toEqual(['bob sent']))
    expect(await explain(world, 'bob', one.id)).toEqual({ uid: 'bob', notifications: [], unplanned: 'NOT_LISTED' })
    expect((await explain(world, 'bob', two.id)).notifications).toMatchObject([{ success: true }])
  })

  it('of a message that a preference stopped has that alone, whatever e-mail came of others', async () => {
    const { world } = await mailWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await choose(world, 'bob', { groupPreferences: { groupMessages: 3 } })
    await sayInGroup(world, 'alice', 'team', 'you <@uid:bob>')
    await waitForWindows(world, 'email bob')
    const stopped = await sayInGroup(world, 'alice', 'team', 'all')
    await soon(async () => expect(await outcomes(world)).toContain('bob MESSAGES_PREFERENCE'))
    await sayInGroup(world, 'alice', 'team', '<@uid:bob> again')
    await whenPlanned(own, world)
    const expectIt = async () =>
      expect((await explain(world, 'bob', stopped.id)).notifications).toMatchObject([{ reason: 'MESSAGES_PREFERENCE' }])
    await expectIt()
    await endWindows(own, world)
    await soon(async () => expect(await outcomes(world)).toContain('bob sent'))
    await expectIt()
  })

  it('of a message that moderation holds tells nothing of the e-mail that goes on without it', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    const removeRules = addRules(world)
    try {
      await say(world, 'alice', 'bob', 'one')
      await waitForWindows(world, 'email bob')
      const held = await say(world, 'alice', 'bob', 'bad')
      await say(world, 'alice', 'bob', 'two')
      await whenPlanned(own, world)
      await endWindows(own, world)
      await soon(() => expect(told(endpoint)).toEqual(['bob: one, two']))
      expect(await explain(world, 'bob', held.id)).toEqual({ uid: 'bob', notifications: [], unplanned: 'HELD' })
    } finally {
      removeRules()
    }
  })

  it('says of each channel by which there is nothing why', async () => {
    const { world } = await mailWorld('alice', 'bob', 'carol')
    const pushes = await open()
    await setUpCustomPush(world, pushes.url)
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { emailGroupSize: 2 }))
    const large = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(() => expect(pushes.received).toHaveLength(2))
    await whenPlanned(own, world)
    const noSms = { channel: 'sms', unplanned: 'NO_PROVIDER', gates: closed('provider', false, 'app') }
    expect(await explain(world, 'bob', large.id)).toMatchObject({
      notifications: [{ channel: 'push' }],
      channels: [{ channel: 'email', unplanned: 'GROUP_TOO_LARGE', gates: closed('emailGroupSize', 2, 'app') }, noSms],
    })
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await waitForWindows(world, 'email bob')
    const both = await explain(world, 'bob', id)
    expect(both.notifications.map(({ channel }: { channel: string }) => channel).sort()).toEqual(['email', 'push'])
    expect(both.channels).toEqual([noSms])
  })
})

describe('a preview', () => {
  it('shows e-mails and SMS beside pushes', async () => {
    const { world, endpoint } = await mailWorld('alice', 'bob')
    await setUpCustom(world, 'sms', endpoint.url)
    await setUpCustomPush(world, endpoint.url)
    const imagined = { sender: 'alice', receiver: 'bob', receiverType: 'user', data: { text: 'hi' } }
    const { notifications } = dataOf(await world.post('/notifications/v1/preview', imagined))
    const shown = notifications.map(({ channel, title, body }: Record<string, string>) => [channel, title, body])
    expect(shown.sort()).toEqual([
      ['email', 'Unread messages from Alice', 'hi'],
      ['push', 'Alice', 'hi'],
      ['sms', '', 'You have 1 unread message from Alice.'],
    ])
    expect(await logsOf(world)).toEqual([])
  })
})

describe('whoever is deleted for good', () => {
  it('leaves no window, neither of their own nor of those they wrote to', async () => {
    const { world } = await mailWorld('alice', 'bob', 'carol')
    await say(world, 'alice', 'bob', 'one')
    await say(world, 'bob', 'carol', 'two')
    await say(world, 'alice', 'carol', 'three')
    await waitForWindows(world, 'email bob', 'email carol', 'email carol')
    dataOf(await world.delete('/users/bob', { permanent: true }))
    expect(await openWindowsOf(own, world)).toEqual(['email carol'])
  })
})
