import { describe, expect, it, onTestFinished } from 'vitest'
import { createRetention } from '../../src/events/retention.ts'
import { statement } from '../../src/store/statement.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { firstCursor, pullEvents } from '../support/events.ts'
import { until } from '../support/until.ts'
import { closeEndpoints, open, register } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const uids = ['bob', 'carol', 'dave', 'erin', 'frank']

/** Alice blocks five users, one event each. */
async function createBlocks() {
  const world = await createWorld()
  await createUsers(world, 'alice', ...uids)
  const puller = await pullEvents(world)
  dataOf(await world.post('/users/alice/blockedusers', { blockedUids: uids }))
  return { world, puller, events: await puller.since() }
}

const blockedBy = (data: { users: object }) => Object.keys(data.users)[0]

describe('GET /events', () => {
  it('starts now, and tells in order what happens from then on', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const started = await world.get('/events')
    expect(started.body).toEqual({ data: [], meta: { cursor: expect.stringMatching(/^\d+$/), more: false } })

    const puller = await pullEvents(world)
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const [event, ...rest] = await puller.since()
    expect(rest).toEqual([])
    expect(event).toEqual({
      id: expect.stringMatching(/^\d+$/),
      trigger: 'user_unblocked',
      data: expect.objectContaining({ by: expect.objectContaining({ uid: 'alice' }) }),
      appId: world.app.name,
      region: 'us',
      createdAt: expect.any(Number),
    })
    expect(Number(event?.id)).toBeGreaterThan(Number(started.body.meta.cursor))
  })

  it('is read page by page, again from any cursor, and from the beginning of what is kept', async () => {
    const { world, events } = await createBlocks()
    expect(events.map(({ data }) => blockedBy(data))).toEqual(uids)

    const read = []
    let cursor = '0'
    for (const [count, more] of [
      [2, true],
      [2, true],
      // the fifth, and the block that ends what the test waits for
      [2, false],
      [0, false],
    ]) {
      const page = await world.get(`/events?after=${cursor}&limit=2`)
      expect([page.body.data.length, page.body.meta.more]).toEqual([count, more])
      cursor = page.body.meta.cursor
      read.push(...page.body.data)
    }
    expect(read.slice(0, 5)).toEqual(events)
    const again = await world.get(`/events?after=${events[1]?.id}&limit=2`)
    expect(dataOf(again)).toEqual(events.slice(2, 4))
  })

  it('is read page by page from 0, also by who has never asked, and whatever was stored before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', ...uids)
    const endpoint = await open()
    onTestFinished(closeEndpoints)
    await register(world, endpoint.url, { triggers: ['user_blocked'] })
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: uids }))

    let cursor = '0'
    const page = async () => {
      const answer = await world.get(`/events?after=${cursor}&limit=2`)
      const events = dataOf(answer)
      cursor = answer.body.meta.cursor
      return events
    }
    // What only webhooks were told of is not what was pulled.
    expect(await page()).toEqual([])
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: uids }))
    const read: string[] = []
    const all = async () => {
      read.push(...(await page()).map(({ data }: { data: { users: object } }) => blockedBy(data)))
      return read.length >= uids.length
    }
    await until(all, { progress: () => read.length })
    expect(read).toEqual(uids)

    await lapse(world)
    cursor = '0'
    expect(await page()).toEqual([])
    expect(await page()).toEqual([])
  })

  it('gives some triggers only, and moves the cursor past the others', async () => {
    const { world, events, puller } = await createBlocks()
    dataOf(await world.post('/groups', { guid: 'team', name: 'Team', type: 'public', owner: 'alice' }))
    await puller.since()
    const page = await world.get('/events?after=0&triggers=group_created,group_deleted')
    expect(dataOf(page).map(({ trigger }: { trigger: string }) => trigger)).toEqual(['group_created'])
    expect(Number(page.body.meta.cursor)).toBeGreaterThan(Number(events.at(-1)?.id))
    expect(page.body.meta.more).toBe(false)
    const none = await world.get('/events?after=0&triggers=group_deleted')
    expect(dataOf(none)).toEqual([])
    expect(refusal(await world.get('/events?after=0&triggers=nothing'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('looks through a stretch of others at a time, and says that there is more', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    let cursor = await firstCursor(world)
    const { database } = world.context
    await database.query(insertOthers, [world.app.appId, 10_001])
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const ask = () => world.get(`/events?after=${cursor}&triggers=user_blocked`)
    // All of it is there at once, as after a time in which nobody pulled.
    const [{ lastId } = { lastId: 0 }] = await database.query<{ lastId: number }>(selectLastId)
    await until(async () => Number(await firstCursor(world)) >= lastId)
    const first = await ask()
    expect(first.body).toEqual({ data: [], meta: { cursor: expect.any(String), more: true } })
    expect(Number(first.body.meta.cursor)).toBeGreaterThan(Number(cursor))
    cursor = first.body.meta.cursor
    const second = await ask()
    expect(dataOf(second).map(({ data }: { data: { users: object } }) => blockedBy(data))).toEqual(['bob'])
    expect(second.body.meta.more).toBe(false)
  })

  it('refuses what is no cursor', async () => {
    const world = await createWorld()
    const cursor = await firstCursor(world)
    for (const after of ['abc', '-1', '1.5', '99999999999999999999']) {
      expect(refusal(await world.get(`/events?after=${after}`))).toBe('400 ERR_BAD_REQUEST')
    }
    const unknown = await world.get('/events?after=9999999999999999')
    expect(unknown.body.error.details).toEqual([{ path: 'query/after', message: 'is not a cursor of this service' }])
    expect(dataOf(await world.get(`/events?after=${cursor}`))).toEqual([])
    expect(refusal(await world.get('/events?limit=1001'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('is for fullAccess keys, of the own app', async () => {
    const { world, events } = await createBlocks()
    expect(refusal(await world.get('/events', { headers: { apikey: world.authKey } }))).toBe('403 AUTH_ERR_NO_ACCESS')
    const other = await createWorld()
    await firstCursor(other)
    const mine = new Set(events.map(({ id }) => id))
    const theirs = await other.get(`/events?after=${events[0]?.id}`)
    expect((theirs.body.data ?? []).filter(({ id }: { id: string }) => mine.has(id))).toEqual([])
    expect(dataOf(await other.get('/events?after=0&limit=1000'))).toEqual([])
  })

  it('keeps nothing for an app whose events nobody pulls any more, and says so to an old cursor', async () => {
    const { world, events } = await createBlocks()
    await lapse(world)
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const stale = await world.get(`/events?after=${events.at(-1)?.id}`)
    expect(refusal(stale)).toBe('400 ERR_BAD_REQUEST')
    expect(stale.body.error.details).toEqual([
      { path: 'query/after', message: 'is too old: events after it are gone; begin anew with 0 or without it' },
    ])
    const cursor = await firstCursor(world)
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['carol'] }))
    await expect
      .poll(async () =>
        dataOf(await world.get(`/events?after=${cursor}`)).map((event: { data: { users: object } }) =>
          blockedBy(event.data),
        ),
      )
      .toEqual(['carol'])
  })

  it('forgets events by their age, and refuses cursors from before', async () => {
    const { world, puller } = await createBlocks()
    for (let i = 0; i < 3; i++) await puller.since()
    const old = Math.floor(Date.now() / 1000) - 8 * 86_400
    // The lowest ids that there are: the oldest go first.
    await plant(world, [1, 2], old)
    await plant(world, [3], old + 2 * 86_400)
    const channel = world.context.database.openChannel('retention test')
    const deleteOldEvents = createRetention(channel, 7 * 86_400)
    while (await deleteOldEvents(Date.now()));

    expect(refusal(await world.get('/events?after=1'))).toBe('400 ERR_BAD_REQUEST')
    const kept = dataOf(await world.get('/events?after=0'))
    expect(
      kept.slice(0, 6).map(({ id, data }: { id: string; data: { users: object } }) => [id === '3', blockedBy(data)]),
    ).toEqual([[true, 'bob'], ...uids.map((uid) => [false, uid])])
    expect(dataOf(await world.get('/events?after=2'))[0].id).toBe('3')
  })

  it('forgets old events also behind those of a moment when the clock was ahead, and those with them', async () => {
    const world = await createWorld()
    const now = Math.floor(Date.now() / 1000)
    const old = now - 8 * 86_400
    const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
    // More than are looked at at once, before any other.
    await plant(world, ids(-4_000, -1_500), now + 365 * 86_400)
    await plant(world, ids(-1_500, -1_400), old)
    await plant(world, ids(-1_400, -1_390), now - 86_400)
    const channel = world.context.database.openChannel('retention test')
    const deleteOldEvents = createRetention(channel, 7 * 86_400)
    while (await deleteOldEvents(Date.now()));
    await expect.poll(async () => await idsOf(world)).toEqual(ids(-1_400, -1_390))
  })
})

const selectIds = statement('select id from events where app_id = $1 order by id')
const idsOf = async ({ context, app }: World) =>
  (await context.database.query<{ id: number }>(selectIds, [app.appId])).map(({ id }) => Number(id))

const endPulling = statement('update apps set events_pulled_until = 1 where app_id = $1')

/** As if nobody had pulled for as long as events are kept. */
async function lapse({ context, app }: World): Promise<void> {
  await context.database.query(endPulling, [app.appId])
  context.events.forget(app.appId)
}

const insert = statement(`
  insert into events (app_id, id, trigger, data, created_at)
  select $1, id, 'user_blocked', '{"by":"alice","uids":["bob"]}', $3
  from unnest($2::bigint[]) as id`)
const reach = statement('update apps set events_pulled_from = 0 where app_id = $1')

const insertOthers = statement(`
  insert into events (app_id, trigger, data, created_at)
  select $1, 'user_unblocked', '{"by":"alice","uids":["bob"]}', extract(epoch from now())::bigint
  from generate_series(1, $2::int)`)
const selectLastId = statement('select last_value as "lastId" from event_ids')

/** Puts events into the log as if they had been kept at that time. */
async function plant({ context, app }: World, ids: number[], createdAt: number): Promise<void> {
  await context.database.query(reach, [app.appId])
  await context.database.query(insert, [app.appId, ids, createdAt])
}
