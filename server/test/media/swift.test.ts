import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { below } from '../../src/backup/destination.ts'
import { createBucketStorage } from '../../src/media/bucket.ts'
import { type FileStore, MissingFileError } from '../../src/media/storage.ts'
import { back, createSite, run } from '../backup/scene.ts'
import { describeWith, inLongSuite } from '../gate/needs.ts'
import { dataOf, say } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { createUsers, createWorld, servedBy } from '../support/world.ts'
import { type Swift, startSwift, swiftPrograms } from './swift.ts'

/** The other tests ask a bucket that we have written; this one others have, and it says which signatures are right. */
describeWith(inLongSuite.isMet ? swiftPrograms : inLongSuite, 'a bucket of OpenStack Swift', () => {
  let swift: Swift
  let staging: string
  let bucket: FileStore
  beforeAll(async () => {
    staging = await mkdtemp(path.join(os.tmpdir(), 'parley-staging-'))
    swift = await startSwift()
    bucket = createBucketStorage(swift.settings, staging)
  })
  afterAll(async () => {
    await swift?.close()
    await rm(staging, { recursive: true, force: true })
  })

  const write = (store: FileStore, name: string, content: string | Buffer) =>
    store.write(name, Readable.from([Buffer.from(content)]), 'application/octet-stream')

  it('takes files, small ones at once and large ones as a stream, and gives them back whole and in ranges', async () => {
    const large = Buffer.alloc(3 << 20, 'Parley ')
    expect(await write(bucket, '1/ab/small', '0123456789')).toBe(10)
    expect(await write(bucket, '1/ab/large', large)).toBe(large.length)
    expect(await text(await bucket.read('1/ab/small', undefined))).toBe('0123456789')
    expect(await text(await bucket.read('1/ab/small', { start: 2, end: 4 }))).toBe('234')
    expect((await buffer(await bucket.read('1/ab/large', undefined))).equals(large)).toBe(true)
    expect(await bucket.sizeOf('1/ab/large')).toBe(large.length)
    expect(await bucket.sizeOf('1/ab/none')).toBeUndefined()
    await expect(bucket.read('1/ab/none', undefined)).rejects.toBeInstanceOf(MissingFileError)
    for (const name of ['small', 'large', 'none']) await bucket.remove(`1/ab/${name}`)
    expect(await bucket.list('1/')).toEqual([])
  })

  it('tells which files are in it, page by page, below whatever prefix somebody has chosen', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `backups/a&b-${n}.copy.gz`)
    for (const prefix of ['plain/', "it's+(more)!*~/", 'übung&co/', 'a%20b/', '100%/', 'tag=#1?/']) {
      const place = below(bucket, prefix)
      for (const name of names) await write(place, name, prefix)
      expect(await place.list('backups/'), prefix).toEqual(names)
      const sizes = new Map(names.map((name) => [name, Buffer.byteLength(prefix)]))
      expect(await place.sizesBelow('backups/'), prefix).toEqual(sizes)
      expect(await text(await place.read(names[3] as string, undefined))).toBe(prefix)
      for (const name of names) await place.remove(name)
    }
    expect(await bucket.list('')).toEqual([])
  })

  it('takes a backup with a file of a message, keeps as many as wanted, and gives one back that is whole', async () => {
    const [site, empty] = [await createSite(), await createSite({ isEmpty: true })]
    const place = `s3://${swift.settings.bucket}/of+acme/backups`
    const environment = {
      BACKUP_S3_ENDPOINT: swift.settings.endpoint,
      BACKUP_S3_ACCESS_KEY_ID: swift.settings.accessKeyId,
      BACKUP_S3_SECRET_ACCESS_KEY: swift.settings.secretAccessKey,
    }
    const service = await site.start({ BACKUP_TO: place, ...environment })
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'kept')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const first = await back(site, place, [], environment)
    const second = await back(site, place, ['--keep', '1'], environment)
    dataOf(await world.delete('/users/alice', { permanent: true }))
    await service.parley.close()

    const { out } = await run(site, place, 'backup', ['--list'], environment)
    expect([out.includes(first), out.includes(second)]).toEqual([false, true])
    expect(await run(empty, place, 'verify-backup', [], environment)).toMatchObject({ code: 0 })
    const restored = await run(empty, place, 'restore', [], environment)
    expect(restored).toMatchObject({ code: 0 })
    expect(restored.out).toContain('1 users erased')
    expect(dataOf(await servedBy(world, (await empty.start()).url).get('/users/bob'))).toMatchObject({ uid: 'bob' })
  })

  it('refuses who signs with another secret', async () => {
    await write(bucket, '1/ab/kept', 'kept')
    const other = createBucketStorage({ ...swift.settings, secretAccessKey: 'another' }, staging)
    await expect(other.read('1/ab/kept', undefined)).rejects.toThrow('answered 403')
    await expect(other.list('')).rejects.toThrow('answered 403')
    await expect(write(other, '1/ab/kept', 'changed')).rejects.toThrow('answered 403')
    await expect(other.remove('1/ab/kept')).rejects.toThrow('answered 403')
    expect(await text(await bucket.read('1/ab/kept', undefined))).toBe('kept')
  })
})
