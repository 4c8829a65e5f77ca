import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blockMessage } from '../../src/areas/messages/index.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import type { Endpoint } from '../support/endpoint.ts'
import { pullEvents } from '../support/events.ts'
import { addRules } from '../support/held.ts'
import { logsOf, patch, sendNow, setUpCustomPush, toldTo } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createReachable, endWindows, setUpCustom } from '../support/unread.ts'
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

/** Asks the endpoint to be left alone, so that what is planned waits. */
const putOff = { status: 503, headers: { 'retry-after': '600' } }

/** What waits is sent now. */
async function goOn(world: World, endpoint: Endpoint): Promise<void> {
  endpoint.behave({})
  endpoint.received.length = 0
  await sendNow(own, world)
}

const explain = async (world: World, uid: string, messageId: string) =>
  dataOf(await world.get(`/notifications/v1/explain?uid=${uid}&messageId=${messageId}`)).notifications

describe('a notification that waits', () => {
  const everyDay = (day: object) =>
    Object.fromEntries(
      ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [name, day]),
    )
  const choose = (uid: string, change: object) => (world: World) =>
    patch(world, `/notifications/v1/preferences?uid=${uid}`, change)
  const cases: ReadonlyArray<readonly [string, (world: World, id: string) => Promise<unknown>, string, string]> = [
    ['never', choose('never', { groupPreferences: { groupMessages: 1 } }), 'MESSAGES_PREFERENCE', 'messages'],
    ['quiet', choose('quiet', { mutePreferences: { dnd: 2 } }), 'DND_PREFERENCE', 'dnd'],
    [
      'night',
      choose('night', { mutePreferences: { schedule: everyDay({ dnd: true }) } }),
      'SCHEDULE_PREFERENCE',
      'schedule',
    ],
    [
      'muting',
      (world) =>
        world.put('/notifications/v1/preferences/mute?uid=muting', {
          conversations: [{ id: 'team', type: 'group', until: Date.now() + 3_600_000 }],
        }),
      'MUTE_PREFERENCE',
      'mute',
    ],
    [
      'blocking',
      (world) => world.post('/users/blocking/blockedusers', { blockedUids: ['alice'] }),
      'BLOCKED',
      'blocks',
    ],
    // Who has left sees its messages no more, and of what is hidden only that is told.
    ['left', (world) => world.delete('/groups/team/members/left'), 'NOT_FOUND', 'message'],
    ['asleep', (world) => world.delete('/users', { uidsToDeactivate: ['asleep'] }), 'NOT_FOUND', 'account'],
    [
      'reading',
      (world, messageId) => world.post('/groups/team/conversation/read', { messageId }, { as: 'reading' }),
      'ALREADY_READ',
      'read',
    ],
    [
      'resetting',
      (world) => world.delete('/groups/team/conversation', {}, { as: 'resetting' }),
      'NOT_VISIBLE',
      'message',
    ],
  ]

  it('is decided anew when it is sent, and its log and explanation name the gate that is closed by then', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    const uids = cases.map(([uid]) => uid)
    await createUsers(world, 'alice', 'wants', ...uids)
    await createGroup(world, 'team', 'alice', { participants: ['wants', ...uids] })
    await setUpCustomPush(world, endpoint.url)
    endpoint.behave(putOff)
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => expect(await logsOf(world, '?trigger=after_message')).toHaveLength(uids.length + 1))
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(0))
    for (const [, act] of cases) expect(await act(world, id)).toMatchObject({ status: 200 })
    await goOn(world, endpoint)
    await soon(async () => {
      const logs: Array<{ uid: string; reason?: string; success?: boolean }> = await logsOf(
        world,
        '?trigger=after_message',
      )
      expect(logs.map(({ uid, reason, success }) => [uid, reason ?? success]).sort()).toEqual(
        [['wants', true], ...cases.map(([uid, , reason]) => [uid, reason])].sort(),
      )
    })
    expect(endpoint.received.map(({ body }) => body.data.to.uid)).toEqual(['wants'])
    for (const [uid, , reason, gate] of cases.filter(([uid]) => uid !== 'asleep')) {
      const [told] = await explain(world, uid, id)
      expect(told).toMatchObject({ reason, notificationTriggered: false })
      const closed = told.gates.filter(({ passes }: { passes: boolean }) => !passes)
      expect([uid, closed[0].gate]).toEqual([uid, gate])
    }
  })

  it('is not sent past its time to live, to nobody whose message is gone, and says so', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    endpoint.behave(putOff)
    const [late, gone] = [await say(world, 'alice', 'bob', 'late'), await say(world, 'alice', 'bob', 'gone')]
    const both = await say(world, 'alice', 'bob', 'late and gone')
    await soon(async () => expect(await logsOf(world)).toHaveLength(3))
    dataOf(
      await patch(world, '/notifications/v1/settings', { preferences: { oneOnOne: { messageDeletedSetting: 1 } } }),
    )
    for (const { id } of [gone, both]) dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await own.query(
      'update notification_deliveries set expires_at = 1 where app_id = $1 and message = any($2::bigint[])',
      [world.app.appId, [late.id, both.id]],
    )
    await goOn(world, endpoint)
    await soon(async () => {
      const logs = await logsOf(world, '?trigger=after_message')
      expect(logs.map(({ reason }: { reason?: string }) => reason)).toEqual([
        ...['TIMED_OUT', 'NOT_FOUND', 'TIMED_OUT'],
      ])
    })
    expect(endpoint.received).toEqual([])
  })

  it('is not sent of what was blocked meanwhile, nor planned of what is held', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    const removeRules = addRules(world)
    try {
      await setUpCustomPush(world, endpoint.url)
      endpoint.behave(putOff)
      const held = await say(world, 'alice', 'bob', 'bad')
      const [blocked, stays] = [await say(world, 'alice', 'bob', 'one'), await say(world, 'alice', 'bob', 'two')]
      await soon(async () => expect(await logsOf(world)).toHaveLength(2))
      const by = { reviewer: 'rita' }
      expect(await blockMessage(world.context, world.app, Number(blocked.id), { by })).toMatchObject({ blocked: true })
      await goOn(world, endpoint)
      await soon(async () => {
        const logs = await logsOf(world, '?trigger=after_message')
        expect(logs.map(({ reason, success }: { reason?: string; success?: boolean }) => reason ?? success)).toEqual([
          'NOT_FOUND',
          true,
        ])
        // What a log tells of a message is read with it.
        expect(
          logs.map(({ messageId, sender }: { messageId: number; sender?: string }) => [messageId, sender]),
        ).toEqual([
          [Number(blocked.id), undefined],
          [Number(stays.id), 'alice'],
        ])
      })
      // The provider was asked to show the one that is blocked, and may have done so: that is taken back.
      const told = endpoint.received.map(({ body }) => body.data.notificationDetails)
      expect(told.filter(({ action }) => action !== 'deleted')).toMatchObject([
        { body: 'two', unreadMessageCount: '1' },
      ])
      // Of what moderation holds an explanation tells that only.
      const ofHeld = dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${held.id}`))
      expect(ofHeld).toEqual({ uid: 'bob', notifications: [], unplanned: 'HELD' })
      const [stopped] = await explain(world, 'bob', blocked.id)
      expect(stopped).toMatchObject({ trigger: 'after_message', reason: 'NOT_FOUND' })
      expect(stopped.gates).toEqual([{ gate: 'message', value: 'held', setBy: 'chat', passes: false }])
      expect(stopped).not.toHaveProperty('answer')
    } finally {
      removeRules()
    }
  })
})

describe('a notification that waits for a slow provider', () => {
  it('is decided anew when its turn comes', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    endpoint.behave(putOff)
    const count = 40
    for (let i = 0; i < count; i++) await say(world, 'alice', 'bob', `number ${i}`)
    await soon(async () => expect(await logsOf(world, '?limit=100')).toHaveLength(count))
    endpoint.behave({ delayMs: 1_200 })
    endpoint.received.length = 0
    await sendNow(own, world)
    // As many as it is sent at the same time are under way; the others are read, and wait for them.
    await soon(() => expect(endpoint.received.length).toBeGreaterThanOrEqual(10))
    dataOf(await patch(world, '/notifications/v1/preferences?uid=bob', { mutePreferences: { dnd: 2 } }))
    const outcomes = await soon(async () => {
      const logs = await logsOf(world, '?limit=100')
      const ended = logs.filter((log: { nextAttemptAtMS?: number }) => log.nextAttemptAtMS === undefined)
      expect(ended).toHaveLength(count)
      return ended.map(({ reason, success }: { reason?: string; success?: boolean }) => reason ?? success)
    })
    expect(outcomes.filter((one: unknown) => one === true).length).toBeGreaterThan(0)
    expect(outcomes.filter((one: unknown) => one === 'DND_PREFERENCE').length).toBeGreaterThanOrEqual(count - 20)
  })
})

describe('notifications of a conversation that is gone', () => {
  /** As if it was erased after those whom to notify were read, and before that was written. */
  const leaveBehind = (world: World, count: number) =>
    own.query(
      `insert into notification_deliveries (app_id, uid, channel, provider_kind, provider_id, provider, trigger, event,
         conversation, message, kind, receiver, status, gates, due_at, expires_at, created_at, opened_sent_at, opened_id)
       select app_id, uid, channel, provider_kind, provider_id, provider, trigger, event, 9000000000000 + i, message, kind,
         receiver, status, gates, 0, expires_at, created_at, opened_sent_at, opened_id
       from notification_deliveries
       cross join generate_series(1, $2::int) i
       where app_id = $1`,
      [world.app.appId, count],
    )
  const outcomesOf = async (world: World) => {
    const rows = await own.query<{ outcome: string; count: number }>(
      `select coalesce(reason, status) as outcome, count(*)::int as count
       from notification_deliveries
       where app_id = $1
       group by 1
       order by 1`,
      [world.app.appId],
    )
    return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]))
  }
  /** More than are read together. */
  const many = 401

  it('end, and keep back no push of others', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    endpoint.behave(putOff)
    await say(world, 'alice', 'bob', 'hello')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    await leaveBehind(world, many)
    await goOn(world, endpoint)
    const progress = () => outcomesOf(world).then(JSON.stringify)
    await soon(async () => expect(await outcomesOf(world)).toEqual({ delivered: 1, NOT_FOUND: many }), { progress })
    expect(endpoint.received).toHaveLength(1)
  })

  it('end, and keep back no e-mail of others', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createReachable(world, 'alice', 'bob')
    await setUpCustom(world, 'email', endpoint.url)
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world)).toHaveLength(1))
    await leaveBehind(world, 30)
    await endWindows(own, world)
    await soon(async () => expect(await outcomesOf(world)).toEqual({ delivered: 1, NOT_FOUND: 30 }))
    expect(endpoint.received).toHaveLength(1)
  })
})

describe('a reaction', () => {
  const reaction = (id: string, emoji: string) => `/messages/${id}/reactions/${emoji}`
  const react = async (world: World, as: string, id: string, emoji: string) =>
    dataOf(await world.post(reaction(id, emoji), undefined, { as }))
  const takeBack = async (world: World, as: string, id: string, emoji: string) =>
    dataOf(await world.delete(reaction(id, emoji), undefined, { as }))
  const outcomes = async (world: World, reactionSender: string) => {
    const logs: Array<{ uid: string; reason?: string; success?: boolean }> = await logsOf(
      world,
      `?reactionSender=${reactionSender}`,
    )
    return Object.fromEntries(logs.map(({ uid, reason, success }) => [uid, reason ?? success]))
  }

  it('is not pushed to who sees no reactions, or none of members of that scope', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'mike', 'pete', 'paula', 'dave')
    await createGroup(world, 'team', 'alice', {
      ...{ admins: ['bob', 'dave'], moderators: ['mike'], participants: ['pete', 'paula'] },
    })
    dataOf(await world.post('/roles', { role: 'narrow', name: 'narrow' }))
    dataOf(await world.put('/users/dave', { role: 'narrow' }))
    dataOf(await world.put('/roles/narrow/permissions', { permissions: { listReactions: 'deny' } }))
    const setOn = async (scope: string, permissions: object) =>
      dataOf(await world.put(`/groups/team/scopes/${scope}/permissions`, { permissions }))
    await setOn('moderator', { listReactions: 'deny' })
    await setOn('participant', { 'listReactions.allowedScopes': ['admin', 'moderator'] })
    await setUpCustomPush(world, endpoint.url)
    dataOf(await patch(world, '/notifications/v1/settings', { preferences: { group: { reactionsSetting: 3 } } }))
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await react(world, 'pete', id, 'a')
    await react(world, 'mike', id, 'b')
    await soon(async () => {
      expect(await outcomes(world, 'pete')).toEqual({
        ...{ alice: true, bob: true, mike: 'NOT_VISIBLE', paula: 'NOT_VISIBLE', dave: 'NOT_VISIBLE' },
      })
      expect(await outcomes(world, 'mike')).toEqual({
        ...{ alice: true, bob: true, pete: true, paula: true, dave: 'NOT_VISIBLE' },
      })
    })
    const [stopped] = (await explain(world, 'paula', id)).filter(
      ({ reactionSender }: { reactionSender?: string }) => reactionSender === 'pete',
    )
    const closed = stopped.gates.filter(({ passes }: { passes: boolean }) => !passes)
    expect(closed).toEqual([{ gate: 'message', value: 'hidden', setBy: 'chat', passes: false }])
  })

  it('is not pushed once it is taken back; given again, it is pushed once', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    endpoint.behave(putOff)
    const { id } = await say(world, 'alice', 'bob', 'hello')
    for (const emoji of ['stays', 'gone', 'again']) await react(world, 'bob', id, emoji)
    for (const emoji of ['gone', 'again']) await takeBack(world, 'bob', id, emoji)
    await react(world, 'bob', id, 'again')
    await soon(async () => expect(await logsOf(world)).toHaveLength(5))
    await soon(() => expect(endpoint.received.length).toBeGreaterThan(0))
    await goOn(world, endpoint)
    await soon(async () => {
      const logs = await logsOf(world, '?trigger=message_reaction_added')
      expect(logs.map(({ reason, success }: { reason?: string; success?: boolean }) => reason ?? success)).toEqual([
        ...[true, 'NOT_FOUND', 'NOT_FOUND', true],
      ])
    })
    expect(toldTo(endpoint).filter((one) => one.startsWith('alice'))).toEqual([
      'alice: Bob, Reacted to your message: again',
      'alice: Bob, Reacted to your message: stays',
    ])
  })
})

describe('an explanation', () => {
  const deleted = { gate: 'message', value: 'deleted', setBy: 'chat', passes: false }

  it('tells nothing of a message that is deleted or hidden but that', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await setUpCustomPush(world, endpoint.url)
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(2))
    dataOf(await world.delete('/groups/team/conversation', {}, { as: 'bob' }))
    const [hidden] = await explain(world, 'bob', id)
    expect(hidden.gates).toEqual([{ ...deleted, value: 'hidden' }])
    expect(hidden).not.toHaveProperty('answer')
    expect((await explain(world, 'carol', id))[0].gates.length).toBeGreaterThan(5)
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    expect((await explain(world, 'carol', id))[0].gates).toEqual([deleted])
    await soon(async () => expect(await logsOf(world, '?trigger=message_deleted')).toHaveLength(2))
    const ofDeletion = (await explain(world, 'carol', id)).find(
      ({ trigger }: { trigger: string }) => trigger === 'message_deleted',
    )
    expect(ofDeletion.gates[0]).toMatchObject({ gate: 'messageDeleted', passes: true })
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }))
    const erased = dataOf(await world.get(`/notifications/v1/explain?uid=carol&messageId=${id}`))
    expect(erased).toEqual({ uid: 'carol', notifications: [], unplanned: 'ERASED' })
  })

  it('is also found by the id of an event, and of that event alone', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    const puller = await pullEvents(world)
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'hi' } }, { as: 'alice' }))
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(2))
    const events = await puller.since()
    const idOf = (trigger: string) => events.find((event) => event.trigger === trigger)?.id
    const byEvent = async (uid: string, trigger: string) =>
      dataOf(await world.get(`/notifications/v1/explain?uid=${uid}&eventId=${idOf(trigger)}`))
    const sent = await byEvent('bob', 'message_sent')
    expect(sent.notifications).toMatchObject([{ trigger: 'after_message', uid: 'bob', messageId: Number(id) }])
    expect((await byEvent('bob', 'message_edited')).notifications).toMatchObject([{ trigger: 'message_edited' }])
    expect((await byEvent('alice', 'message_sent')).unplanned).toBe('OWN_ACTION')
    const other = await createWorld(service)
    await createUsers(other, 'bob')
    await setUpCustomPush(other, endpoint.url)
    const foreign = await other.get(`/notifications/v1/explain?uid=bob&eventId=${idOf('message_sent')}`)
    expect(dataOf(foreign)).toEqual({ uid: 'bob', notifications: [], unplanned: 'NO_EVENT' })
    dataOf(await world.delete(`/messages/${id}`, { permanent: true }))
    expect(await byEvent('bob', 'message_sent')).toEqual({ uid: 'bob', notifications: [], unplanned: 'ERASED' })
  })

  it('of an event tells nothing of its message where moderation holds that by now', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'carol')
    const removeRules = addRules(world)
    try {
      const puller = await pullEvents(world)
      await setUpCustomPush(world, endpoint.url)
      const { id } = await say(world, 'alice', 'bob', 'one')
      await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
      const eventId = (await puller.since()).find(({ trigger }) => trigger === 'message_sent')?.id
      await blockMessage(world.context, world.app, Number(id), { by: { reviewer: 'rita' } })
      const about = async (uid: string) =>
        dataOf(await world.get(`/notifications/v1/explain?uid=${uid}&eventId=${eventId}`))
      expect((await about('bob')).notifications.map(({ gates }: { gates: object[] }) => gates)).toEqual([
        [{ ...deleted, value: 'held' }],
      ])
      expect(await about('carol')).toEqual({ uid: 'carol', notifications: [], unplanned: 'HELD' })
    } finally {
      removeRules()
    }
  })

  it('of a custom message that does not ask for notifications, and of an action, says that nobody is notified', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await setUpCustomPush(world, endpoint.url)
    const custom = { receiver: 'team', receiverType: 'group', category: 'custom', type: 'dice' }
    const silent = dataOf(
      await world.post('/messages', { ...custom, data: { customData: { eyes: 6 } } }, { as: 'alice' }),
    )
    const toldOf = { customData: { eyes: 6 }, sendNotification: true }
    const told = dataOf(await world.post('/messages', { ...custom, data: toldOf }, { as: 'alice' }))
    dataOf(await world.post('/groups/team/members', { participants: ['carol'] }, { as: 'alice' }))
    await soon(async () => expect((await explain(world, 'bob', told.id)).length).toBe(1))
    const closed = (gate: string, value: unknown) => [{ gate, value, setBy: 'chat', passes: false }]
    const none = { uid: 'bob', notifications: [], unplanned: 'NOT_NOTIFYING' }
    expect(dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${silent.id}`))).toEqual({
      ...{ ...none, gates: closed('sendNotification', false) },
    })
    const action = dataOf(await world.get('/groups/team/messages')).find(
      ({ category }: { category: string }) => category === 'action',
    )
    expect(dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${action.id}`))).toEqual({
      ...{ ...none, gates: closed('category', 'action') },
    })
  })
})

describe('an edit or a deletion', () => {
  it('goes only where the message was sent, quietly', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'quiet')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'quiet'] })
    await setUpCustomPush(world, endpoint.url)
    dataOf(await patch(world, '/notifications/v1/preferences?uid=quiet', { mutePreferences: { dnd: 2 } }))
    const { id } = await sayInGroup(world, 'alice', 'team', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    dataOf(await patch(world, '/notifications/v1/preferences?uid=quiet', { mutePreferences: { dnd: 1 } }))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'two' } }, { as: 'alice' }))
    await soon(async () => expect(await logsOf(world, '?trigger=message_edited&success=true')).toHaveLength(1))
    // Who does not want to be disturbed by now is not, but sees no longer what is gone.
    dataOf(await patch(world, '/notifications/v1/preferences?uid=bob', { mutePreferences: { dnd: 2 } }))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await soon(async () => expect(await logsOf(world, '?trigger=message_deleted&success=true')).toHaveLength(1))
    const details = endpoint.received.map(({ body: { data } }) => [
      ...[data.to.uid, data.notificationDetails.tag, data.notificationDetails.action, data.notificationDetails.body],
    ])
    expect(details).toEqual([
      ['bob', id, undefined, 'one'],
      ['bob', id, 'edited', 'two'],
      ['bob', id, 'deleted', 'This message was deleted'],
    ])
    expect((await logsOf(world)).map(({ uid }: { uid: string }) => uid)).toEqual(['bob', 'quiet', 'bob', 'bob'])
  })

  it('of a message that has not been sent yet is not told: what is sent then is as it is by now', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    dataOf(await patch(world, `/apps/${world.app.name}/settings`, { pushWaitOnlineSeconds: 3600 }))
    await own.query('update users set online = true where app_id = $1', [world.app.appId])
    const [edited, deleted] = [await say(world, 'alice', 'bob', 'one'), await say(world, 'alice', 'bob', 'gone')]
    await soon(async () => expect(await logsOf(world, '?trigger=after_message')).toHaveLength(2))
    dataOf(await world.put(`/messages/${edited.id}`, { data: { text: 'two' } }, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${deleted.id}`, {}, { as: 'alice' }))
    await soon(async () => expect(await logsOf(world)).toHaveLength(4))
    // The next wait is over first.
    await own.query("update notification_deliveries set due_at = 1 where app_id = $1 and trigger <> 'after_message'", [
      world.app.appId,
    ])
    await soon(async () => {
      const logs = await logsOf(world, '?notificationTriggered=false')
      expect(logs.map(({ reason }: { reason: string }) => reason)).toEqual(['NOT_SHOWN', 'NOT_SHOWN'])
    })
    await goOn(world, endpoint)
    await soon(() => expect(endpoint.received).toHaveLength(1))
    expect(endpoint.received[0]?.body.data.notificationDetails).toMatchObject({ tag: edited.id, body: 'two' })
    expect(endpoint.received[0]?.body.data.notificationDetails).not.toHaveProperty('action')
  })

  it('reaches a device that may show it, although the answer was no proper one and it was stopped after that', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    endpoint.behave(putOff)
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(() => expect(endpoint.received).toHaveLength(1))
    await patch(world, '/notifications/v1/preferences?uid=bob', { mutePreferences: { dnd: 2 } })
    await goOn(world, endpoint)
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ reason: 'DND_PREFERENCE', attempts: 1 }]))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await soon(() => expect(endpoint.received).toHaveLength(1))
    expect(endpoint.received[0]?.body.data.notificationDetails).toMatchObject({ tag: id, action: 'deleted' })
  })
})

