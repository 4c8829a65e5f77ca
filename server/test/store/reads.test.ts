import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { getPriority } from 'node:os'
import { sql } from 'kysely'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { type Database, type DatabaseOptions, openDatabase } from '../../src/store/database.ts'
import type { Reader } from '../../src/store/reader.ts'
import type { ReadKind, Reads } from '../../src/store/reads.ts'
import { compileFragment, type Fragment } from '../../src/store/statement.ts'
import { itWith, onLinux } from '../gate/needs.ts'
import { until } from '../support/until.ts'

const databases: Database[] = []

afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()))
})

interface Opened {
  readonly reads: Reads
  /** How many of its statements the database runs at the moment. */
  countRunning(): Promise<number>
}

function open(kind: Partial<ReadKind> = {}, options: DatabaseOptions = {}): Opened {
  const database = openDatabase(inject('connection'), options)
  databases.push(database)
  const name = `reads ${randomBytes(6).toString('hex')}`
  return {
    reads: database.openReads({ name, atOnce: 8, timeoutMs: 0, ...kind }),
    async countRunning() {
      const [row] = await database.run(sql<{ running: number }>`
        select count(*)::int as running
        from pg_stat_activity
        where application_name like ${`parley ${name} %`}
        and state = 'active'`)
      return row?.running ?? 0
    },
  }
}

const sleep = (seconds: number): Fragment => sql`select pg_sleep(${seconds}) as slept`
const forEver = sleep(600)
const nobody = { appId: 1, uid: 'nobody' }

const run = (reads: Reads, fragment: Fragment, reader: Reader) => reads.run(compileFragment(fragment), reader)

/** Somebody who may leave. */
function visitor(reader: Reader): { reader: Reader; leave(): void } {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return { reader: { ...reader, signal: controller.signal }, leave: () => controller.abort() }
}

/** Runs what is given for each reader; tells who was served, in that order. */
async function orderOf(reads: Reads, asked: ReadonlyArray<{ who: string; reader: Reader }>): Promise<string[]> {
  const order: string[] = []
  await Promise.all(asked.map(({ who, reader }) => run(reads, sleep(0.01), reader).then(() => order.push(who))))
  return order
}

const many = (count: number, who: string, reader: Reader) => Array.from({ length: count }, () => ({ who, reader }))

