import { ApiError, limits, type Operation, sendMessage } from '@parley/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { Type } from 'typebox'
import {
  type IncomingMail,
  type NoReply,
  type PlainMail,
  readForm,
  readPlain,
  readRaw,
  readReply,
  sendReply,
} from '../areas/notifications/index.ts'
import { findRunning } from '../chat/apps.ts'
import { isSame, readRepliesToken, sendGridRepliesPath, takesReplies } from '../chat/notifications/replies-webhook.ts'
import type { Context } from '../context.ts'
import { databaseAway } from '../faults.ts'
import { findCredential } from '../protocol/caller.ts'
import { unknownToken, unsupportedMediaType } from '../protocol/errors.ts'
import { compileCheck, sanitize } from '../protocol/validation.ts'
import { parseForm } from './form.ts'
import { takeFromLimits } from './rate-limits.ts'
import { isForm } from './uploads.ts'

const { raw: rawBytes, form: formBytes } = limits.notifications.mailBytes
const rawType = 'message/rfc822'

const PlainMailIn = Type.Object({
  to: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })], {
    description: 'one or more addresses',
  }),
  text: Type.Optional(Type.String()),
  html: Type.Optional(Type.String()),
  messageId: Type.Optional(Type.String({ maxLength: 1000 })),
  headers: Type.Optional(Type.String()),
})
const checkPlain = compileCheck('body', PlainMailIn)

/** What came of an e-mail: the id of its message, or why there is none. */
type Outcome =
  | { readonly success: true; readonly messageId: string }
  | { readonly success: false; readonly reason: NoReply | 'REFUSED'; readonly error?: unknown }

/**
 * Takes replies to e-mails: from SendGrid Inbound Parse, at the address that `repliesWebhook` names, and from the operator's
 * own mail server. Whoever posts them must know a secret; who speaks is said by the token of the address that was replied to.
 */
export function registerMailReplies(server: FastifyInstance, context: Context): void {
  const { config, monitor, apps, database, secrets, log } = context
  const outcomes = new Counter({
    name: 'parley_mail_replies_total',
    help: 'E-mails that came as replies, by what came of them',
    labelNames: ['outcome'],
    registers: [context.metrics.registry],
  })
  const limited = context.limits.rateLimiter.limitsOf(sendMessage as Operation, 'frontEnd')

  const take = async (request: FastifyRequest, reply: FastifyReply, mail: IncomingMail) => {
    const outcome = await post(request, reply, mail)
    outcomes.inc({ outcome: outcome.success ? 'sent' : outcome.reason.toLowerCase() })
    if (!outcome.success) log.info({ requestId: request.id, reason: outcome.reason }, 'a reply by e-mail was not taken')
    return { data: outcome }
  }

  const post = async (request: FastifyRequest, reply: FastifyReply, mail: IncomingMail): Promise<Outcome> => {
    const found = await readReply(context, mail, request.asked?.app, Date.now())
    if (typeof found === 'string') return { success: false, reason: found }
    if ((await findRunning(apps, found.app.name)) === undefined) return { success: false, reason: 'ENDED' }
    request.asked = found
    try {
      await takeFromLimits(context.limits.rateLimiter, reply, found.app, found.caller, limited)
      return { success: true, messageId: await sendReply(context, found) }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      if (error.status === 429) throw later(error)
      return { success: false, reason: 'REFUSED', error: error.toBody().error }
    }
  }

  const routes = async (scope: FastifyInstance) => {
    scope.addContentTypeParser(rawType, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

    scope.post(sendGridRepliesPath, {
      config: { operation: 'sendgrid-replies' },
      async onRequest(request) {
        if (!monitor.available) throw databaseAway()
        const { token } = request.query as Record<string, unknown>
        const said = readRepliesToken(token)
        const app = await findCredential(context, request.client, String(token), async () => {
          const app = said && (await findRunning(apps, said.name))
          return app && (await takesReplies(database, secrets, app, said.secret)) ? app : undefined
        })
        if (app === undefined) throw unknownToken()
        request.asked = { app }
      },
      async handler(request, reply) {
        if (!isForm(request)) throw unsupportedMediaType('multipart/form-data')
        return take(request, reply, await readForm(await readFields(request, config.uploadStallSeconds)))
      },
    })

    const own = config.mailReplies
    if (own === undefined) return
    scope.post('/notifications/email/v1/replies', {
      config: { operation: 'mail-replies' },
      bodyLimit: rawBytes,
      async onRequest(request) {
        if (!monitor.available) throw databaseAway()
        const given = secretOf(request)
        const found = await findCredential(
          context,
          request.client,
          given,
          async () => isSame(given, own.secret) || undefined,
        )
        if (found === undefined) throw unknownToken()
      },
      async handler(request, reply) {
        return take(request, reply, await readAny(request, config.uploadStallSeconds))
      },
    })
  }
  server.register(routes)
}

/** In the header `Authorization`, or as `token` in the address for whoever cannot set headers. */
function secretOf({ headers, query }: FastifyRequest): string {
  const { token } = query as Record<string, unknown>
  if (headers.authorization !== undefined) return headers.authorization.replace(/^bearer\s+/i, '')
  return typeof token === 'string' ? token : ''
}

async function readAny(request: FastifyRequest, stallSeconds: number): Promise<IncomingMail> {
  if (isForm(request)) return readForm(await readFields(request, stallSeconds))
  if (!Buffer.isBuffer(request.body)) {
    const body = sanitize(request.body ?? {}, 'body')
    checkPlain(body)
    return readPlain(body as PlainMail)
  }
  return readRaw(request.body)
}

/** The fields of a form, each byte as one character; attachments are passed over. */
async function readFields(request: FastifyRequest, stallSeconds: number): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>()
  await parseForm(
    request.raw,
    stallSeconds,
    {
      field: (name, value) => void fields.set(name, value),
      file: async ({ content }) => void content.resume(),
    },
    { bytes: formBytes, files: 1000, fieldSize: rawBytes, cutsFields: true, charset: 'latin1' },
  )
  return fields
}

/** Who brings e-mails tries again after a 5xx only. */
function later(error: ApiError): ApiError {
  return new ApiError('ERR_MISSION_FAILED', error.devMessage).retryAfter(error.retryAfterSeconds ?? 60)
}
