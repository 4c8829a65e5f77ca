import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BucketSettings } from '../../src/media/bucket.ts'

export interface BucketServer {
  readonly settings: BucketSettings
  /** Objects by `/<bucket>/<key>`. */
  readonly objects: Map<string, Buffer>
  /** Statuses with which the next requests are refused, one after the other. */
  readonly refusals: number[]
  close(): void
}

/** The part of an S3-compatible service that is used: objects by path, put whole, read in ranges, listed a few at a time; all signed. */
export async function openBucket(pageSize = 3): Promise<BucketServer> {
  const objects = new Map<string, Buffer>()
  const refusals: number[] = []
  const server = createServer(async (request, response) => {
    const { pathname: encoded, searchParams } = new URL(request.url ?? '', 'http://bucket')
    const pathname = decodeURIComponent(encoded)
    const body = Buffer.concat(await request.toArray())
    if (!/^AWS4-HMAC-SHA256 Credential=AKID\//.test(request.headers.authorization ?? '')) {
      return response.writeHead(403).end()
    }
    const refused = refusals.shift()
    if (refused !== undefined) return response.writeHead(refused).end('<Error><Code>SlowDown</Code></Error>')
    if (searchParams.get('list-type') === '2') {
      const names = [...objects.keys()]
        .filter((name) => name.startsWith(pathname))
        .map((name) => name.slice(pathname.length))
        .filter((name) => name.startsWith(searchParams.get('prefix') ?? ''))
        .filter((name) => name > (searchParams.get('continuation-token') ?? ''))
        .sort()
      const page = names.slice(0, pageSize)
      const next = names.length > pageSize ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
      const keys = page.map(
        (name) =>
          `<Contents><Key>${name.replaceAll('&', '&amp;')}</Key><Size>${objects.get(pathname + name)?.length}</Size></Contents>`,
      )
      return response.end(`<?xml version="1.0"?><ListBucketResult>${keys.join('')}${next}</ListBucketResult>`)
    }
    const stored = objects.get(pathname)
    if (request.method === 'PUT') objects.set(pathname, body)
    if (request.method === 'DELETE') objects.delete(pathname)
    if (request.method === 'PUT' || request.method === 'DELETE') return response.end()
    if (stored === undefined) return response.writeHead(404).end()
    if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': stored.length }).end()
    const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '')
    return response.end(range === null ? stored : stored.subarray(Number(range[1]), Number(range[2]) + 1))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const settings = {
    ...{ endpoint: `http://127.0.0.1:${port}`, bucket: 'chat', region: 'us-east-1' },
    ...{ accessKeyId: 'AKID', secretAccessKey: 'secret' },
  }
  return {
    ...{ settings, objects, refusals },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
