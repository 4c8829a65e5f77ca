import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { quantile } from '../live/figures.ts'
import { median } from '../measure.ts'
import { credentials, type RequestOptions } from '../requests.ts'
import type { DearList } from './dearest.ts'
import type { Side, TwoApps } from './world.ts'

const patienceMs = 120_000
const agent = new Agent({ connections: 1000, headersTimeout: patienceMs, bodyTimeout: patienceMs })

/** How long the answers of some requests took, in milliseconds. */
export interface Waits {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Answers of 300 and above, and none at all; their time counts as that of the others does. */
  readonly refused: number
  readonly firstRefusal?: string
}

export interface Answer {
  readonly ms: number
  readonly refusal?: string
}

/** What is asked: a GET, or with a body a POST. */
export interface Asked {
  readonly path: string
  readonly body?: object
}

/** Asks once, and says how long it took until the whole answer was there. */
export async function ask(port: number, { path, body }: Asked, who: RequestOptions): Promise<Answer> {
  const from = performance.now()
  const refusal = await request(`http://127.0.0.1:${port}${path}`, {
    dispatcher: agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...credentials(who), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).then(
    async ({ statusCode, body }) => {
      const text = await body.text()
      return statusCode < 300 ? undefined : `${statusCode} ${text.slice(0, 200)}`
    },
    (error: Error) => error.message,
  )
  return { ms: performance.now() - from, ...(refusal !== undefined && { refusal }) }
}

const everyMs = 50

/**
 * Asks for conversations as often a second as ever, whether or not the answers before are there: who waits for them would
 * ask least when it takes longest.
 */
export async function askSteadily({ service, others }: TwoApps, side: Side, seconds: number): Promise<Waits> {
  const people = others[side]
  const asked: Array<Promise<Answer>> = []
  const from = performance.now()
  for (let i = 0; i * everyMs < seconds * 1000; i++) {
    await delay(Math.max(0, from + i * everyMs - performance.now()))
    asked.push(ask(service.port, { path: '/v3/conversations' }, people[i % people.length] as RequestOptions))
  }
  return sumUp(await Promise.all(asked))
}

export function sumUp(answers: readonly Answer[]): Waits {
  const times = answers.map(({ ms }) => ms)
  const refusals = answers.flatMap(({ refusal }) => refusal ?? [])
  return {
    count: times.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    max: Math.max(...times),
    refused: refusals.length,
    ...(refusals[0] !== undefined && { firstRefusal: refusals[0] }),
  }
}

/** A list with how long it takes when nobody else asks. */
export interface TimedList extends DearList {
  readonly ms: number
  readonly refusal?: string
}

const tries = 3

/** Asks for each list alone, a few times. */
export async function timeEach({ service, greedy }: TwoApps, lists: readonly DearList[]): Promise<TimedList[]> {
  const timed: TimedList[] = []
  for (const list of lists) {
    const answers: Answer[] = []
    for (let i = 0; i < tries; i++) answers.push(await ask(service.port, list, greedy))
    const refusal = answers.find((answer) => answer.refusal !== undefined)?.refusal
    timed.push({ ...list, ms: median(answers.map(({ ms }) => ms)), ...(refusal !== undefined && { refusal }) })
  }
  return timed
}
