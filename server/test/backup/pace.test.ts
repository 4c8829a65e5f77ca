import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeBackup } from '../../src/backup/backup.ts'
import { fullPace, givingWay, readBusy } from '../../src/backup/pace.ts'
import { connect, openSnapshot } from '../../src/backup/snapshot.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import type { Pace } from '../../src/media/steps.ts'
import { statement } from '../../src/store/statement.ts'
import { say } from '../support/chat.ts'
import { exportOf, withFolder } from '../support/exports.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { contentsOf, createSite, movedOn, run, temporaryFolder } from './scene.ts'

const second = 1_000

/** A pace on a clock that only moves when it is told to, and by rests; these are kept. */
function onClock(options: { readonly readBusy?: () => Promise<number>; readonly processors?: number } = {}) {
  const clock = { now: 0, rests: [] as number[] }
  const pace = givingWay({
    ...{ processors: 2, now: () => clock.now, ...options },
    rest: async (ms) => {
      clock.rests.push(ms)
      clock.now += ms
    },
  })
  const stepOf = (ms: number) =>
    pace.step(async () => {
      clock.now += ms
    })
  return { pace, clock, stepOf }
}

/** Counts what is done at a pace. */
function counted(pace: Pace) {
  const counts = { steps: 0, atOnce: 0, mostAtOnce: 0 }
  const counting: Pace = {
    get bytesAtOnce() {
      return pace.bytesAtOnce
    },
    step: (work) =>
      pace.step(async () => {
        counts.steps++
        counts.mostAtOnce = Math.max(counts.mostAtOnce, ++counts.atOnce)
        return work().finally(() => counts.atOnce--)
      }),
  }
  return { pace: counting, counts }
}

describe('the pace', () => {
  it('gives way at first, goes as fast as it can once others are at rest, and gives way again when they come back', async () => {
    let busy = 0
    const { pace, clock, stepOf } = onClock({ readBusy: async () => busy })
    const look = (others: number) => {
      clock.now += second
      busy += others
      return stepOf(1)
    }
    await stepOf(1)
    const little = pace.bytesAtOnce
    expect(clock.rests).toHaveLength(1)
    await look(10)
    await look(10)
    expect(clock.rests).toHaveLength(3)
    await look(10)
    await stepOf(1)
    expect(clock.rests).toHaveLength(3)
    expect(pace.bytesAtOnce).toBeGreaterThan(little * 10)

    await look(300)
    expect(clock.rests).toHaveLength(4)
    expect(pace.bytesAtOnce).toBe(little)
    await look(10)
    await look(10)
    // They are back before it went on.
    await look(100)
    await look(10)
    await look(10)
    expect(clock.rests).toHaveLength(9)
    await look(10)
    expect(clock.rests).toHaveLength(9)
  })

  it('rests for so long that it takes a tenth of the machine, but never for ever', async () => {
    const restOf = async (processors: number, ms: number) => {
      const { clock, stepOf } = onClock({ processors })
      await stepOf(ms)
      return Math.round(clock.rests[0] as number)
    }
    expect(await restOf(1, 2)).toBe(18)
    expect(await restOf(2, 2)).toBe(8)
    expect(await restOf(64, 2)).toBe(2)
    // It had to wait for the processor.
    expect(await restOf(2, 500)).toBe(25)
  })

  it('does one thing at a time while it gives way, goes on after a failure, and ends when it is told to', async () => {
    const stop = new AbortController()
    const { pace, counts } = counted(givingWay({ rest: async () => {}, signal: stop.signal }))
    const steps = Array.from({ length: 5 }, (_, i) =>
      pace.step(async () => {
        if (i === 1) throw new Error('no space left')
        return i
      }),
    )
    expect((await Promise.allSettled(steps)).map(({ status }) => status === 'fulfilled')).toEqual(
      [0, 1, 2, 3, 4].map((i) => i !== 1),
    )
    expect(counts).toMatchObject({ steps: 5, mostAtOnce: 1 })
    stop.abort(new Error('interrupted'))
    await expect(pace.step(async () => 6)).rejects.toThrow('interrupted')
    expect(counts.steps).toBe(5)
  })

  it('gives way to those who send, and not to nobody', async () => {
    const site = await createSite()
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    const client = await connect(site.connection, 'parley pace')
    try {
      const { pace, clock, stepOf } = onClock({ readBusy: () => readBusy(client) })
      const isFull = () => pace.bytesAtOnce === fullPace.bytesAtOnce
      const calm = async () => {
        clock.now += 60 * second
        await stepOf(1)
        return isFull()
      }
      await until(calm)
      const rests = clock.rests.length
      await stepOf(1)
      expect(clock.rests).toHaveLength(rests)

      const before = await readBusy(client)
      await until(async () => {
        await say(world, 'alice', 'bob', 'is anybody there?')
        return (await readBusy(client)) > before + 0.06 * second
      })
      clock.now += second
      await stepOf(1)
      expect(isFull()).toBe(false)
      expect(clock.rests).toHaveLength(rests + 1)
      await until(calm)
    } finally {
      await client.end()
    }
  })

  it('does not take what reads the snapshot for somebody else', async () => {
    const site = await createSite()
    const [client, snapshot] = [await connect(site.connection, 'parley pace'), await openSnapshot(site.connection)]
    try {
      const before = await readBusy(client)
      await snapshot.read((reader) => reader.query('select pg_sleep(1)'))
      await site.query('select pg_sleep(0.1)')
      const busy = await until(async () => {
        const busy = (await readBusy(client)) - before
        return busy >= 100 && busy
      })
      expect(busy).toBeLessThan(1000)
    } finally {
      await snapshot.close()
      await client.end()
    }
  })
})

