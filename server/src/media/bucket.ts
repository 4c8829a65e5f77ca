import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { freeBytesOf } from './free-space.ts'
import { type FileStore, MissingFileError } from './storage.ts'

/** An S3-compatible bucket, addressed by path: `<endpoint>/<bucket>/<key>`. */
export interface BucketSettings {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/**
 * Keeps files in a bucket. They are first written to a folder of this machine, since S3 wants the size beforehand.
 * @param staging that folder; not one in memory, as the system's temporary folder often is. Left out: each file has a folder of its
 *   own in the system's, which all users of the machine share
 */
export function createBucketStorage(settings: BucketSettings, staging?: string): FileStore {
  // It would send the same stream again, of which nothing is left.
  const client = new AwsClient({ ...settings, service: 's3', retries: 0 })
  // Names may have any letters, as people choose where their backups go; what is signed is as it is sent.
  const urlOf = (name: string) =>
    `${settings.endpoint.replace(/\/$/, '')}/${settings.bucket}/${name.split('/').map(encodeURIComponent).join('/')}`

  /** @param makeBody gives what is sent, anew for each attempt */
  const attempt = async (name: string, init: RequestInit, query: string, makeBody?: () => Body) => {
    for (let attempts = 1; ; attempts++) {
      const body = makeBody && { body: makeBody() }
      const answer = await client.fetch(urlOf(name) + query, { ...init, ...body })
      if ((answer.status < 500 && answer.status !== 429) || attempts === maxAttempts) return answer
      await answer.body?.cancel()
      await delay(Math.random() * firstPauseMs * 2 ** (attempts - 1))
    }
  }
  const call = async (name: string, init: RequestInit, query = '', makeBody?: () => Body): Promise<Response> => {
    const answer = await attempt(name, init, query, makeBody)
    if (!answer.ok && !(['DELETE', 'HEAD'].includes(init.method ?? '') && answer.status === 404)) {
      const said = await answer.text()
      const isOfFile = init.method === undefined && name !== ''
      const isMissing = isOfFile && answer.status === 404 && !said.includes('NoSuchBucket')
      if (isMissing) throw new MissingFileError(name)
      throw new Error(`the bucket ${settings.bucket} answered ${answer.status} to ${init.method ?? 'GET'} ${name}`)
    }
    return answer
  }

  const sizesBelow = async (prefix: string) => {
    const sizes = new Map<string, number>()
    for (let token: string | undefined, more = true; more; ) {
      const query = new URLSearchParams({ 'list-type': '2', prefix, ...(token && { 'continuation-token': token }) })
      const text = await (await call('', {}, `?${query}`)).text()
      for (const [, object = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const [name, size] = ['Key', 'Size'].map((member) => new RegExp(`<${member}>([^<]*)<`).exec(object)?.[1])
        sizes.set(decodeXml(name ?? ''), Number(size))
      }
      token = /<NextContinuationToken>([^<]*)</.exec(text)?.[1]
      token = token && decodeXml(token)
      more = token !== undefined
    }
    return sizes
  }

  return {
    async write(name, content, mimeType) {
      const folder = await makeFolder(staging)
      let source: Readable | undefined
      try {
        const file = path.join(folder, 'file')
        await pipeline(content, createWriteStream(file, { mode: 0o600 }))
        const { size } = await stat(file)
        const headers = { 'content-type': mimeType, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
        if (size <= inMemoryBytes) {
          // Of what is sent in one piece, fetch says the length itself.
          await call(name, { method: 'PUT', headers, body: await readFile(file) })
        } else {
          const streamed = { method: 'PUT', headers: { ...headers, 'content-length': String(size) }, duplex: 'half' }
          await call(name, streamed as RequestInit, '', () => {
            source?.destroy()
            source = createReadStream(file)
            return Readable.toWeb(source) as Body
          })
        }
        return size
      } finally {
        source?.destroy()
        await rm(folder, { recursive: true, force: true })
      }
    },
    async read(name, range) {
      const headers: Record<string, string> = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }
      const answer = await call(name, { headers })
      if (answer.body === null) throw new Error(`the bucket ${settings.bucket} sent no content for ${name}`)
      return Readable.fromWeb(answer.body as ReadableStream)
    },
    async remove(name) {
      const answer = await call(name, { method: 'DELETE' })
      await answer.body?.cancel()
    },
    list: async (prefix) => [...(await sizesBelow(prefix)).keys()],
    sizesBelow,
    async sizeOf(name) {
      const answer = await call(name, { method: 'HEAD' })
      return answer.status === 404 ? undefined : Number(answer.headers.get('content-length'))
    },
    // There are no folders in it, and what did not arrive is not there.
    tidyBelow: async () => {},
    freeBytes: () => freeBytesOf(staging ?? os.tmpdir()),
    async tidy(now = Date.now()) {
      // The system's is tidied by the system.
      if (staging === undefined) return
      for (const name of await readdir(staging).catch(() => [])) {
        const folder = path.join(staging, name)
        // The file tells when it was written to last, the folder only when it was begun.
        const found = await stat(path.join(folder, 'file')).catch(() => stat(folder).catch(() => undefined))
        if (found !== undefined && found.mtimeMs < now - leftoverAfterMs) {
          // What another user of the machine left is for them to remove.
          await rm(folder, { recursive: true, force: true }).catch(() => {})
        }
      }
    },
  }
}

/** Makes a folder for one file that nobody else has. */
async function makeFolder(staging: string | undefined): Promise<string> {
  if (staging === undefined) return mkdtemp(path.join(os.tmpdir(), 'parley-upload-'))
  await mkdir(staging, { recursive: true, mode: 0o700 })
  return mkdtemp(path.join(staging, 'upload-'))
}

/** No upload takes that long. */
const leftoverAfterMs = 3_600_000

type Body = NonNullable<RequestInit['body']>

/** A bucket that is busy says so, and is asked again after pauses that grow to half a minute. */
const maxAttempts = 11
const firstPauseMs = 50

/** Small files are sent in one piece. */
const inMemoryBytes = 1024 * 1024

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeXml(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
}
