import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBucketStorage } from '../../src/media/bucket.ts'
import type { MediaStorage } from '../../src/media/storage.ts'
import { until } from '../support/until.ts'

/** The part of an S3-compatible service that is used: objects by path, put whole, read in ranges. */
describe('a bucket', () => {
  const objects = new Map<string, Buffer>()
  const signed: string[] = []
  let server: Server
  let bucket: MediaStorage
  let staging: string

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      signed.push(request.headers.authorization ?? '')
      const name = request.url ?? ''
      const body = Buffer.concat(await request.toArray())
      const stored = objects.get(name)
      if (request.method === 'PUT') objects.set(name, body)
      if (request.method === 'DELETE') objects.delete(name)
      if (request.method !== 'GET') return response.end()
      if (stored === undefined) return response.writeHead(404).end()
      const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '')
      return response.end(range === null ? stored : stored.subarray(Number(range[1]), Number(range[2]) + 1))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    staging = path.join(await mkdtemp(path.join(os.tmpdir(), 'parley-test-')), 'staging')
    const settings = {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'chat',
      region: 'us-east-1',
      accessKeyId: 'AKID',
      secretAccessKey: 'secret',
    }
    bucket = createBucketStorage(settings, staging)
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
    await expect(bucket.read('1/ab/abc', undefined)).rejects.toThrow('404')
    expect(signed.every((header) => header.startsWith('AWS4-HMAC-SHA256 Credential=AKID/'))).toBe(true)
  })

  it('takes large files as a stream', async () => {
    const megabytes = 3
    const content = Readable.from(Array.from({ length: megabytes }, () => Buffer.alloc(1024 * 1024, 'x')))
    expect(await bucket.write('1/cd/large', content, 'video/mp4')).toBe(megabytes * 1024 * 1024)
    expect(objects.get('/chat/1/cd/large')?.length).toBe(megabytes * 1024 * 1024)
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