describe('a backup', () => {
  it('is made in small steps while it gives way, in few next to nobody, and is the same', async () => {
    const site = await createSite()
    await (await site.start()).parley.close()
    await site.query(`
      insert into former_users (app_id, uid, times, last_event)
      select 1, 'user-' || n, 1, n from generate_series(1, 60000) n`)
    const made: { steps: number; atOnce: number; contents: unknown }[] = []
    for (const pace of [givingWay({ rest: async () => {} }), fullPace]) {
      const [empty, folder] = [await createSite({ isEmpty: true }), await temporaryFolder()]
      const { pace: counting, counts } = counted(pace)
      await makeBackup({
        ...{ connection: site.connection, pace: counting, destination: createFolderStorage(folder, counting) },
        ...{ media: createFolderStorage(path.join(site.dataDir, 'media')), share: { readers: 3, packers: 2 } },
      })
      expect(await run(empty, folder, 'restore')).toMatchObject({ code: 0 })
      made.push({ steps: counts.steps, atOnce: counts.mostAtOnce, contents: await contentsOf(empty, movedOn) })
    }
    const [gentle, full] = made as [(typeof made)[0], (typeof made)[0]]
    expect(gentle.atOnce).toBe(1)
    expect(full.atOnce).toBeGreaterThan(1)
    // The table alone is 1 MB, read and packed 64 kB at a time.
    expect(gentle.steps - full.steps).toBeGreaterThan(25)
    expect(gentle.contents).toEqual(full.contents)
    expect(gentle.contents).toEqual(await contentsOf(site, movedOn))
  })

  it('holds no lock on a table that it has read', async () => {
    const site = await createSite()
    const snapshot = await openSnapshot(site.connection)
    try {
      await snapshot.read((reader) => reader.query('select from users'))
      // The database tidies up the table by itself at times, and locks it for that.
      const locks = `
        select from pg_locks
        join pg_stat_activity using (pid)
        where relation = 'users'::regclass and application_name = 'parley backup'`
      expect(await site.query(locks)).toEqual([])
      const gone = snapshot.read((reader) => reader.query('select from users_of_yesterday'))
      await expect(gone).rejects.toMatchObject({ code: '42P01' })
      const { rowCount } = await snapshot.read((reader) => reader.query('select from apps'))
      expect(rowCount).toBeGreaterThanOrEqual(0)
    } finally {
      await snapshot.close()
    }
  })

  it('takes the pace of the command, and of the settings', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    await (await site.start()).parley.close()
    for (const pace of ['auto', 'gentle', 'full']) {
      expect(await run(site, folder, 'backup', ['--pace', pace])).toMatchObject({ code: 0 })
    }
    expect(await run(site, folder, 'backup', [], { BACKUP_PACE: 'gentle' })).toMatchObject({ code: 0 })
    const wrong = await run(site, folder, 'backup', ['--pace', 'slow'])
    expect(wrong).toMatchObject({ code: 2 })
    expect(wrong.err).toContain('--pace takes auto, gentle or full')
    const unset = await run(site, folder, 'backup', [], { BACKUP_PACE: 'slow' })
    expect(unset.err).toContain('BACKUP_PACE must be auto, gentle, full')
  })
})

it('An export is made in small steps while it gives way, in few next to nobody, and is the same', async () => {
  const world = await createWorld()
  const text = `
    insert into retention_holds (app_id, uid, note, held_at)
    select $1, 'user-' || n, repeat('x', 1000), n from generate_series(1, 2000) n`
  await world.context.database.query(statement(text), [world.app.appId])
  const made: { steps: number; digest: string | undefined }[] = []
  for (const pace of [givingWay({ rest: async () => {} }), fullPace]) {
    const { pace: counting, counts } = counted(pace)
    await withFolder(async (folder) => {
      const { manifest } = await exportOf(world.context, world.app, folder, { pace: counting })
      made.push({ steps: counts.steps, digest: manifest.files['holds.ndjson']?.sha256 })
    })
  }
  const [gentle, full] = made as [(typeof made)[0], (typeof made)[0]]
  expect(gentle.digest).toBe(full.digest)
  // 2 MB, 64 kB at a time.
  expect(gentle.steps - full.steps).toBeGreaterThan(25)
})
