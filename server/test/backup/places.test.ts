import { cpSync, existsSync, readdirSync } from 'node:fs'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { AggregatorRegistry, Registry } from 'prom-client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { chooseBackup, listBackups, readManifest } from '../../src/backup/format.ts'
import { pruneBackups } from '../../src/backup/prune.ts'
import { createScheduledBackups } from '../../src/backup/schedule.ts'
import { readConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/log.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openBucket } from '../support/bucket.ts'
import { commandScript, ensureBuilt } from '../support/build.ts'
import { dataOf, say } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { testMasterKey } from '../support/service.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, servedBy } from '../support/world.ts'
import { back, createSite, run, temporaryFolder } from './scene.ts'

/** What makes it is the most patient on the machine: it moves as long as it writes. */
const movesIn = (folder: string) => ({ progress: () => readdirSync(folder, { recursive: true }).length })

describe('backups', () => {
  it('go to a bucket, with the files of messages and the ledger, and come back from it', async () => {
    const [site, empty] = [await createSite(), await createSite({ isEmpty: true })]
    const { settings, objects, close } = await openBucket()
    onTestFinished(close)
    const place = 's3://chat/backups/of-acme'
    const environment = {
      BACKUP_S3_ENDPOINT: settings.endpoint,
      BACKUP_S3_ACCESS_KEY_ID: settings.accessKeyId,
      BACKUP_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
    }
    const service = await site.start({ BACKUP_TO: place, ...environment })
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'kept')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const id = await back(site, place, [], environment)
    dataOf(await world.delete('/users/alice', { permanent: true }))
    await service.parley.close()
    const names = [...objects.keys()]
    expect(names).toContain(`/chat/backups/of-acme/backups/${id}/manifest.json`)
    expect(names.filter((name) => name.startsWith('/chat/backups/of-acme/files/'))).toHaveLength(1)
    expect(names.some((name) => name.startsWith('/chat/backups/of-acme/ledger/'))).toBe(true)

    expect((await run(empty, place, 'verify-backup', [], environment)).code).toBe(0)
    const restored = await run(empty, place, 'restore', [], environment)
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.out).toContain('1 users erased')
    const again = servedBy(world, (await empty.start()).url)
    expect((await again.get('/users/alice')).status).toBe(404)
    expect(dataOf(await again.get('/users/bob'))).toMatchObject({ uid: 'bob' })

    const lost = names.find((name) => name.endsWith('public.users.1.copy.gz')) as string
    objects.delete(lost)
    const checked = await run(empty, place, 'verify-backup', [], environment)
    expect(checked.code).toBe(1)
    expect(checked.out).toContain('public.users.1.copy.gz is missing')
    const unreachable = await run(empty, 's3://chat/x', 'verify-backup')
    expect(unreachable.code).toBe(1)
    expect(unreachable.err).toContain('BACKUP_S3_ENDPOINT')
  })

  it('wait for a bucket in the folder of the service, not in the temporary one of the system, and leave nothing there', async () => {
    const site = await createSite()
    await createWorld(await site.start())
    const { settings, objects, close } = await openBucket()
    onTestFinished(close)
    const environment = {
      BACKUP_S3_ENDPOINT: settings.endpoint,
      BACKUP_S3_ACCESS_KEY_ID: settings.accessKeyId,
      BACKUP_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
      TMPDIR: path.join(site.dataDir, 'none'),
    }
    const staging = path.join(site.dataDir, 'media', 'staging')
    const ofKilled = path.join(staging, 'upload-killed')
    await mkdir(ofKilled, { recursive: true })
    await utimes(ofKilled, 1, 1)
    const made = await run(site, 's3://chat/backups', 'backup', [], environment)
    expect(made).toMatchObject({ code: 0 })
    expect([...objects.keys()]).toContain(`/chat/backups/backups/${made.out.split('\n')[0]}/manifest.json`)
    expect(readdirSync(staging)).toEqual([])

    const named = path.join(await temporaryFolder(), 'staging')
    const there = await run(site, 's3://chat/backups', 'backup', [], { ...environment, MEDIA_STAGING_DIR: named })
    expect(there).toMatchObject({ code: 0 })
    expect(readdirSync(named)).toEqual([])
    // What is named holds also where no service has its data.
    const apart = { ...environment, MEDIA_STAGING_DIR: named, DATA_DIR: path.join(site.dataDir, 'none') }
    expect(await run(site, 's3://chat/backups', 'backup', [], apart)).toMatchObject({ code: 0 })
    expect(readdirSync(named)).toEqual([])
    // Who has no part in the data of a service makes none.
    const elsewhere = { ...environment, TMPDIR: await temporaryFolder(), DATA_DIR: path.join(site.dataDir, 'none') }
    expect(await run(site, 's3://chat/backups', 'backup', [], elsewhere)).toMatchObject({ code: 0 })
    expect(readdirSync(site.dataDir)).not.toContain('none')
  })

  it('are kept as many as wanted, with the files that these name, and nothing that was never finished', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    const { id: message } = dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const first = await back(site, folder)
    dataOf(await world.delete(`/messages/${message}`, {}, { as: 'alice' }))
    dataOf(await sendForm(world, toBob, [{ ...picture, content: 'second' }], { as: 'alice' }))
    const second = await back(site, folder, ['--keep', '2'])
    const place = createFolderStorage(folder)
    const none = Readable.from([Buffer.from('begun')])
    await place.write('backups/20200101T000000Z-abcdef/public.users.1.copy.gz', none, 'application/gzip')
    expect(readdirSync(path.join(folder, 'backups')).sort()).toEqual(['20200101T000000Z-abcdef', first, second].sort())
    const held = await place.list('files/')

    const third = await back(site, folder, ['--keep', '2'])
    const ids = new Set((await place.list('backups/')).map((name) => name.split('/')[1]))
    expect([...ids].sort()).toEqual([second, third].sort())
    expect((await place.list('files/')).length).toBeLessThanOrEqual(held.length)
    expect((await run(site, folder, 'verify-backup', [second])).code).toBe(0)
    const listed = await run(site, folder, 'backup', ['--list'])
    expect(
      listed.out
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split('\t')[0]),
    ).toEqual([second, third])
    await pruneBackups(place, 1)
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)
    // Made while the clock was ahead.
    cpSync(path.join(folder, 'backups', third), path.join(folder, 'backups', '20991231T235959Z-abcdef'), {
      recursive: true,
    })
    expect(await chooseBackup(place, undefined)).toBe(third)
    expect(await pruneBackups(place, 1)).toEqual(['20991231T235959Z-abcdef'])
    expect(await listBackups(place)).toEqual([third])
    expect((await run(site, folder, 'backup', ['--keep', '0'])).code).toBe(2)
  })

  it('leave no folders of those that are removed, nor what killed ones left, but what another one may be writing', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    await createWorld(await site.start())
    const first = await back(site, folder)
    const at = (name: string) => path.join(folder, name)
    /** What a killed process left, written to last a while ago. */
    const leave = async (name: string, seconds: number) => {
      await mkdir(path.dirname(at(name)), { recursive: true })
      await writeFile(at(name), 'begun')
      const time = Date.now() / 1000 - seconds
      for (let each = name; each !== '.'; each = path.dirname(each)) await utimes(at(each), time, time)
    }
    const [hour, week] = [3600, 7 * 86_400]
    await leave('backups/20200101T000000Z-abcdef/public.users.1.copy.gz.partial', week)
    await leave('files/1/8c/8cb5.partial', week)
    await leave('files/1/8d/8d00.partial', hour)
    await leave('ledger/of-somebody-else.partial', week)
    const [ofKilled, ofOther] = ['backups/20200102T000000Z-abcdef', 'backups/20200103T000000Z-abcdef']
    for (const name of [ofKilled, ofOther]) await mkdir(at(name))
    await utimes(at(ofKilled), 1, 1)

    await back(site, folder)
    expect(existsSync(at('files/1/8c/8cb5.partial'))).toBe(true)
    const last = await back(site, folder, ['--keep', '1'])
    expect(readdirSync(at('backups')).sort()).toEqual([path.basename(ofOther), last].sort())
    expect(first).not.toBe(last)
    const rest = readdirSync(folder, { recursive: true }).filter((name) => !String(name).startsWith('backups'))
    expect(rest.sort()).toEqual(
      [
        ...['files', 'files/1', 'files/1/8d', 'files/1/8d/8d00.partial'],
        ...['ledger', 'ledger/of-somebody-else.partial'],
      ].sort(),
    )
  })

  it('are listed beside those whose manifest is damaged, which are named, and then it is no success', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    await createWorld(await site.start())
    const ids = [await back(site, folder), await back(site, folder), await back(site, folder)]
    const manifest = path.join(folder, 'backups', ids[1] as string, 'manifest.json')
    await writeFile(manifest, 'not as it was')
    const listed = await run(site, folder, 'backup', ['--list'])
    expect(listed.out.match(/^[^\t]+/gm)).toEqual([ids[0], ids[2]])
    expect(listed.err).toContain(`The backup ${ids[1]} is damaged`)
    expect(listed.code).toBe(1)
  })

  it('are made by the service on its schedule, by one process, with figures of how it went', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    await (await site.start()).parley.close()
    // Due since the minute after the last one, whatever was made while the clock was ahead.
    await site.query(
      `insert into backup_runs (status, started_at, finished_at, backup) values ('done', 4000000000, 4000000001, 'ahead')`,
    )
    await site.query(`insert into backup_runs (status, started_at, backup) values ('done', 1700000000, 'before')`)
    const settings = {
      ...{ ...site.environment, BACKUP_TO: folder, BACKUP_SCHEDULE: '* * * * *', BACKUP_KEEP: '3' },
      ...{ BACKUP_PASSPHRASE: 'correct horse battery', PARLEY_API_KEY: 'ab'.repeat(20), PARLEY_AUTH_KEY: 'off' },
    }
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    ensureBuilt()
    await writeFile(path.join(site.dataDir, 'keys.env'), `PARLEY_MASTER_KEY=${testMasterKey}\n`)
    const database = openDatabase(site.connection)
    const registries = [new Registry(), new Registry()] as const
    const config = readConfig(settings)
    const parts = { config, log: createLog('silent'), dataDir: site.dataDir, program: [commandScript, 'backup'] }
    const processes = registries.map((registry) => createScheduledBackups({ ...parts, database, registry }))
    for (const each of processes) each?.start()
    const runs = () =>
      site.query<{ status: string; backup: string; error: string | null }>(
        'select status, backup, error from backup_runs order by run_id desc limit 1',
      )
    try {
      const [last] = await until(async () => {
        const [last] = await runs()
        return last?.status !== 'running' && last?.backup !== 'before' && [last]
      }, movesIn(folder))
      expect(last).toMatchObject({ status: 'done', error: null })
      const ids = await listBackups(createFolderStorage(folder))
      expect(ids).toEqual([last?.backup])
      expect((await readManifest(createFolderStorage(folder), ids[0] as string)).keys.sealed).toBe('keys.sealed')
      // As the workers of one machine tell them together.
      const told = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()))
      const metrics = await AggregatorRegistry.aggregate(told).metrics()
      const [finished] = await site.query<{ at: string }>(
        'select max(finished_at) as at from backup_runs where started_at < 4000000000',
      )
      expect(metrics).toContain(`parley_backup_last_success_seconds ${finished?.at}\n`)
      expect(metrics).toContain('parley_backup_failures 0')
    } finally {
      for (const each of processes) await each?.stop()
      await database.close()
    }
  })

  it('that fail are told of, and tried again when the next is due', async () => {
    const site = await createSite()
    const folder = path.join(await temporaryFolder(), 'a-file')
    await writeFile(folder, 'no folder')
    await site.query(`insert into backup_runs (status, started_at) values ('done', 1700000000)`)
    const settings = { ...site.environment, BACKUP_TO: folder, BACKUP_SCHEDULE: '0 0 1 1 *' }
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
    onTestFinished(() => void vi.unstubAllEnvs())
    ensureBuilt()
    const database = openDatabase(site.connection)
    const registry = new Registry()
    const scheduled = createScheduledBackups({
      ...{ config: readConfig(settings), database, registry, log: createLog('silent') },
      ...{ dataDir: site.dataDir, program: [commandScript, 'backup'] },
    })
    scheduled?.start()
    try {
      const [failed] = await until(async () => {
        const rows = await site.query<{ error: string }>(`select error from backup_runs where status = 'failed'`)
        return rows.length > 0 && rows
      })
      expect(failed?.error).toContain('parley backup:')
      const metrics = await registry.metrics()
      expect(metrics).toContain('parley_backup_failures 1')
      // Still that of the New Year after the last one that succeeded.
      expect(metrics).toContain(`parley_backup_due_seconds ${Date.UTC(2024, 0, 1) / 1000}\n`)
    } finally {
      await scheduled?.stop()
      await database.close()
    }
  })
})
