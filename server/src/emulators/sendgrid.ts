import { randomBytes } from 'node:crypto'
import { type EmulatedAnswer, type EmulatedRequest, startHttpEmulator } from './http.ts'
import { createScript } from './script.ts'

/** An e-mail that SendGrid was asked to send. */
export interface SendGridMail {
  readonly to: string
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at the journal looks at what came, without types
  readonly mail: any
  readonly status: number
}

/** What to answer instead of accepting. */
export interface SendGridRefusal {
  readonly status: number
  readonly message: string
  readonly field?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Stands in for `POST /v3/mail/send` of SendGrid, for development and tests. */
export interface SendGridEmulator {
  readonly endpoint: string
  /** The key that it knows. */
  readonly apiKey: string
  /** What came, oldest first; those that were hung up on have status 0. */
  readonly mails: readonly SendGridMail[]
  /**
   * How to answer from now on; undefined: accept. Addresses that begin with `bad`, `busy`, `down` are refused anyway.
   */
  behave(how: (mail: Omit<SendGridMail, 'status'>) => SendGridRefusal | 'hang up' | undefined): void
  close(): Promise<void>
}

const refusals: ReadonlyArray<readonly [string, () => SendGridRefusal]> = [
  [
    'bad',
    () => ({ status: 400, message: 'Does not contain a valid address.', field: 'personalizations.0.to.0.email' }),
  ],
  [
    'busy',
    () => ({
      ...{ status: 429, message: 'too many requests' },
      headers: { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 1) },
    }),
  ],
  ['down', () => ({ status: 503, message: 'service unavailable' })],
]

export async function startSendGridEmulator({ port = 0 }: { readonly port?: number } = {}): Promise<SendGridEmulator> {
  const apiKey = `SG.${randomBytes(16).toString('base64url')}.${randomBytes(32).toString('base64url')}`
  const mails: SendGridMail[] = []
  let behaviour: Parameters<SendGridEmulator['behave']>[0] = () => undefined
  const script = createScript()
  const scripted = (): SendGridRefusal | undefined => {
    const next = script.next()
    const headers = next?.retryAfter === undefined ? undefined : { 'retry-after': String(next.retryAfter) }
    return next && { status: next.status, message: next.reason ?? 'as told', ...(headers && { headers }) }
  }

  const send = ({ headers, text }: EmulatedRequest): EmulatedAnswer | undefined => {
    if (headers.authorization !== `Bearer ${apiKey}`) {
      return refuse({ status: 401, message: 'The provided authorization grant is invalid, expired, or revoked' })
    }
    const mail = JSON.parse(text)
    const to = String(mail.personalizations?.[0]?.to?.[0]?.email ?? '')
    const how =
      flawOfMail(mail) ??
      scripted() ??
      behaviour({ to, mail }) ??
      refusals.find(([start]) => to.startsWith(start))?.[1]()
    mails.push({ to, mail, status: how === 'hang up' ? 0 : (how?.status ?? 202) })
    if (how === 'hang up') return undefined
    return how === undefined
      ? { status: 202, headers: { 'x-message-id': randomBytes(11).toString('hex') } }
      : refuse(how)
  }
  const { endpoint, close } = await startHttpEmulator(
    port,
    (request) => {
      if (request.path === '/journal') return { status: 200, body: mails }
      if (request.method === 'POST' && request.path === '/v3/mail/send') return send(request)
      return refuse({ status: 404, message: 'not found' })
    },
    script,
  )
  return {
    ...{ endpoint, apiKey, mails, close },
    behave(how) {
      behaviour = how
    },
  }
}

/** Headers that SendGrid writes itself. */
const reserved =
  /^(x-sg-id|x-sg-eid|received|dkim-signature|content-type|content-transfer-encoding|to|from|subject|reply-to|cc|bcc)$/i

// biome-ignore lint/suspicious/noExplicitAny: it is looked at before anything is known of it
function flawOfMail(mail: any): SendGridRefusal | undefined {
  const flaw = (message: string, field: string) => ({ status: 400, message, field })
  const isAddress = (text: unknown) => typeof text === 'string' && /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(text)
  const receivers = mail.personalizations?.[0]?.to
  if (!Array.isArray(receivers) || receivers.length === 0) return flaw('is required', 'personalizations.0.to')
  if (!isAddress(receivers[0].email)) return flaw('Does not contain a valid address.', 'personalizations.0.to.0.email')
  if (!isAddress(mail.from?.email)) return flaw('The from email does not contain a valid address.', 'from.email')
  if (mail.reply_to !== undefined && !isAddress(mail.reply_to.email)) {
    return flaw('The reply_to email does not contain a valid address.', 'reply_to.email')
  }
  if (mail.content === undefined && typeof mail.template_id !== 'string') {
    return flaw('Unless a valid template_id is provided, the content parameter is required.', 'content')
  }
  if (mail.asm !== undefined && !Number.isInteger(mail.asm.group_id)) return flaw('must be an integer', 'asm.group_id')
  for (const [name, value] of Object.entries(mail.headers ?? {})) {
    if (reserved.test(name)) return flaw('is a reserved header', `headers.${name}`)
    if (typeof value !== 'string' || /[\r\n]/.test(value)) return flaw('must be on one line', `headers.${name}`)
  }
  return undefined
}

function refuse({ status, message, field, headers }: SendGridRefusal): EmulatedAnswer {
  return { status, ...(headers && { headers }), body: { errors: [{ message, field: field ?? null, help: null }] } }
}