describe('an entry of the log', () => {
  const logs = '/notifications/v1/logs'
  const outcomesOf = async (world: World) =>
    (await logsOf(world)).map(
      ({ uid, success, reason }: { uid: string; success?: boolean; reason?: string }) => `${uid} ${reason ?? success}`,
    )

  it('is sent again under the same id, and never past what is decided now', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob', 'quiet', 'reading')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'quiet', 'reading'] })
    await setUpCustomPush(world, endpoint.url)
    dataOf(await patch(world, '/notifications/v1/preferences?uid=quiet', { mutePreferences: { dnd: 2 } }))
    endpoint.behave({ status: 400 })
    const { id } = await sayInGroup(world, 'alice', 'team', 'hello')
    await soon(async () => {
      expect((await outcomesOf(world)).sort()).toEqual([
        'bob PROVIDER_ERROR',
        'quiet DND_PREFERENCE',
        'reading PROVIDER_ERROR',
      ])
    })
    endpoint.behave({})
    const first = new Map(endpoint.received.map(({ headers, body }) => [body.data.to.uid, headers['webhook-id']]))
    endpoint.received.length = 0
    dataOf(await world.post('/groups/team/conversation/read', { messageId: id }, { as: 'reading' }))
    expect(dataOf(await world.post(`${logs}/redeliver`, { status: 'failed', from: Date.now() - 3_600_000 }))).toEqual({
      count: 2,
    })
    await soon(async () => {
      expect((await outcomesOf(world)).sort()).toEqual(['bob true', 'quiet DND_PREFERENCE', 'reading ALREADY_READ'])
    })
    expect(endpoint.received.map(({ headers, body }) => [body.data.to.uid, headers['webhook-id']])).toEqual([
      ['bob', first.get('bob')],
    ])
    // What was stopped is decided again, too.
    const [{ _id: stopped }] = await logsOf(world, '?reason=DND_PREFERENCE')
    expect(dataOf(await world.post(`${logs}/${stopped}/redeliver`, {}))).toMatchObject({ _id: stopped, uid: 'quiet' })
    await soon(async () => expect(await outcomesOf(world)).toContain('quiet DND_PREFERENCE'))
    dataOf(await patch(world, '/notifications/v1/preferences?uid=quiet', { mutePreferences: { dnd: 1 } }))
    dataOf(await world.post(`${logs}/redeliver`, { status: 'stopped', uid: 'quiet' }))
    await soon(async () => expect(await outcomesOf(world)).toContain('quiet true'))
    const [bobs] = await logsOf(world, '?member=bob')
    dataOf(await world.post(`${logs}/${bobs._id}/redeliver`, {}))
    await soon(() => expect(endpoint.received.filter(({ body }) => body.data.to.uid === 'bob')).toHaveLength(2))
  })

  it('is found by time and status, of the own app, by fullAccess keys only, as long as its provider is there', async () => {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    const [{ _id, processingStartedAtMS: at }] = await logsOf(world)
    const count = async (body: object) => dataOf(await world.post(`${logs}/redeliver`, body)).count
    expect(await count({ status: 'failed' })).toBe(0)
    expect(await count({ status: 'delivered', from: at + 1 })).toBe(0)
    expect(await count({ status: 'delivered', to: Math.floor(at / 1000) - 1 })).toBe(0)
    expect(await count({ status: 'delivered', uid: 'alice' })).toBe(0)
    expect(await count({ status: 'delivered', provider: 'fcm' })).toBe(0)
    for (const body of [{}, { status: 'pending' }, { status: 'failed', from: 'x' }, { status: 'failed', from: -1 }]) {
      expect(refusal(await world.post(`${logs}/redeliver`, body))).toBe('400 ERR_BAD_REQUEST')
    }
    const other = await createWorld(service)
    for (const id of ['0', 'x', '999999999', '9'.repeat(30)]) {
      expect(refusal(await world.post(`${logs}/${id}/redeliver`, {}))).toBe('404 ERR_DELIVERY_NOT_FOUND')
    }
    expect(refusal(await other.post(`${logs}/${_id}/redeliver`, {}))).toBe('404 ERR_DELIVERY_NOT_FOUND')
    const token = dataOf(await world.post('/users/bob/auth_tokens', {})).authToken
    expect(refusal(await world.post(`${logs}/${_id}/redeliver`, {}, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    dataOf(await world.delete('/notifications/push/v1/providers/custom'))
    expect(refusal(await world.post(`${logs}/${_id}/redeliver`, {}))).toBe('404 ERR_DELIVERY_NOT_FOUND')
    expect(await count({ status: 'delivered' })).toBe(0)
    expect(endpoint.received).toHaveLength(1)
  })
})
