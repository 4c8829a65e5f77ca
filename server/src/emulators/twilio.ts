import { randomBytes } from 'node:crypto'
import { type EmulatedAnswer, type EmulatedRequest, startHttpEmulator } from './http.ts'
import { createScript } from './script.ts'

/** An SMS that Twilio was asked to send. */
export interface TwilioSms {
  readonly to: string
  readonly from: string
  readonly body: string
  /** All that was in the form. */
  readonly form: Readonly<Record<string, string>>
  readonly status: number
}

/** What to answer instead of accepting. */
export interface TwilioRefusal {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Stands in for `POST /2010-04-01/Accounts/{sid}/Messages.json` of Twilio, for development and tests. */
export interface TwilioEmulator {
  readonly endpoint: string
  /** An account that it knows. */
  readonly credentials: { readonly accountSid: string; readonly authToken: string; readonly phoneNumber: string }
  /** What came, oldest first; those that were hung up on have status 0. */
  readonly texts: readonly TwilioSms[]
  /**
   * How to answer from now on; undefined: accept. Numbers that end with `21211`, `21610`, `429`, `503` are refused anyway.
   */
  behave(how: (sms: Omit<TwilioSms, 'status'>) => TwilioRefusal | 'hang up' | undefined): void
  close(): Promise<void>
}

const refusals: ReadonlyArray<readonly [string, TwilioRefusal]> = [
  ['21211', { status: 400, code: 21211, message: "The 'To' number is not a valid phone number." }],
  ['21610', { status: 400, code: 21610, message: 'Attempt to send to unsubscribed recipient' }],
  ['429', { status: 429, code: 20429, message: 'Too Many Requests', headers: { 'retry-after': '1' } }],
  ['503', { status: 503, code: 20503, message: 'Service Unavailable' }],
]
/** Characters that it takes in one message. */
const longestBody = 1600

export async function startTwilioEmulator({ port = 0 }: { readonly port?: number } = {}): Promise<TwilioEmulator> {
  const accountSid = `AC${randomBytes(16).toString('hex')}`
  const credentials = { accountSid, authToken: randomBytes(16).toString('hex'), phoneNumber: '+15550100' }
  const authorization = `Basic ${Buffer.from(`${accountSid}:${credentials.authToken}`).toString('base64')}`
  const texts: TwilioSms[] = []
  let behaviour: Parameters<TwilioEmulator['behave']>[0] = () => undefined
  const script = createScript()
  const scripted = (): TwilioRefusal | undefined => {
    const next = script.next()
    const headers = next?.retryAfter === undefined ? undefined : { 'retry-after': String(next.retryAfter) }
    return next && { code: 20503, message: next.reason ?? 'As told', status: next.status, ...(headers && { headers }) }
  }

  const send = ({ headers, text }: EmulatedRequest): EmulatedAnswer | undefined => {
    if (headers.authorization !== authorization) {
      return refuse({ status: 401, code: 20003, message: 'Authenticate' })
    }
    const form = Object.fromEntries(new URLSearchParams(text))
    const sms = { to: form.To ?? '', from: form.From ?? '', body: form.Body ?? '', form }
    const how = flawOfSms(sms) ?? scripted() ?? behaviour(sms) ?? refusals.find(([end]) => sms.to.endsWith(end))?.[1]
    texts.push({ ...sms, status: how === 'hang up' ? 0 : (how?.status ?? 201) })
    if (how === 'hang up') return undefined
    if (how !== undefined) return refuse(how)
    const { to, from, body } = sms
    return { status: 201, body: { sid: `SM${randomBytes(16).toString('hex')}`, status: 'queued', to, from, body } }
  }
  const { endpoint, close } = await startHttpEmulator(
    port,
    (request) => {
      if (request.path === '/journal') return { status: 200, body: texts }
      if (request.method === 'POST' && request.path === `/2010-04-01/Accounts/${accountSid}/Messages.json`) {
        return send(request)
      }
      return refuse({ status: 404, code: 20404, message: 'The requested resource was not found' })
    },
    script,
  )
  return {
    ...{ endpoint, credentials, texts, close },
    behave(how) {
      behaviour = how
    },
  }
}

function flawOfSms({ to, from, body, form }: Omit<TwilioSms, 'status'>): TwilioRefusal | undefined {
  const flaw = (code: number, message: string) => ({ status: 400, code, message })
  if (!/^\+[1-9]\d{5,14}$/.test(to)) return flaw(21211, `The 'To' number ${to} is not a valid phone number.`)
  if (!/^(\+[1-9]\d{5,14}|[A-Za-z0-9 ]{1,11})$/.test(from)) return flaw(21212, "The 'From' number is not valid.")
  if (body === '') return flaw(21602, 'Message body is required.')
  if (body.length > longestBody) return flaw(21617, 'The concatenated message body exceeds the 1600 character limit.')
  const validity = Number(form.ValidityPeriod ?? 14_400)
  return validity >= 1 && validity <= 36_000 ? undefined : flaw(21000, 'The validity period is out of range.')
}

function refuse({ status, code, message, headers }: TwilioRefusal): EmulatedAnswer {
  const more = `https://www.twilio.com/docs/errors/${code}`
  return { status, ...(headers && { headers }), body: { code, message, more_info: more, status } }
}
