import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeVapidKeys } from '../../src/chat/notifications/subscriptions.ts'
import { createWebPush } from '../../src/delivery/notifications/web-push.ts'
import type { Poster } from '../../src/delivery/outbound/http.ts'
import { startWebPushEmulator, type WebPushEmulator } from '../../src/emulators/web-push.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { logsOf, sendNow, setUpCustomPush } from '../support/notifications.ts'
import { createPushServices, logIn, type PushServices, registerApns, registerFcm } from '../support/push-services.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let push: PushServices
let browsers: WebPushEmulator

beforeAll(async () => {
  ;[push, browsers] = await Promise.all([createPushServices(), startWebPushEmulator()])
})
afterAll(async () => {
  await Promise.all([push.close(), browsers.close()])
  await closeEndpoints()
})

let count = 0
const unique = (start: string) => `${start}${process.pid}${++count}`
const toFcm = (token: string) => push.fcm.pushes.filter((one) => one.token === token)
const toApns = (token: string) => push.apns.pushes.filter((one) => one.token === token)

const takeBack = async (world: World, isOn: boolean) =>
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { pushTakeBackRead: isOn }))

const readOneOnOne = async (world: World, uid: string, of: string) =>
  dataOf(await world.post(`/users/${of}/conversation/read`, {}, { as: uid }))

async function wantingWorld(...uids: string[]): Promise<World> {
  const world = await push.pushWorld(...uids)
  await takeBack(world, true)
  return world
}

