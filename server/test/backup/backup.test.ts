import { readdirSync } from 'node:fs'
import { mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { makeBackup } from '../../src/backup/backup.ts'
import { openSnapshot } from '../../src/backup/snapshot.ts'
import { doctorCommand } from '../../src/cli/doctor.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { runCommand } from '../cli/command.ts'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'
import { back, contentsOf, createSite, movedOn, run, type Site, temporaryFolder } from './scene.ts'

/** Texts that a format of lines could stumble over. */
const awkward = ['a\tb', 'one\ntwo\r\n', 'back\\slash \\N \\.', '\\.', '"quoted", \'too\'', '雪 👩‍👩‍👧 é', ' ']

/** Some of everything that people leave behind. */
async function fill(world: World): Promise<void> {
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  for (const text of awkward) await say(world, 'alice', 'bob', text)
  const { id } = await sayInGroup(world, 'bob', 'team', 'hello all', { metadata: { deep: [1, null, 'x\\y'] } })
  dataOf(await world.post(`/messages/${id}/thread`, { data: { text: 'a reply' } }, { as: 'carol' }))
  dataOf(await world.post(`/messages/${id}/reactions/👍`, {}, { as: 'alice' }))
  dataOf(await world.put(`/messages/${id}`, { data: { text: 'hello everybody' } }, { as: 'bob' }))
  dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
  dataOf(await world.post('/users/alice/auth_tokens', {}))
  dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['carol'] }))
}

/** The same app, served from somewhere else. */
async function at(site: Site, world: World): Promise<World> {
  const { url } = await site.start()
  return servedBy(world, url)
}

async function doctorFindsNothing(site: Site): Promise<void> {
  const { code, out } = await runCommand(doctorCommand, [], site.environment)
  expect(code, out).toBe(0)
}

