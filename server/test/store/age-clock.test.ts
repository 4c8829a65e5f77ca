import { Writable } from 'node:stream'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAgeClock, lastsMs } from '../../src/store/age-clock.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { statement } from '../../src/store/statement.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'

const hour = 3_600_000
const day = 24 * hour
const year = 365 * day
/** What is ahead of this by a year is past still: the database's clock, which is right, counts where it is behind. */
const start = Date.now() - 3 * year

let own: OwnDatabase
let database: Database

beforeAll(async () => {
  own = await createOwnDatabase()
  database = openDatabase(own.connection)
})

afterAll(async () => {
  await database.close()
  await own.drop()
})

const forget = statement(`delete from settings where name = 'age_clock'`)
beforeEach(async () => {
  await database.query(forget)
})

/** A process on a machine whose clock can be set. */
function createProcess(clock = start) {
  const said: string[] = []
  const lines = new Writable({
    write(line, _, done) {
      said.push((JSON.parse(line) as { msg: string }).msg)
      done()
    },
  })
  let monotonic = 1_000
  const ageClock = createAgeClock(
    database,
    pino(lines),
    () => clock,
    () => monotonic,
  )
  return {
    said,
    now: ageClock.now,
    set(to: number) {
      clock = to
    },
    /** Time goes by, in which the process runs. */
    run(ms: number) {
      clock += ms
      monotonic += ms
    },
    /** Time goes by, in which the machine sleeps. */
    sleep(ms: number) {
      clock += ms
    },
    /** Runs, and looks as often as services do. */
    async look(forMs: number) {
      let seen = 0
      for (let at = 0; at < forMs; at += 60_000) {
        clock += 60_000
        monotonic += 60_000
        seen = await ageClock.now()
      }
      return seen
    },
  }
}

describe('the clock by which things are removed for their age', () => {
  it('is that of the machine', async () => {
    const one = createProcess()
    expect(await one.now()).toBe(start)
    one.run(60_000)
    expect(await one.now()).toBe(start + 60_000)
    one.run(-30_000)
    expect(await one.now()).toBe(start + 30_000)
    expect(one.said).toEqual([])
  })

  it('does not jump with it, says so once, and goes on with it when it is right again', async () => {
    const one = createProcess()
    await one.now()
    one.run(60_000)
    one.set(start + 60_000 + year)
    expect(await one.now()).toBe(start + 60_000)
    expect(await one.look(3 * hour)).toBe(start + 60_000 + 3 * hour)
    expect(one.said).toEqual([expect.stringContaining('the clock is far ahead')])
    one.set(start + 4 * hour)
    expect(await one.now()).toBe(start + 4 * hour)
    expect(one.said.slice(1)).toEqual([expect.stringContaining('can be relied on again')])
  })

  it('does not jump at a start with a clock that is ahead of what was last seen, and follows when that has lasted', async () => {
    await createProcess().look(hour)
    const next = createProcess(start + 30 * day)
    expect(await next.now()).toBe(start + hour)
    expect(await next.look(lastsMs - hour)).toBeLessThan(start + day)
    expect(await next.look(hour)).toBe(start + 30 * day + lastsMs)
    expect(next.said).toHaveLength(2)
    // As does one that starts then.
    expect(await createProcess(start + 30 * day + lastsMs + hour).now()).toBe(start + 30 * day + lastsMs + hour)
  })

  it('counts how long a jump has lasted over starts, as of a machine that is on for an hour a week', async () => {
    const last = async (week: number) => {
      const one = createProcess(start + week * 7 * day)
      return await one.look(hour)
    }
    await last(0)
    const seen: number[] = []
    for (let week = 1; week <= 12; week++) seen.push(await last(week))
    expect(seen.slice(0, 6).every((at) => at < start + day)).toBe(true)
    expect(seen.at(-1)).toBeGreaterThan(start + 70 * day)
  })

  it('takes a sleep of the machine for a jump that will last, and time in which nobody looked for none', async () => {
    const one = createProcess()
    await one.now()
    one.run(5 * hour)
    expect(await one.now()).toBe(start + 5 * hour)
    expect(one.said).toEqual([])
    one.sleep(3 * day)
    expect(await one.now()).toBe(start + 5 * hour)
    expect(await one.look(lastsMs)).toBe(start + 5 * hour + 3 * day + lastsMs)
  })

  it('is that of the database where the machine is ahead of it', async () => {
    const before = Date.now() - 1_000
    const seen = await createProcess(Date.now() + year).now()
    expect(seen).toBeGreaterThan(before)
    expect(seen).toBeLessThan(Date.now() + 60_000)
  })

  it('does not follow one machine that is ahead, however long, while another one is right', async () => {
    const right = createProcess()
    const ahead = createProcess(start + year)
    await right.now()
    const seen: number[] = []
    for (let hours = 0; hours < 30; hours++) {
      for (const one of [right, ahead]) {
        seen.push(await one.look(hour / 2))
        one.run(hour / 2)
      }
    }
    expect(Math.max(...seen)).toBeLessThan(start + 2 * day)
    expect(right.said).toEqual([])
  })
})