describe('what is read elsewhere', () => {
  it('is taken back from each device by one push, over all conversations, with the exact badge', async () => {
    const world = await wantingWorld('alice', 'bob', 'carol', 'dave')
    const [phone, iphone] = [unique('device'), unique('a0')]
    await registerFcm(world, 'bob', phone)
    await registerApns(world, 'bob', iphone)
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const ids: string[] = []
    for (const text of ['one', 'two']) ids.push((await say(world, 'alice', 'bob', text)).id)
    ids.push((await say(world, 'carol', 'bob', 'three')).id, (await sayInGroup(world, 'alice', 'team', 'four')).id)
    const { id: kept } = await say(world, 'dave', 'bob', 'five')
    await soon(() => expect([toFcm(phone).length, toApns(iphone).length]).toEqual([5, 5]))
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(10))

    await Promise.all([
      readOneOnOne(world, 'bob', 'alice'),
      readOneOnOne(world, 'bob', 'carol'),
      world.post('/groups/team/conversation/read', {}, { as: 'bob' }),
    ])
    await soon(() => expect([toFcm(phone).length, toApns(iphone).length]).toEqual([6, 6]))
    const [toPhone, toIphone] = [toFcm(phone)[5], toApns(iphone)[5]]
    const tags = [...ids].sort((a, b) => Number(b) - Number(a))
    expect({ ...toPhone?.data, tags: JSON.parse(toPhone?.data.tags ?? '[]') }).toEqual({
      ...{ action: 'read', tags, type: 'chat', unreadMessageCount: '1', sentAt: expect.stringMatching(/^\d{13}$/) },
    })
    expect(toPhone?.message.android.priority).toBe('NORMAL')
    expect(toIphone?.payload).toMatchObject({ action: 'read', tags, aps: { badge: 1, 'content-available': 1 } })
    expect(Object.keys(toIphone?.payload.aps).sort()).toEqual(['badge', 'content-available'])
    expect(toIphone?.headers).toMatchObject({ 'apns-priority': '5', 'apns-push-type': 'alert' })
    expect(toIphone?.headers).not.toHaveProperty('apns-collapse-id')

    await readOneOnOne(world, 'bob', 'dave')
    await soon(() => expect(toApns(iphone)).toHaveLength(7))
    expect(toApns(iphone)[6]?.payload).toMatchObject({ tags: [kept], aps: { badge: 0 } })
    await soon(() => expect(toFcm(phone)).toHaveLength(7))
    expect(await logsOf(world, '?trigger=messages_read')).toHaveLength(4)
    const told = dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${kept}`)).notifications
    const ofRead = told.filter(({ trigger }: { trigger: string }) => trigger === 'messages_read')
    expect(ofRead).toHaveLength(2)
    expect(ofRead[0].gates.map(({ gate }: { gate: string }) => gate)).toEqual(['pushTakeBackRead'])
  })

  it('adds no job while the provider is left alone, and is taken back once its pause is over', async () => {
    const world = await wantingWorld('alice', 'bob')
    const phone = unique('device')
    await registerFcm(world, 'bob', phone)
    await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    const { own } = push
    const app = [world.app.appId]
    const jobs = () =>
      own.query(`select from graphile_worker._private_jobs where key like 'notify:' || $1 || ':%'`, app)
    await soon(async () => expect(await jobs()).toEqual([]))
    await own.query(
      'update notification_senders set paused_until = (extract(epoch from clock_timestamp()) * 1000)::bigint + 600000 where app_id = $1',
      app,
    )
    await readOneOnOne(world, 'bob', 'alice')
    await soon(async () => expect(await logsOf(world, '?trigger=messages_read')).toHaveLength(1))
    expect(await jobs()).toEqual([])
    await own.query('update notification_senders set paused_until = 0 where app_id = $1', app)
    await soon(() => expect(toFcm(phone)).toHaveLength(2))
  })

  it('stays where the setting is off, and where it is turned off before it goes', async () => {
    const world = await push.pushWorld('alice', 'bob')
    const phone = unique('device')
    await registerFcm(world, 'bob', phone)
    await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    await readOneOnOne(world, 'bob', 'alice')
    const events = await push.own.query(`select from events where app_id = $1 and trigger = 'message_read_receipt'`, [
      world.app.appId,
    ])
    expect(events).toEqual([])
    await takeBack(world, true)
    await say(world, 'alice', 'bob', 'two')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(2))
    await readOneOnOne(world, 'bob', 'alice')
    await soon(async () => expect(await logsOf(world, '?trigger=messages_read')).toHaveLength(1))
    await takeBack(world, false)
    await soon(async () => {
      const [log] = await logsOf(world, '?trigger=messages_read')
      expect(log).toMatchObject({ notificationTriggered: false, reason: 'MESSAGE_ACTIONS_PREFERENCE' })
    })
    expect(toFcm(phone)).toHaveLength(2)
  })

  it('is never more than a hundred of a device, however much is thought to be shown', async () => {
    const world = await wantingWorld('alice', 'bob')
    const phone = unique('device')
    await registerFcm(world, 'bob', phone)
    for (let n = 0; n < 130; n++) await say(world, 'alice', 'bob', `text ${n}`)
    await until(async () => toFcm(phone).length === 130)
    await until(async () => (await pending(world)) === 0)
    await readOneOnOne(world, 'bob', 'alice')
    await soon(() => expect(toFcm(phone)).toHaveLength(131))
    expect(JSON.parse(toFcm(phone)[130]?.data.tags ?? '[]')).toHaveLength(100)
  })

  it('that nothing is shown of costs no push, nor does what is read before it goes out', async () => {
    const [world, endpoint] = [await createWorld(push.service), await open()]
    await createUsers(world, 'alice', 'bob', 'carol')
    await setUpCustomPush(world, endpoint.url)
    await takeBack(world, true)
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    endpoint.behave({ status: 503, headers: { 'retry-after': '600' } })
    const { id: waiting } = await say(world, 'carol', 'bob', 'two')
    await soon(() => expect(endpoint.received).toHaveLength(2))
    await readOneOnOne(world, 'bob', 'alice')
    await readOneOnOne(world, 'bob', 'carol')
    endpoint.behave({})
    await allPlanned(world)
    // What was read is looked at first, so that it is stopped by then.
    await sendNow(push.own, world, 'after_message')
    await soon(async () => expect((await logsOf(world))[1]).toMatchObject({ reason: 'ALREADY_READ' }))
    await sendNow(push.own, world)
    await soon(() => expect(endpoint.received).toHaveLength(3))
    // What got no proper answer may be shown.
    expect(endpoint.received[2]?.body.data).toEqual({
      to: { uid: 'bob' },
      notificationDetails: {
        ...{ action: 'read', tags: [waiting, id], type: 'chat', unreadMessageCount: '0' },
        sentAt: expect.any(String),
      },
    })
    await readOneOnOne(world, 'bob', 'alice')
    await soon(async () => {
      const logs = await logsOf(world)
      expect(logs.map(({ reason, success }: { reason?: string; success?: boolean }) => reason ?? success)).toEqual([
        true,
        'ALREADY_READ',
        true,
      ])
    })
  })

  it('is not said to be deleted afterwards on a device that shows it no more', async () => {
    const world = await wantingWorld('alice', 'bob')
    const [phone, other] = [unique('device'), unique('other')]
    await registerFcm(world, 'bob', phone)
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    await readOneOnOne(world, 'bob', 'alice')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(2))
    await registerFcm(world, 'bob', other)
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    await say(world, 'alice', 'bob', 'two')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(4))
    expect(toFcm(phone).map(({ data }) => data.action ?? data.body)).toEqual(['one', 'read', 'two'])
  })

  it('is taken back from browsers', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await takeBack(world, true)
    const token = await logIn(world, 'bob')
    const { publicKey } = dataOf(await world.get('/notifications/push/v1/vapid-key', { token }))
    const name = unique('browser')
    const subscription = browsers.subscribe(publicKey, name)
    dataOf(await world.post('/notifications/push/v1/tokens', { platform: 'web_push', subscription }, { token }))
    const { id } = await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    await readOneOnOne(world, 'bob', 'alice')
    const told = () => browsers.pushes.filter((one) => one.name === name)
    await soon(() => expect(told()).toHaveLength(2))
    expect(told()[1]?.payload).toMatchObject({ action: 'read', tags: [id], unreadMessageCount: '0' })
    expect(told()[1]?.headers.urgency).toBe('normal')
  })

  it('is not sent to browsers that want every push to be shown', async () => {
    const asked: string[] = []
    const poster: Poster = {
      post: async (url) => {
        asked.push(new URL(url).host)
        return { status: 201, text: '', headers: {}, retryAfter: undefined }
      },
      close: async () => {},
    }
    const hosts = ['web.push.apple.com', 'fcm.googleapis.com']
    const { send } = createWebPush(poster, { hosts, subject: 'mailto:chat@example.com' })
    const keys = makeVapidKeys()
    const read = { uid: 'bob', action: 'read', tags: ['1'], sentAt: 0, unread: 0 } as const
    const outcomes: string[] = []
    for (const host of hosts) {
      const token = JSON.stringify({ ...browsers.subscribe(), endpoint: `https://${host}/a-browser` })
      const app = { appId: 1, name: 'an-app', region: 'us' }
      outcomes.push((await send(app, keys, { token, expiresAt: Date.now() + 1_000 }, read)).outcome)
    }
    expect(outcomes).toEqual(['unfit', 'accepted'])
    expect(asked).toEqual(['fcm.googleapis.com'])
  })
})

async function pending(world: World): Promise<number> {
  const text = 'select from notification_deliveries where app_id = $1 and due_at is not null'
  return (await push.own.query(text, [world.app.appId])).length
}

async function allPlanned(world: World): Promise<void> {
  const behind = `
    select
    from notification_plans p
    join events e on e.app_id = p.app_id and e.id > p.event
    where p.app_id = $1`
  await until(async () => (await push.own.query(behind, [world.app.appId])).length === 0)
}