describe('Reads that may take long', () => {
  it('of a user who floods the service let others of the app have every second turn', async () => {
    const { reads } = open({ atOnce: 1 })
    const order = await orderOf(reads, [
      ...many(80, 'anna', { appId: 1, uid: 'anna' }),
      ...many(10, 'bert', { appId: 1, uid: 'bert' }),
      { who: 'carla', reader: { appId: 1, uid: 'carla' } },
    ])
    expect(order).toHaveLength(91)
    expect(order.indexOf('carla')).toBeLessThan(5)
    expect(order.lastIndexOf('bert')).toBeLessThan(25)
  })

  it('of an app that floods it, through many users and its key, let another app have every second turn', async () => {
    const { reads } = open({ atOnce: 1 })
    const flood = Array.from({ length: 60 }, (_, i) => many(2, 'flood', { appId: 1, uid: `user-${i}` })).flat()
    const order = await orderOf(reads, [
      ...many(90, 'flood', { appId: 1, uid: undefined }),
      ...flood,
      ...many(20, 'other', { appId: 2, uid: 'anna' }),
    ])
    expect(order).toHaveLength(230)
    expect(order.lastIndexOf('other')).toBeLessThan(45)
  })

  it('that turn out to be long do not hold up the quick ones, and are answered', async () => {
    const { reads, countRunning } = open({ quickMs: 50 })
    const flood = visitor({ appId: 1, uid: 'anna' })
    const flooding = Promise.allSettled(many(60, '', flood.reader).map(({ reader }) => run(reads, forEver, reader)))
    const long = run(reads, sleep(0.3), { appId: 1, uid: 'bert' })
    for (let i = 0; i < 40; i++) await run(reads, sleep(0), { appId: 1, uid: 'carla' })
    expect((await long).rowCount).toBe(1)
    flood.leave()
    await flooding
    await until(async () => (await countRunning()) === 0)
  })

  it('of a user with a token who asks for many let others go first, although none of them is long', async () => {
    const { reads } = open({ quickMs: 60_000 })
    const placeOf = async (reader: Reader) => {
      const query = sql`select current_setting('application_name') as place, pg_sleep(0.05)`
      const { rows } = await run(reads, query, reader)
      return (rows[0] as { place: string }).place.includes('quick') ? 'shared' : 'apart'
    }
    const anna = { appId: 1, uid: 'anna', isPaced: true }
    expect(await placeOf(anna)).toBe('shared')
    await until(async () => (await placeOf(anna)) === 'apart', { interval: 0 })
    // Neither another user nor a back end, however much it asks for.
    expect(await placeOf({ ...anna, uid: 'bert' })).toBe('shared')
    for (let i = 0; i < 20; i++) await placeOf({ appId: 1, uid: 'carla' })
    expect(await placeOf({ appId: 1, uid: 'carla' })).toBe('shared')
  })

  it('of a user with a token who has had much let those of others go first', async () => {
    const { reads } = open({ atOnce: 1 })
    const anna = { appId: 1, uid: 'anna', isPaced: true }
    await run(reads, sleep(3.1), anna)
    const bert = { who: 'bert', reader: { appId: 1, uid: 'bert', isPaced: true } }
    expect(await orderOf(reads, [...many(2, 'anna', anna), bert])).toEqual(['bert', 'anna', 'anna'])
  })

  it('leave connections to other apps, and to the users of an app, whatever its key asks for', async () => {
    const { reads, countRunning } = open()
    const key = visitor({ appId: 1, uid: undefined })
    const flood = many(20, '', key.reader).map(({ reader }) => run(reads, forEver, reader))
    const ended = Promise.allSettled(flood)
    await until(async () => (await countRunning()) === 4)
    await run(reads, sleep(0), { appId: 1, uid: 'anna' })
    const users = Array.from({ length: 5 }, (_, i) => visitor({ appId: 1, uid: `user-${i}` }))
    const more = Promise.allSettled(users.map(({ reader }) => run(reads, forEver, reader)))
    await until(async () => (await countRunning()) === 6)
    await run(reads, sleep(0), { appId: 2, uid: 'anna' })
    for (const { leave } of [key, ...users]) leave()
    await Promise.all([ended, more])
  })

  it('are ended in the database when whoever asked has gone, and those that wait are never begun', async () => {
    const { reads, countRunning } = open()
    const gone = visitor({ appId: 1, uid: 'anna' })
    const abandoned = many(60, '', gone.reader).map(({ reader }) => run(reads, forEver, reader))
    const settled = Promise.allSettled(abandoned)
    await until(async () => (await countRunning()) === 2)
    gone.leave()
    for (const result of await settled) {
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'ReadAbandonedError' } })
    }
    expect(await countRunning()).toBe(0)
    expect(reads.load).toMatchObject({ running: 0, waiting: 0 })
    await expect(run(reads, forEver, gone.reader)).rejects.toMatchObject({ name: 'ReadAbandonedError' })
    // The connections are of use still, and nobody else's query was ended.
    expect(await orderOf(reads, many(40, 'bert', { appId: 1, uid: 'bert' }))).toHaveLength(40)
  })

  it('end with their time, waiting or running, and others go on', async () => {
    const { reads, countRunning } = open({ timeoutMs: 3000 })
    const flood = many(10, '', nobody).map(({ reader }) => run(reads, forEver, reader))
    const settled = Promise.allSettled(flood)
    await run(reads, sleep(0), { appId: 1, uid: 'anna' })
    for (const result of await settled) {
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'ReadTimeoutError' } })
    }
    expect(await countRunning()).toBe(0)
    await run(reads, sleep(0), nobody)
  })

  it('are refused when too many wait: of one reader, and of all', async () => {
    const { reads, countRunning } = open()
    const crowd = Array.from({ length: 8 }, (_, i) => visitor({ appId: 1, uid: `user-${i}` }))
    const settled = Promise.allSettled(
      crowd.flatMap(({ reader }) => many(60, '', reader)).map(({ reader }) => run(reads, forEver, reader)),
    )
    await until(async () => (await countRunning()) === 6)
    const one = visitor({ appId: 1, uid: 'user-0' })
    const room = 500 - reads.load.waiting
    const filling = Promise.allSettled(many(room, '', one.reader).map(({ reader }) => run(reads, forEver, reader)))
    await expect(run(reads, forEver, { appId: 1, uid: 'anna' })).rejects.toMatchObject({ of: 'all' })
    await run(reads, sleep(0), { appId: 2, uid: 'anna' })
    one.leave()
    await filling
    const much = visitor({ appId: 2, uid: 'anna' })
    const own = Promise.allSettled(many(102, '', much.reader).map(({ reader }) => run(reads, forEver, reader)))
    await expect(run(reads, forEver, much.reader)).rejects.toMatchObject({ of: 'reader' })
    for (const { leave } of [...crowd, much]) leave()
    await Promise.all([settled, own])
    expect(reads.load).toMatchObject({ running: 0, waiting: 0 })
  })

  it('of ever new texts do not pile up statements on a connection', async () => {
    const { reads } = open({ atOnce: 1 })
    const countPrepared = async () => {
      const { rows } = await run(reads, sql`select count(*)::int as prepared from pg_prepared_statements`, nobody)
      return (rows[0] as { prepared: number }).prepared
    }
    for (let i = 0; i < 320; i++) await run(reads, sql`select ${sql.raw(String(i))}`, nobody)
    expect(await countPrepared()).toBeLessThan(100)
  })
})

describe('a database that is a child of the service', () => {
  itWith(onLinux, 'gives long reads less of the processor than all else', async () => {
    const { reads } = open({}, { giveWay: true })
    const ask = sql<{ pid: number }>`select pg_backend_pid() as pid`
    const { rows } = await run(reads, ask, nobody)
    const [{ pid }] = rows as [{ pid: number }]
    expect(getPriority(pid)).toBe(5)
    const { reads: others } = open()
    const [other] = (await run(others, ask, nobody)).rows as [{ pid: number }]
    expect(getPriority(other.pid)).toBe(0)
  })
})
