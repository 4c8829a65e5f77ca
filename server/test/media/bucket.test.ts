import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openDestination } from '../../src/backup/destination.ts'
import { createBucketStorage } from '../../src/media/bucket.ts'
import { type FileStore, MissingFileError } from '../../src/media/storage.ts'
import { type BucketServer, openBucket } from '../support/bucket.ts'
import { until } from '../support/until.ts'

describe('a bucket', () => {
  let server: BucketServer
  let objects: Map<string, Buffer>
  let bucket: FileStore
  let staging: string

  beforeAll(async () => {
    server = await openBucket()
    objects = server.objects
    staging = path.join(await mkdtemp(path.join(os.tmpdir(), 'parley-test-')), 'staging')
    bucket = createBucketStorage(server.settings, staging)
  })
  afterAll(async () => {
    server.close()
    await rm(path.dirname(staging), { recursive: true, force: true })
  })

  it('stages files in the folder that is named, says what is free there, and tidies up after processes that ended', async () => {
    let staged: string[] = []
    async function* content() {
      yield Buffer.from('01234')
      await until(() => readdirSync(staging).length > 0)
      staged = readdirSync(staging)
      yield Buffer.from('56789')
    }
    expect(await bucket.write('1/gh/staged', Readable.from(content()), 'text/plain')).toBe(10)
    expect(staged).toHaveLength(1)
    expect(readdirSync(staging)).toEqual([])
    expect(await bucket.freeBytes()).toBeGreaterThan(0)
    const [old, recent] = [path.join(staging, 'upload-old'), path.join(staging, 'upload-recent')]
    for (const folder of [old, recent]) await mkdir(folder)
    await utimes(old, 1, 1)
    await bucket.tidy()
    expect(readdirSync(staging)).toEqual(['upload-recent'])
    await bucket.remove('1/gh/staged')
  })

  it('of backups stages files where nobody else does, and leaves nothing there, however it ends', async () => {
    const shared = await mkdtemp(path.join(os.tmpdir(), 'parley-test-'))
    vi.stubEnv('TMPDIR', shared)
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      await rm(shared, { recursive: true, force: true })
    })
    // What another user of the machine has made there may be read, and no more.
    await writeFile(path.join(shared, 'parley-backup'), 'of somebody else')
    const place = openDestination({ kind: 'bucket', settings: server.settings, prefix: 'of-acme/' })
    const content = () => Readable.from([Buffer.from('01234')])
    expect(await place.write('1/backup', content(), 'text/plain')).toBe(5)
    expect(await place.freeBytes()).toBeGreaterThan(0)
    await place.remove('1/backup')
    const refused = { ...server.settings, accessKeyId: 'OTHER' }
    const closed = openDestination({ kind: 'bucket', settings: refused, prefix: '' })
    await expect(closed.write('1/backup', content(), 'text/plain')).rejects.toThrow('403')
    await place.tidy()
    expect(readdirSync(shared)).toEqual(['parley-backup'])
  })

  it('takes files, gives them back whole and in ranges, and removes them, each call signed', async () => {
    expect(
      await bucket.write('1/ab/abc', Readable.from([Buffer.from('01234'), Buffer.from('56789')]), 'text/plain'),
    ).toBe(10)
    expect([...objects.keys()]).toEqual(['/chat/1/ab/abc'])
    expect(await text(await bucket.read('1/ab/abc', undefined))).toBe('0123456789')
    expect(await text(await bucket.read('1/ab/abc', { start: 2, end: 4 }))).toBe('234')
    await bucket.remove('1/ab/abc')
    await bucket.remove('1/ab/abc')
    expect(objects.size).toBe(0)
    await expect(bucket.read('1/ab/abc', undefined)).rejects.toBeInstanceOf(MissingFileError)
    const other = createBucketStorage({ ...server.settings, accessKeyId: 'OTHER' }, staging)
    await expect(other.read('1/ab/abc', undefined)).rejects.toThrow('403')
  })

  it('tells which files are in it, however many, and how large each is', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `2/list/a&b-${n}`)
    for (const name of names) await bucket.write(name, Readable.from([Buffer.from('1234')]), 'text/plain')
    await bucket.write('3/other', Readable.from([Buffer.from('1')]), 'text/plain')
    expect(await bucket.list('2/list/')).toEqual(names)
    expect(await bucket.list('4/')).toEqual([])
    expect(await bucket.sizesBelow('2/list/')).toEqual(new Map(names.map((name) => [name, 4])))
    expect(await bucket.sizeOf(names[0] as string)).toBe(4)
    expect(await bucket.sizeOf('2/list/none')).toBeUndefined()
    for (const name of await bucket.list('')) await bucket.remove(name)
  })

  it('takes large files as a stream', async () => {
    const megabytes = 3
    const content = Readable.from(Array.from({ length: megabytes }, () => Buffer.alloc(1024 * 1024, 'x')))
    expect(await bucket.write('1/cd/large', content, 'video/mp4')).toBe(megabytes * 1024 * 1024)
    expect(objects.get('/chat/1/cd/large')?.length).toBe(megabytes * 1024 * 1024)
  })

  it('is asked again where it is busy or fails for a moment, whatever the size of a file', async () => {
    for (const size of [10, 2 * 1024 * 1024]) {
      const bytes = randomBytes(size)
      server.refusals.push(503, 429, 500)
      expect(await bucket.write('1/ij/busy', Readable.from([bytes]), 'text/plain')).toBe(size)
      expect(server.refusals).toEqual([])
      expect(objects.get('/chat/1/ij/busy')?.equals(bytes)).toBe(true)
    }
    server.refusals.push(503)
    expect((await buffer(await bucket.read('1/ij/busy', undefined))).length).toBe(2 * 1024 * 1024)
    await bucket.remove('1/ij/busy')
  })

  it('keeps nothing of a file that breaks off', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('cut off'))
      },
    })
    await expect(bucket.write('1/ef/broken', broken, 'text/plain')).rejects.toThrow('cut off')
    expect(objects.has('/chat/1/ef/broken')).toBe(false)
  })
})
