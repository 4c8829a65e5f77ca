import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepDays, readKept, removeLoose, removeOfDays } from '../../src/delivery/notifications/days.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { dataOf, say } from '../support/chat.ts'
import { logsOf, patch, setUpCustomPush } from '../support/notifications.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const dayMs = 86_400_000

describe('the log of notifications', () => {
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

  const database = () => service.parley.context.database
  const parts = async () => {
    const rows = await own.query<{ part: string }>(
      `select inhrelid::regclass::text as part from pg_inherits where inhparent = 'notification_deliveries'::regclass`,
    )
    return rows.map(({ part }) => part.replace('notification_days.', ''))
  }
  const partsOf = async ({ app }: World) => {
    const text = `select distinct tableoid::regclass::text as part from notification_deliveries where app_id = $1`
    return (await own.query<{ part: string }>(text, [app.appId])).map(({ part }) =>
      part.replace('notification_days.', ''),
    )
  }
  async function toldWorld(): Promise<World> {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    await say(world, 'alice', 'bob', 'hello')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    return world
  }
  const upkeep = async (now: number) => {
    const kept = await readKept(database(), 14)
    await keepDays(database(), now, kept)
    await removeLoose(database(), now, 14)
    await removeOfDays(database(), now, 14, kept)
  }

  it('is in a part for the day, once nothing waits any more, and is sent again from there', async () => {
    const world = await toldWorld()
    await keepDays(database(), Date.now(), { longest: 14 })
    const day = `day_${Math.floor(Date.now() / dayMs)}`
    expect(await parts()).toContain(day)
    expect(await partsOf(world)).toEqual([day])
    const [{ _id }] = await logsOf(world)
    dataOf(await world.post(`/notifications/v1/logs/${_id}/redeliver`))
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ _id, success: true, attempts: 2 }]))
    expect(await partsOf(world)).toEqual([day])
  })

  it('goes a day at a time, when no app keeps it any longer, and earlier where an app wants less', async () => {
    const now = Date.now()
    const [usual, short, long] = [await toldWorld(), await toldWorld(), await toldWorld()]
    dataOf(await patch(short, `/apps/${short.app.name}/settings`, { notificationLogDays: 3 }))
    dataOf(await patch(long, `/apps/${long.app.name}/settings`, { notificationLogDays: 20 }))
    const left = async () => Promise.all([usual, short, long].map(async (world) => (await logsOf(world)).length))
    const days: Array<readonly [number, number[]]> = [
      [3, [1, 1, 1]],
      [5, [1, 0, 1]],
      [13, [1, 0, 1]],
      [16, [0, 0, 1]],
    ]
    for (const [later, expected] of days) {
      await upkeep(now + later * dayMs)
      expect([later, await left()]).toEqual([later, expected])
    }
    const today = `day_${Math.floor(now / dayMs)}`
    expect(await parts()).toContain(today)
    await upkeep(now + 22 * dayMs)
    expect(await parts()).not.toContain(today)
    expect(await left()).toEqual([0, 0, 0])
  })

  it('keeps what comes on a day without a part, and takes it along when there is one', async () => {
    const world = await toldWorld()
    const later = Math.floor(Date.now() / dayMs) + 100
    await own.query('update notification_deliveries set day = $2 where app_id = $1', [world.app.appId, later])
    expect(await partsOf(world)).toEqual(['other'])
    expect(await logsOf(world)).toHaveLength(1)
    await keepDays(database(), later * dayMs, { longest: 200 })
    expect(await partsOf(world)).toEqual([`day_${later}`])
    expect(await logsOf(world)).toHaveLength(1)
  })

  it('is not held up by who reads it when a day is to go', async () => {
    await toldWorld()
    const letGo = await own.lock('select from notification_deliveries limit 1')
    const before = await parts()
    await keepDays(database(), Date.now() + 300 * dayMs, { longest: 14 })
    expect(await parts()).toEqual(before)
    await letGo()
  }, 20_000)
})

it('What was delivered before there were days is still in the log after an upgrade, and what waited still waits', async () => {
  const own = await createOwnDatabase()
  const pool = new pg.Pool({ ...own.connection, max: 1 })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    await sql`drop table notification_deliveries`.execute(db)
    await sql`drop schema notification_days cascade`.execute(db)
    for (const name of ['0015-notifications', '0017-unread-windows', '0029-take-backs']) await migrations[name]?.up(db)
    const insert = (status: string, dueAt: number | null) => sql`
      insert into notification_deliveries (app_id, uid, channel, provider_kind, provider_id, provider, trigger, event, kind,
        receiver, status, gates, due_at, expires_at, created_at)
      values (1, 'bob', 'push', 'custom', 'custom', 1, 'after_message', 1, 1, 'bob', ${status}, '[]', ${dueAt}, 1, 1)`
    await insert('delivered', null).execute(db)
    await insert('pending', 1).execute(db)
    const days = migrations['0030-notification-days']
    // Once more, as where it was half applied.
    for (let times = 0; times < 2; times++) await days?.up(db)
    await insert('pending', 2).execute(db)
    const { rows } = await sql<{ part: string; status: string }>`
      select tableoid::regclass::text as part, status
      from notification_deliveries
      order by id`.execute(db)
    expect(rows.map(({ part, status }) => `${part} ${status}`)).toEqual([
      'notification_days.before delivered',
      'notification_days.waiting pending',
      'notification_days.waiting pending',
    ])
  } finally {
    await db.destroy()
    await own.drop()
  }
})
