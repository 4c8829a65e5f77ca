import { badRequest } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import { unsupportedMediaType } from '../protocol/errors.ts'
import { parseLargeJson } from './large-json.ts'

/** Some clients put one before their JSON. */
const byteOrderMark = '\ufeff'

/** Characters of a body that is parsed in portions. */
const large = 256 * 1024

/**
 * JSON only, read as it is (Fastify's own parsers would take text and coerce). An empty body counts as absent, whatever
 * the content type says.
 */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, body, done) => {
    if (body.length === 0) return done(null, undefined)
    const text = body.startsWith(byteOrderMark) ? body.slice(1) : body
    if (text.length > large) {
      parseLargeJson(text).then(
        (parsed) => done(null, parsed),
        (error) => done(notJson(error)),
      )
      return
    }
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch (error) {
      return done(notJson(error))
    }
    done(null, parsed)
  })
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else done(unsupportedMediaType())
  })
}

function notJson(error: unknown) {
  return badRequest([{ path: 'body', message: `is not valid JSON: ${(error as Error).message}` }])
}
