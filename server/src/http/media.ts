import type { FastifyInstance } from 'fastify'
import { findRunning } from '../chat/apps.ts'
import type { Context } from '../context.ts'
import { fileLinkExpired } from '../media/errors.ts'
import { type ByteRange, MissingFileError } from '../media/storage.ts'
import { noSuchFile } from '../protocol/errors.ts'

/** What browsers may show in place. Anything else is offered as a download, so that no page of ours runs it. */
const shownInPlace =
  /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/pdf)$/

/**
 * `GET /media/{app}/{key}/{name}`: a file that was sent with a message, whole or a range of it. The key cannot be
 * guessed; who has the address may read the file, as with any media URL of the contract.
 */
export function registerMedia(server: FastifyInstance, context: Context): void {
  server.route<{ Params: { app: string; key: string; name: string } }>({
    method: ['GET', 'HEAD'],
    url: '/media/:app/:key/:name',
    config: { operation: 'media' },
    handler: async (request, reply) => {
      const app = await findRunning(context.apps, request.params.app)
      const query = request.query as Record<string, unknown>
      const left = app && (await context.fileLinks.secondsLeft(app, request.params.key, query))
      if (app && left === undefined) throw fileLinkExpired()
      const file =
        app && /^[0-9a-f]{32}$/.test(request.params.key) && (await context.media.find(app, request.params.key))
      if (!app || !file) throw noSuchFile()

      const inPlace = shownInPlace.test(file.mimeType)
      reply.headers({
        'content-type': inPlace ? withCharset(file.mimeType) : 'application/octet-stream',
        'content-disposition': `${inPlace ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(file.name)}`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': `private, max-age=${Math.min(3600, left ?? 0)}`,
        'accept-ranges': 'bytes',
        etag: `"${file.key}"`,
      })
      if (request.headers['if-none-match'] === `"${file.key}"`) return reply.code(304).send()

      const range = readRange(request.headers.range, file.size)
      if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${file.size}`).send()
      if (range !== undefined) {
        reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.size}`)
      }
      reply.header('content-length', range === undefined ? file.size : range.end - range.start + 1)
      const refuseMissing = () => {
        context.log.error({ app: app.name, key: file.key }, 'the bytes of a file are missing')
        return noSuchFile()
      }
      if (request.method === 'HEAD') {
        if (!(await context.media.hasBytes(app, file))) throw refuseMissing()
        return reply.send()
      }
      return reply.send(
        await context.media.open(app, file, range).catch((error: unknown) => {
          throw error instanceof MissingFileError ? refuseMissing() : error
        }),
      )
    },
  })
}

function withCharset(mimeType: string): string {
  return mimeType === 'text/plain' ? 'text/plain; charset=utf-8' : mimeType
}

/** One range of bytes; several at once, or anything else, mean the whole file. */
export function readRange(header: string | undefined, size: number): ByteRange | undefined | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const start = Number(match[1])
  const end = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  return start >= size || start > end ? 'unsatisfiable' : { start, end }
}
