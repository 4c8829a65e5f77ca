import { createHmac, timingSafeEqual } from 'node:crypto'
import { type EmulatedAnswer, type EmulatedRequest, startHttpEmulator } from './http.ts'
import { createScript } from './script.ts'

/** A notification that a provider of the app's own was called for. */
export interface CustomNotification {
  readonly channel: 'push' | 'email' | 'sms'
  /** The same for each attempt: that of the batch member, or of the request. */
  readonly id: string
  readonly uid: string
  /** `data` of the request, or of the member. */
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at the journal looks at what came, without types
  readonly data: any
  /** It came with others, in one request. */
  readonly isInBatch: boolean
  readonly status: number
}

/** What to answer instead of accepting; `hang up` ends the whole request. */
export type CustomBehaviour = (notification: Omit<CustomNotification, 'status'>) => number | 'hang up' | undefined

/** Stands in for the webhooks of an app that send by themselves, for development and tests: `/push`, `/email`, `/sms`. */
export interface CustomEmulator {
  readonly endpoint: string
  /** `127.0.0.1:9096`, for `OUTBOUND_ALLOW`. */
  readonly host: string
  /** What came, oldest first; those that were hung up on have status 0. */
  readonly notifications: readonly CustomNotification[]
  /** Requests, however many notifications each had. */
  readonly requests: number
  /** Only what is signed with this secret is taken from now on. */
  expectSignature(secret: string): void
  /** How to answer from now on. Users whose uid begins with `gone`, `busy` or `down` are refused anyway. */
  behave(how: CustomBehaviour): void
  close(): Promise<void>
}

const refusals: ReadonlyArray<readonly [string, number]> = [
  ['gone', 410],
  ['busy', 429],
  ['down', 503],
]
const oldestSeconds = 300

export async function startCustomEmulator({ port = 0 }: { readonly port?: number } = {}): Promise<CustomEmulator> {
  const notifications: CustomNotification[] = []
  let secret: string | undefined
  let requests = 0
  let behaviour: CustomBehaviour = () => undefined
  const script = createScript()

  const take = (channel: CustomNotification['channel'], { headers, text }: EmulatedRequest) => {
    requests++
    const flaw = secret === undefined ? undefined : flawOfSignature(secret, headers, text)
    if (flaw !== undefined) return refuse(401, flaw)
    const { trigger, data } = JSON.parse(text)
    const isInBatch = trigger === `${channel}-notification-payload-generated-batch`
    if (!isInBatch && trigger !== `${channel}-notification-payload-generated`) return refuse(400, 'wrong trigger')
    const members: ReadonlyArray<{ id: string; to: { uid: string } }> = isInBatch ? data : [data]
    const came = members.map((one) => {
      const id = isInBatch ? one.id : String(headers['webhook-id'])
      return { channel, id, uid: String(one?.to?.uid), data: one, isInBatch }
    })
    const answers = came.map((one) => ({ one, how: script.next()?.status ?? behaviour(one) ?? statusOf(one.uid) }))
    const isHungUp = answers.some(({ how }) => how === 'hang up')
    const results = answers.map(({ one, how }) => ({ one, status: isHungUp || how === 'hang up' ? 0 : how }))
    for (const { one, status } of results) notifications.push({ ...one, status })
    if (isHungUp) return undefined
    if (!isInBatch) return answerFor(results[0]?.status ?? 200)
    const refused = results.filter(({ status }) => status !== 200)
    return { status: 200, body: { results: refused.map(({ one, status }) => ({ id: one.id, status })) } }
  }
  const { endpoint, close } = await startHttpEmulator(
    port,
    (request) => {
      const channel = /^\/(push|email|sms)$/.exec(request.path)?.[1] as CustomNotification['channel'] | undefined
      if (request.method === 'POST' && channel !== undefined) return take(channel, request)
      if (request.method === 'POST' && request.path === '/secret') {
        secret = (JSON.parse(request.text) as { secret?: string }).secret
        return { status: 200, body: { success: true } }
      }
      if (request.path === '/journal') return { status: 200, body: notifications }
      return refuse(404, 'there is nothing here')
    },
    script,
  )
  return {
    ...{ endpoint, host: new URL(endpoint).host, notifications, close },
    get requests() {
      return requests
    },
    expectSignature(expected) {
      secret = expected
    },
    behave(how) {
      behaviour = how
    },
  }
}

function statusOf(uid: string): number {
  return refusals.find(([start]) => uid.startsWith(start))?.[1] ?? 200
}

function answerFor(status: number): EmulatedAnswer {
  const headers = status === 429 ? { headers: { 'retry-after': '1' } } : {}
  return { status, ...headers, body: { success: status === 200 } }
}

function refuse(status: number, reason: string): EmulatedAnswer {
  return { status, body: { reason } }
}

/** As receivers of webhooks are told to check it (Standard Webhooks). */
function flawOfSignature(secret: string, headers: EmulatedRequest['headers'], text: string): string | undefined {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= oldestSeconds)) return 'wrong webhook-timestamp'
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest()
  const given = String(headers['webhook-signature']).split(' ')
  const isSigned = given.some((one) => {
    const signature = Buffer.from(one.replace(/^v1,/, ''), 'base64')
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
  return isSigned ? undefined : 'wrong webhook-signature'
}
