import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { credentials, type RequestOptions, textTo } from '../requests.ts'
import { pairUsers, uidOf } from './world.ts'

/** A send that was answered; times are epoch milliseconds with fractions. */
export interface Sent {
  readonly id: string
  /** From when it was due to be sent until the whole answer was there. */
  readonly ms: number
  readonly answeredAt: number
  /** Number of the user it was sent to. */
  readonly to: number
}

const agent = new Agent({ connections: 512, pipelining: 1 })

/**
 * Sends messages from user to user at a steady rate, whether or not the answers before are there: who waits for them would
 * send least when it takes longest.
 */
export async function sendSteadily(
  port: number,
  app: RequestOptions,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Sent[]> {
  const under: Array<Promise<Sent>> = []
  const from = performance.now()
  const count = Math.round(perSecond * seconds)
  while (under.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - from) / 1000) * perSecond) + 1)
    while (under.length < due) {
      const i = under.length
      under.push(sendOne(port, app, i, from + (i * 1000) / perSecond))
    }
    await delay(1)
  }
  return Promise.all(under)
}

async function sendOne(port: number, app: RequestOptions, i: number, dueAt: number): Promise<Sent> {
  const [from, to] = [i % pairUsers, (i + 1 + (i % 7)) % pairUsers]
  const { statusCode, body } = await request(`http://127.0.0.1:${port}/v3/messages`, {
    dispatcher: agent,
    method: 'POST',
    headers: { ...credentials({ ...app, as: uidOf(from) }), 'content-type': 'application/json' },
    body: JSON.stringify(textTo(uidOf(to))),
  })
  const text = await body.text()
  const now = performance.now()
  if (statusCode >= 300) throw new Error(`a send was answered ${statusCode} ${text.slice(0, 300)}`)
  const { data } = JSON.parse(text) as { data: { id: string } }
  return { id: data.id, ms: now - dueAt, answeredAt: performance.timeOrigin + now, to }
}