describe('a backup', () => {
  it('brings back everything as it was, and the service goes on with it', async () => {
    const [site, empty, folder] = [await createSite(), await createSite({ isEmpty: true }), await temporaryFolder()]
    const service = await site.start()
    const world = await createWorld(service)
    await fill(world)
    const messages = dataOf(await world.get('/messages?limit=100', { as: 'bob' }))
    await service.parley.close()

    const id = await back(site, folder)
    const checked = await run(site, folder, 'verify-backup')
    expect(checked).toMatchObject({ code: 0 })
    expect(checked.out).toContain('the master key here is that of the backup')

    const restored = await run(empty, folder, 'restore')
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.out).toContain(id)
    expect(await contentsOf(empty, movedOn)).toEqual(await contentsOf(site, movedOn))
    await doctorFindsNothing(empty)

    const again = await at(empty, world)
    const same = dataOf(await again.get('/messages?limit=100', { as: 'bob' }))
    expect(JSON.parse(JSON.stringify(same).replaceAll(again.url, world.url))).toEqual(messages)
    const file = same.find(({ data }: { data: { attachments?: unknown } }) => data.attachments !== undefined)
    const { pathname } = new URL(file.data.attachments[0].url)
    expect(await (await fetch(new URL(pathname, again.url))).text()).toBe(picture.content)
    const next = await say(again, 'carol', 'bob', 'new')
    expect(Number(next.id)).toBeGreaterThan(Math.max(...messages.map(({ id }: { id: string }) => Number(id))) + 1e9)
    expect(texts(await again.get('/messages?limit=100', { as: 'bob' })).at(-1)).toBe('new')
  })

  it('is of one moment, whatever is written while it is made', async () => {
    const [site, empty, folder] = [await createSite(), await createSite({ isEmpty: true }), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await fill(world)
    const before = await contentsOf(site, movedOn)
    const destination = createFolderStorage(folder)
    let said = 0
    const busy: typeof destination = {
      ...destination,
      async write(name, content, type) {
        if (said < 3) await sayInGroup(world, 'bob', 'team', `meanwhile ${++said}`)
        return destination.write(name, content, type)
      },
    }
    const media = createFolderStorage(path.join(site.dataDir, 'media'))
    await makeBackup({ connection: site.connection, destination: busy, media })
    expect(said).toBe(3)
    expect((await run(empty, folder, 'restore')).code).toBe(0)
    const after = await contentsOf(empty, movedOn)
    // What is written behind what people do.
    for (const name of Object.keys(after)) if (/search|usage|presence|audit/.test(name)) delete after[name]
    expect(before).toMatchObject(after)
    await doctorFindsNothing(empty)
  })

  it('keeps migrations away, but nobody from starting who has none to do', async () => {
    const site = await createSite()
    const snapshot = await openSnapshot(site.connection)
    try {
      expect(await migrate(site.connection)).toEqual([])
      const last = Object.keys(migrations).at(-1)
      await site.query('delete from kysely_migration where name = $1', [last])
      let isOver = false
      const migrating = migrate(site.connection).finally(() => {
        isOver = true
      })
      await delay(300)
      expect(isOver).toBe(false)
      await snapshot.close()
      expect(await migrating).toEqual([last])
    } finally {
      await snapshot.close()
    }
  })

  it('copies a file of a message once, and names those that are gone', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    const first = dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    await back(site, folder)
    const [file = ''] = await createFolderStorage(folder).list('files/')
    await writeFile(path.join(folder, file), 'not itself')
    dataOf(await sendForm(world, toBob, [{ ...picture, content: 'another' }], { as: 'alice' }))
    await back(site, folder)
    expect(await readFile(path.join(folder, file), 'utf8')).toBe('not itself')
    const checked = await run(site, folder, 'verify-backup')
    expect(checked.code).toBe(1)
    expect(checked.out).toContain(`wrong  ${file}`)

    await rm(path.join(site.dataDir, 'media'), { recursive: true })
    await rm(path.join(folder, 'files'), { recursive: true })
    const third = await run(site, folder, 'backup')
    expect(third.code).toBe(0)
    expect(third.err).toContain('2 files that messages name are not in the storage')
    expect(first.data.attachments).toHaveLength(1)
  })

  it('copies a file of a message again that was cut off, there or when it was copied', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    await back(site, folder)
    const [file = ''] = await createFolderStorage(folder).list('files/')
    const copied = () => readFile(path.join(folder, file), 'utf8')
    await truncate(path.join(folder, file), 4)
    await back(site, folder)
    expect(await copied()).toBe(picture.content)
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)

    const original = path.join(site.dataDir, 'media', file.slice('files/'.length))
    await truncate(original, 4)
    await rm(path.join(folder, file))
    await back(site, folder)
    expect(await copied()).toBe('0123')
    // What is there is better than nothing.
    await rename(original, `${original}.found`)
    const without = await run(site, folder, 'backup')
    expect(without.err).not.toContain('not in the storage')
    expect(await copied()).toBe('0123')
    await writeFile(original, picture.content)
    await back(site, folder)
    expect(await copied()).toBe(picture.content)
  })

  it('is made beside one that is damaged, whose files are copied again, and old ones go once all that stay can be read', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const [first, second] = [await back(site, folder), await back(site, folder)]
    await truncate(path.join(folder, 'backups', second, 'files.1.ndjson.gz'), 10)
    const third = await run(site, folder, 'backup', ['--keep', '2'])
    expect(third).toMatchObject({ code: 0 })
    expect(third.err).toContain(`the files of the backup ${second} are not known`)
    expect(third.err).toContain('old backups could not all be removed')
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)
    expect(await createFolderStorage(folder).list(`backups/${first}/`)).toEqual([])
    const fourth = await run(site, folder, 'backup', ['--keep', '2'])
    expect(fourth).toMatchObject({ code: 0, err: '' })
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)
  })

  it('fails where the list of files of another one cannot be reached, and takes one that is gone for damage', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const list = path.join(folder, 'backups', await back(site, folder), 'files.1.ndjson.gz')
    await rename(list, `${list}.kept`)
    await mkdir(list)
    const unreachable = await run(site, folder, 'backup')
    expect(unreachable.code).toBe(1)
    expect(unreachable.err).not.toContain('are not known')
    await rm(list, { recursive: true })
    const beside = await run(site, folder, 'backup')
    expect(beside.code).toBe(0)
    expect(beside.err).toContain('are not known')
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)
  })

  it('goes on where a file was removed when it was about to be read', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await createUsers(world, 'alice', 'bob')
    for (const content of ['one', 'two']) {
      dataOf(await sendForm(world, toBob, [{ ...picture, content }], { as: 'alice' }))
    }
    const media = createFolderStorage(path.join(site.dataDir, 'media'))
    let isRemoved = false
    const swept: typeof media = {
      ...media,
      async read(name, range) {
        const isFirst = !isRemoved
        isRemoved = true
        if (isFirst) await media.remove(name)
        return media.read(name, range)
      },
    }
    const destination = createFolderStorage(folder)
    const { files } = await makeBackup({ connection: site.connection, destination, media: swept })
    expect(files).toMatchObject({ count: 1, missing: 1 })
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)
    // What fails otherwise is no file that is gone.
    const broken: typeof media = { ...media, read: () => Promise.reject(new Error('a broken disk')) }
    const other = createFolderStorage(await temporaryFolder())
    await expect(makeBackup({ connection: site.connection, destination: other, media: broken })).rejects.toThrow(
      'broken disk',
    )
  })

  it('leaves nothing behind when it fails', async () => {
    const [site, folder] = [await createSite(), await temporaryFolder()]
    await createWorld(await site.start())
    const destination = createFolderStorage(folder)
    const full: typeof destination = {
      ...destination,
      async write(name, content, type) {
        if (name.includes('apps')) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
        return destination.write(name, content, type)
      },
    }
    const media = createFolderStorage(path.join(site.dataDir, 'media'))
    await expect(makeBackup({ connection: site.connection, destination: full, media })).rejects.toThrow('no space left')
    expect(await destination.list('')).toEqual([])
    expect(readdirSync(path.join(folder, 'backups'))).toEqual([])
    const none = await run(site, folder, 'restore')
    expect(none).toMatchObject({ code: 1 })
    expect(none.err).toContain('There is no backup there.')
  })

  it('leaves out what others keep in the same database, and says so', async () => {
    const [site, empty, folder] = [await createSite(), await createSite({ isEmpty: true }), await temporaryFolder()]
    await createWorld(await site.start())
    await site.query('create table of_others (id integer)')
    const made = await run(site, folder, 'backup')
    expect(made.code).toBe(0)
    expect(made.err).toContain('left out, since they are not of Parley: of_others')
    expect((await run(empty, folder, 'restore')).code).toBe(0)
  })

  it('is refused of a database that nobody has served', async () => {
    const [empty, folder] = [await createSite({ isEmpty: true }), await temporaryFolder()]
    const { code, err } = await run(empty, folder, 'backup')
    expect(code).toBe(1)
    expect(err).toContain('no database of Parley')
    expect(readdirSync(folder)).toEqual([])
  })

  it('is not taken for whole when a part of it is changed, cut, or missing', async () => {
    const [site, empty, folder] = [await createSite(), await createSite({ isEmpty: true }), await temporaryFolder()]
    const world = await createWorld(await site.start())
    await fill(world)
    const id = await back(site, folder)
    const file = (name: string) => path.join(folder, 'backups', id, name)
    const messages = await readFile(file('public.messages.1.copy.gz'))
    const manifest = await readFile(file('manifest.json'), 'utf8')
    const damages: Array<[string, () => Promise<unknown>, string]> = [
      ['a byte', () => writeFile(file('public.messages.1.copy.gz'), flipped(messages)), 'copy.gz is damaged'],
      ['its end', () => truncate(file('public.messages.1.copy.gz'), messages.length - 1), 'bytes, not'],
      ['all', () => rm(file('public.messages.1.copy.gz')), 'is missing'],
      ['a figure', () => writeFile(file('manifest.json'), manifest.replace('"rows": ', '"rows": 1')), 'manifest.json'],
    ]
    for (const [what, damage, words] of damages) {
      await damage()
      const checked = await run(site, folder, 'verify-backup')
      expect(checked.code, what).toBe(1)
      expect(checked.out + checked.err, what).toContain(words)
      const refused = await run(empty, folder, 'restore')
      expect(refused.code, what).toBe(1)
      expect(refused.err, what).toContain('damaged')
      expect(await empty.query(`select from pg_tables where schemaname = 'public'`), what).toEqual([])
      await writeFile(file('public.messages.1.copy.gz'), messages)
      await writeFile(file('manifest.json'), manifest)
    }
    expect((await run(site, folder, 'verify-backup')).code).toBe(0)
  })
})

function flipped(data: Buffer): Buffer {
  const copy = Buffer.from(data)
  copy[copy.length - 9] = (copy[copy.length - 9] ?? 0) ^ 1
  return copy
}
