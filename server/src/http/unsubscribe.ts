import { badRequest } from '@parley/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  readUnsubscribeToken,
  subscribeAgain,
  type Unsubscription,
  unsubscribe,
  unsubscribePath,
} from '../chat/notifications/unsubscribing.ts'
import { readUser } from '../chat/users/rows.ts'
import type { Context } from '../context.ts'
import { databaseAway } from '../faults.ts'
import { unsupportedMediaType } from '../protocol/errors.ts'
import { parseForm } from './form.ts'
import { type UnsubscribeState, unsubscribePage } from './unsubscribe-page.ts'
import { isForm } from './uploads.ts'

/** More than mail programs and the page send. */
const formBytes = 4096
const urlencoded = 'application/x-www-form-urlencoded'

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
}

/**
 * `GET /unsubscribe?token=` shows a page, since programs open links too; `POST` unsubscribes: with one click in a mail program
 * (RFC 8058), or from the page, which can take it back. The token says who wants what, so nobody logs in.
 */
export function registerUnsubscribe(server: FastifyInstance, context: Context): void {
  const {
    config: { uploadStallSeconds },
    database,
    secrets,
    monitor,
  } = context
  const find = async (request: FastifyRequest) => {
    if (!monitor.available) throw databaseAway()
    const { token } = request.query as Record<string, unknown>
    return typeof token === 'string' ? readUnsubscribeToken(database, secrets, token) : undefined
  }
  const show = async (reply: FastifyReply, wanted: Unsubscription | undefined, state: UnsubscribeState) => {
    reply.headers(headers).type('text/html; charset=utf-8')
    if (wanted === undefined) return reply.code(404).send(unsubscribePage({ state: 'unknown' }))
    const user = await readUser(database, wanted.appId, wanted.uid)
    const { channel, conversation } = wanted
    return unsubscribePage({ state, channel, isOfOne: conversation !== undefined, name: user?.name ?? wanted.uid })
  }

  const routes = async (scope: FastifyInstance) => {
    scope.addContentTypeParser(urlencoded, { parseAs: 'string', bodyLimit: formBytes }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )
    const config = { operation: 'unsubscribe', withoutPrefix: true }

    scope.get(unsubscribePath, { config }, async (request, reply) => show(reply, await find(request), 'asking'))

    scope.post(unsubscribePath, { config, bodyLimit: formBytes }, async (request, reply) => {
      const wanted = await find(request)
      const deed = deedOf(await readFields(request, uploadStallSeconds))
      if (deed === undefined) throw badRequest([{ path: 'body', message: 'must have List-Unsubscribe=One-Click' }])
      if (wanted !== undefined) {
        if (deed === 'unsubscribed') await unsubscribe(database, wanted, Date.now())
        else await subscribeAgain(database, wanted)
      }
      return show(reply, wanted, deed)
    })
  }
  server.register(routes)
}

/** The fields of either kind of form. */
async function readFields(request: FastifyRequest, stallSeconds: number): Promise<Record<string, string>> {
  if (!isForm(request)) {
    if (request.headers['content-type']?.startsWith(urlencoded) !== true) throw unsupportedMediaType(urlencoded)
    return (request.body ?? {}) as Record<string, string>
  }
  const fields: [string, string][] = []
  await parseForm(
    request.raw,
    stallSeconds,
    {
      field: (name, value) => fields.push([name, value]),
      file: async ({ content }) => void content.resume(),
    },
    { bytes: formBytes },
  )
  return Object.fromEntries(fields)
}

function deedOf(fields: Record<string, string>): 'unsubscribed' | 'subscribed' | undefined {
  if (fields.action === 'subscribe') return 'subscribed'
  return fields.action === 'unsubscribe' || fields['List-Unsubscribe'] === 'One-Click' ? 'unsubscribed' : undefined
}
