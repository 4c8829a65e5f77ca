import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createActiveUsers } from '../../src/chat/usage/active-users.ts'
import { addUp } from '../../src/chat/usage/add-up.ts'
import { dayMs, minuteMs, type SharedClock } from '../../src/chat/usage/clock.ts'
import { createMessageCounts } from '../../src/chat/usage/message-counts.ts'
import { createSocketCounts } from '../../src/chat/usage/socket-counts.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { importAll } from '../support/imports.ts'
import { connect, tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** A clock that stands still, unless it is set. */
function stoppedClock(at: number): SharedClock & { at: number } {
  return {
    at,
    now() {
      return this.at
    },
    async adjust() {},
  }
}

const usageOf = async (world: World, from = Date.now() - minuteMs, to = Date.now() + minuteMs) =>
  dataOf(await world.get(`/stats?fromDate=${from}&toDate=${to}`)).metrics

/** What the last hour adds up to. */
async function lastHourOf(world: World) {
  const { dataPoints } = dataOf(await world.get('/stats/messages'))
  const total = (of: 'messagesSent' | 'readReceipts' | 'deliveryReceipts') =>
    dataPoints.reduce((sum: number, point: Record<string, number>) => sum + (point[of] as number), 0)
  return { sent: total('messagesSent'), read: total('readReceipts'), delivered: total('deliveryReceipts') }
}

describe('messages and receipts of the last hour', () => {
  it('come in twelve steps of five minutes, with zeros where nothing happened', async () => {
    const world = await createWorld()
    const { startTime, endTime, dataPoints, appId } = dataOf(await world.get('/stats/messages'))
    expect(appId).toBe(world.app.name)
    expect(dataPoints).toHaveLength(12)
    expect(Number(endTime) - Number(startTime)).toBe(3_600_000)
    expect(Number(startTime) % 300_000).toBe(0)
    for (const [i, point] of dataPoints.entries()) {
      expect(point).toEqual({
        ...{ messagesSent: 0, readReceipts: 0, deliveryReceipts: 0 },
        startTime: String(Number(startTime) + i * 300_000),
        endTime: String(Number(startTime) + (i + 1) * 300_000),
      })
    }
    expect(Math.abs(Number(endTime) - Date.now())).toBeLessThan(600_000)
  })

  it('count each message that was sent once, and neither actions nor imports nor what was refused', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const first = await say(world, 'alice', 'bob', 'one', { muid: 'm1' })
    await say(world, 'alice', 'bob', 'one', { muid: 'm1' })
    await sayInGroup(world, 'alice', 'team', 'two')
    dataOf(await world.post(`/messages/${first.id}/thread`, { data: { text: 'three' } }, { as: 'bob' }))
    const several = { multipleReceivers: { uids: ['bob', 'carol'] }, data: { text: 'four and five' } }
    dataOf(await world.post('/messages', several, { as: 'alice' }))
    dataOf(await world.put(`/messages/${first.id}`, { data: { text: 'edited' } }, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${first.id}`, {}, { as: 'alice' }))
    expect((await world.post('/messages', {}, { as: 'alice' })).status).toBe(400)
    await importAll(world, 'messages', [
      {
        muid: 'i1',
        sender: 'alice',
        receiver: 'bob',
        receiverType: 'user',
        data: { text: 'old' },
        sentAt: 1_600_000_000,
      },
    ])
    expect(await lastHourOf(world)).toEqual({ sent: 5, read: 0, delivered: 0 })
  })

  it('count a mark that rises, however many messages and members it is about, and none that stays', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    for (const text of ['one', 'two', 'three']) await sayInGroup(world, 'alice', 'team', text)
    const mark = async (path: string, as: string) => dataOf(await world.post(path, {}, { as }))
    await mark('/groups/team/conversation/delivered', 'bob')
    await mark('/groups/team/conversation/delivered', 'bob')
    expect(await lastHourOf(world)).toEqual({ sent: 3, read: 0, delivered: 1 })
    await mark('/groups/team/conversation/read', 'bob')
    await mark('/groups/team/conversation/read', 'carol')
    expect(await lastHourOf(world)).toEqual({ sent: 3, read: 2, delivered: 2 })
    await say(world, 'alice', 'bob', 'hi')
    await mark('/users/alice/conversation/read', 'bob')
    await mark('/users/alice/conversation/delivered', 'bob')
    expect(await lastHourOf(world)).toEqual({ sent: 4, read: 3, delivered: 3 })
  })

  it('are counted once, also when they are written twice, by several processes, and added up', async () => {
    const world = await createWorld()
    const { database } = world.context
    const clock = stoppedClock(Date.now() - 2 * dayMs)
    const { appId } = world.app
    const [first, second] = [createMessageCounts(clock, randomUUID()), createMessageCounts(clock, randomUUID())]
    for (const counts of [first, second, first]) counts.sent(appId)
    first.received(appId, { delivered: true, read: false })
    first.received(appId, { delivered: false, read: false })
    // The first write is lost on its way; then it is written whole, and once more with what came later.
    const lost = { query: () => Promise.reject(new Error('on purpose')), run: () => Promise.reject(new Error('never')) }
    await expect(first.write(lost)).rejects.toThrow('on purpose')
    await first.write(database)
    first.sent(appId)
    await first.write(database)
    await second.write(database)
    const dayOf = async () => dataOf(await world.get(`/stats/daily?fromDate=${clock.at}&toDate=${clock.at}`)).days
    const expected = [
      {
        date: new Date(clock.at).toISOString().slice(0, 10),
        ...{ active_users: 0, concurrent_users: 0, messages_sent: 4, read_receipts: 0, delivery_receipts: 1 },
      },
    ]
    expect(await dayOf()).toMatchObject(expected)
    await Promise.all([addUp(database, Date.now()), addUp(database, Date.now())])
    expect(await dayOf()).toMatchObject(expected)
    // Days long ago are kept as a whole, and stay the same.
    await database.query(
      {
        name: 'stats-test-age',
        text: `update usage_messages set bucket = bucket - 100 * 288 where app_id = $1`,
      },
      [appId],
    )
    await addUp(database, Date.now())
    clock.at -= 100 * dayMs
    expect((await dayOf())[0]).toMatchObject({ messages_sent: 4, delivery_receipts: 1 })
  })
})

describe('active users', () => {
  it('are those who call with a token of their own or open a socket, each once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await say(world, 'alice', 'bob', 'the app speaks for alice')
    expect((await usageOf(world)).active_users).toBe(0)
    const tokens = [await tokenOf(world, 'bob'), await tokenOf(world, 'bob')]
    for (const token of tokens) dataOf(await world.get('/me', { token }))
    expect((await usageOf(world)).active_users).toBe(1)
    const client = await connect(world, 'carol')
    onTestFinished(() => client.close())
    expect((await usageOf(world)).active_users).toBe(2)
    expect(refusal(await world.get('/me', { token: 'unknown' }))).toMatch(/^401/)
    expect((await usageOf(world)).active_users).toBe(2)
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('are not those whose tokens the app names with its key', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.get(`/notifications/push/v1/tokens?authToken=${await tokenOf(world, 'alice')}`))
    expect((await usageOf(world)).active_users).toBe(0)
  })

  it('count when they were removed since, and whoever takes their uid is somebody else', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.get('/me', { token: await tokenOf(world, 'alice') }))
    expect((await usageOf(world)).active_users).toBe(1)
    dataOf(await world.delete('/users/alice', { permanent: true }))
    expect((await usageOf(world)).active_users).toBe(1)
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
    // The same person to this process, which remembers the uid for the day; another process would count them anew.
    await createUsers(world, 'alice')
    const users = createActiveUsers(stoppedClock(Date.now()))
    users.note(world.app.appId, 'alice')
    await users.write(world.context.database)
    expect((await usageOf(world)).active_users).toBe(2)
  })

  it('are counted once over many days, by processes that write at the same time', async () => {
    const world = await createWorld()
    const { database } = world.context
    const uids = Array.from({ length: 40 }, (_, i) => `user${i}`)
    await createUsers(world, ...uids)
    const today = Math.floor(Date.now() / dayMs) * dayMs
    const clock = stoppedClock(today)
    const processes = [createActiveUsers(clock), createActiveUsers(clock), createActiveUsers(clock)]
    for (let day = 30; day >= 0; day--) {
      clock.at = today - day * dayMs
      // Each of them every third day, in two processes of three; of nobody there is anything to be told but once.
      const active = uids.filter((_, i) => i % 3 === day % 3)
      for (const [i, uid] of active.entries()) {
        processes[i % 3]?.note(world.app.appId, uid)
        processes[(i + 1) % 3]?.note(world.app.appId, uid)
        processes[i % 3]?.note(world.app.appId, uid)
      }
      processes[0]?.note(world.app.appId, 'nobody')
      if (day % 10 === 0) await Promise.all(processes.map((users) => users.write(database)))
    }
    await Promise.all(processes.map((users) => users.write(database)))
    expect((await usageOf(world, today - 30 * dayMs, today)).active_users).toBe(40)
    expect((await usageOf(world, today - 30 * dayMs, today - 30 * dayMs)).active_users).toBe(14)
    expect((await usageOf(world, today - 29 * dayMs, today - 28 * dayMs)).active_users).toBe(26)
    const { days } = dataOf(await world.get(`/stats/daily?fromDate=${today - 30 * dayMs}&toDate=${today}`))
    expect(days.map((day: { active_users: number }) => day.active_users)).toEqual(
      Array.from({ length: 31 }, (_, i) => uids.filter((__, n) => n % 3 === (30 - i) % 3).length),
    )
    expect(await findDrift(database, world.app.appId)).toEqual([])
  })
})

describe('the peak', () => {
  it('is the most sockets that were open at once, and stays when they close', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const before = Date.now()
    const clients = [
      await connect(world, 'alice'),
      await connect(world, 'alice', { deviceId: 'tab' }),
      await connect(world, 'bob'),
    ]
    await until(async () => (await usageOf(world)).concurrent_users === 3)
    for (const client of clients) client.close()
    const { concurrent_users, concurrent_connections, peak_at } = await usageOf(world)
    expect([concurrent_users, concurrent_connections]).toEqual([3, 3])
    expect(peak_at).toBeGreaterThan(before - 60_000)
    expect(peak_at).toBeLessThan(Date.now() + 60_000)
  })

  it('is of all processes together, at the same second, before and after it is added up', async () => {
    const world = await createWorld()
    const { database } = world.context
    const { appId } = world.app
    const minute = Math.floor(Date.now() / minuteMs) * minuteMs - 10 * minuteMs
    const clock = stoppedClock(minute)
    const processes = [createSocketCounts(clock, randomUUID()), createSocketCounts(clock, randomUUID())]
    // Each has its own greatest second; together they have another.
    const open = [
      [5, 3, 0],
      [0, 4, 6],
    ]
    for (const second of [0, 1, 2]) {
      clock.at = minute + second * 1000
      for (const [i, counts] of processes.entries()) counts.sample(appId, open[i]?.[second] ?? 0)
    }
    for (const counts of processes) await counts.write(database)
    const peak = async () => {
      const { concurrent_users, peak_at } = await usageOf(world, minute, minute + 2_000)
      return { concurrent_users, peak_at }
    }
    expect(await peak()).toEqual({ concurrent_users: 7, peak_at: minute + 1000 })
    await Promise.all([addUp(database, Date.now()), addUp(database, Date.now())])
    expect(await peak()).toEqual({ concurrent_users: 7, peak_at: minute + 1000 })
    // A process that was held up writes late: a greater peak replaces, a smaller one does not.
    for (const [late, expected] of [
      [6, { concurrent_users: 7, peak_at: minute + 1000 }],
      [9, { concurrent_users: 9, peak_at: minute + 30_000 }],
    ] as const) {
      const counts = createSocketCounts(clock, randomUUID())
      clock.at = minute + 30_000
      counts.sample(appId, late)
      await counts.write(database)
      await addUp(database, Date.now())
      expect(await peak()).toEqual(expected)
    }
    expect(await usageOf(world, minute - dayMs, minute - dayMs)).toMatchObject({ concurrent_users: 0 })
  })
})

describe('what rules found', () => {
  const word = (id: string, value: string, more: object = {}) => ({
    ...{ id, name: id, conditions: [{ operand: 'text', category: 'word', value }] },
    ...more,
  })
  const day = 86_400
  /** Of a number of days, ending today: those on which rules found something. */
  const foundOn = async (world: World, days = 10) => {
    const to = Date.now()
    const all = dataOf(await world.get(`/stats/daily?fromDate=${to - days * dayMs}&toDate=${to}`)).days
    return all.flatMap(({ date, rules }: { date: string; rules: object[] }) =>
      rules.length > 0 ? [[date, rules]] : [],
    )
  }
  const dateOf = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)

  it('is told by day and rule, added up or not, and stays when messages are removed long after', async () => {
    const world = await createWorld()
    const { app, context } = world
    const { database } = context
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/moderation/rules', word('blocks', 'darn')))
    dataOf(await world.post('/moderation/rules', word('flags', 'heck', { action: ['flagMessage'] })))
    dataOf(await world.post('/moderation/rules', word('tried', 'drat', { mode: 'shadow' })))
    for (const text of ['darn', 'oh darn and drat', 'heck', 'nothing']) await say(world, 'alice', 'bob', text)
    const found = [
      { ruleId: 'blocks', hits: 2, shadow: 0, blocked: 2, flagged: 0 },
      { ruleId: 'flags', hits: 1, shadow: 0, blocked: 0, flagged: 1 },
      { ruleId: 'tried', hits: 1, shadow: 1, blocked: 0, flagged: 0 },
    ]
    expect(await foundOn(world)).toEqual([[dateOf(0), found]])

    // As if that had been five days ago.
    await database.run(sql`update moderation_decisions set at = at - ${5 * day} where app_id = ${app.appId}`)
    const last = await say(world, 'alice', 'bob', 'heck')
    const today = [{ ruleId: 'flags', hits: 1, shadow: 0, blocked: 0, flagged: 1 }]
    const both = [
      [dateOf(5), found],
      [dateOf(0), today],
    ]
    expect(await foundOn(world)).toEqual(both)
    await Promise.all([addUp(database, Date.now()), addUp(database, Date.now())])
    await addUp(database, Date.now())
    expect(await foundOn(world)).toEqual(both)
    expect(await foundOn(world, 3)).toEqual([[dateOf(0), today]])

    const [blocked] = dataOf(await world.get('/moderation/blocked-messages'))
    for (const id of [blocked.message.id, last.id]) dataOf(await world.delete(`/moderation/messages/${id}`))
    expect(await foundOn(world)).toEqual([[dateOf(5), found]])
    expect(await findDrift(database, app.appId)).toEqual([])
  })

  it('is looked at by the doctor, who finds what was not added up', async () => {
    const world = await createWorld()
    const { app, context } = world
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/moderation/rules', word('blocks', 'darn')))
    await say(world, 'alice', 'bob', 'darn')
    await context.database.run(sql`update moderation_decisions set at = at - ${5 * day} where app_id = ${app.appId}`)
    await addUp(context.database, Date.now())
    await context.database.run(sql`update usage_rules set hits = 0 where app_id = ${app.appId}`)
    const drift = await findDrift(context.database, app.appId)
    expect(drift).toMatchObject([
      { check: 'hits of rules', examples: [{ stored: '0,1,0', expected: 'at least 1,1,0' }] },
    ])
  })
})

describe('the range', () => {
  it('is in seconds or milliseconds, and comes back in milliseconds', async () => {
    const world = await createWorld()
    for (const path of ['/stats', '/stats/daily']) {
      const inSeconds = await world.get(`${path}?fromDate=1700000000&toDate=1702000000`)
      expect(dataOf(inSeconds).time_range).toEqual({ fromDate: 1_700_000_000_000, toDate: 1_702_000_000_000 })
      const inMilliseconds = await world.get(`${path}?fromDate=1700000000000&toDate=1702000000000`)
      expect(inMilliseconds.body).toEqual(inSeconds.body)
    }
    expect(dataOf(await world.get('/stats?fromDate=1700000000&toDate=1702000000')).metrics).toEqual({
      ...{ audio_minutes: 0, video_minutes: 0, recorded_minutes: 0 },
      ...{ active_users: 0, concurrent_users: 0, concurrent_connections: 0 },
    })
  })

  it.each([
    ['no start', 'toDate=1702000000'],
    ['no end', 'fromDate=1700000000'],
    ['no number', 'fromDate=yesterday&toDate=1702000000'],
    ['a fraction', 'fromDate=1700000000.5&toDate=1702000000'],
    ['something negative', 'fromDate=-1&toDate=1702000000'],
    ['an end before the start', 'fromDate=1702000000&toDate=1700000000'],
    ['an end before the start, in other units', 'fromDate=1702000000000&toDate=1700000000'],
    ['more than a year', 'fromDate=1600000000&toDate=1700000000'],
  ])('with %s is refused', async (_, query) => {
    const world = await createWorld()
    expect(refusal(await world.get(`/stats?${query}`))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(`/stats/daily?${query}`))).toBe('400 ERR_BAD_REQUEST')
  })
})

it('usage is told to fullAccess keys only, and of their own app', async () => {
  const [world, other] = [await createWorld(), await createWorld()]
  await createUsers(world, 'alice', 'bob')
  const token = await tokenOf(world, 'alice')
  await say(world, 'alice', 'bob', 'hi')
  const range = `fromDate=${Date.now() - 1000}&toDate=${Date.now()}`
  for (const path of [`/stats?${range}`, '/stats/messages', `/stats/daily?${range}`]) {
    expect((await world.get(path, { token })).status, path).toBe(403)
    expect((await world.get(path, { headers: { apikey: world.authKey } })).status, path).toBe(403)
    expect((await world.get(path, { headers: { apikey: 'wrong' } })).status, path).toBe(401)
  }
  expect(await lastHourOf(other)).toEqual({ sent: 0, read: 0, delivered: 0 })
  expect(await lastHourOf(world)).toMatchObject({ sent: 1 })
})
