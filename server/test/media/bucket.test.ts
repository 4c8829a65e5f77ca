import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBucketStorage } from '../../src/media/bucket.ts'
import type { MediaStorage } from '../../src/media/storage.ts'

/** The part of an S3-compatible service that is used: objects by path, put whole, read in ranges. */
describe('a bucket', () => {
  const objects = new Map<string, Buffer>()
  const signed: string[] = []
  let server: Server
  let bucket: MediaStorage

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      signed.push(request.headers.authorization ?? '')
      const path = request.url ?? ''
      const body = Buffer.concat(await request.toArray())
      const stored = objects.get(path)
      if (request.method === 'PUT') objects.set(path, body)
      if (request.method === 'DELETE') objects.delete(path)
      if (request.method !== 'GET') return response.end()
      if (stored === undefined) return response.writeHead(404).end()
      const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '')
      return response.end(range === null ? stored : stored.subarray(Number(range[1]), Number(range[2]) + 1))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    bucket = createBucketStorage({
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'chat',
      region: 'us-east-1',
      accessKeyId: 'AKID',
      secretAccessKey: 'secret',
    })
  })
  afterAll(() => server.close())

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
