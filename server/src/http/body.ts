import { badRequest } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import { unsupportedMediaType } from '../protocol/errors.ts'

/** Some clients put one before their JSON. */
const byteOrderMark = '\ufeff'

/**
 * JSON only, read as it is (Fastify's own parsers would take text and coerce). An empty body counts as absent, whatever
 * the content type says.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    let parsed: unknown
    try {
      parsed = JSON.parse(body.startsWith(byteOrderMark) ? body.slice(1) : body)
    } catch (error) {
      return done(badRequest([{ path: 'body', message: `is not valid JSON: ${(error as Error).message}` }]))
    }
    done(null, parsed)
  })
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else done(unsupportedMediaType())
  })
}
