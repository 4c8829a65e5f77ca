import { createHash } from 'node:crypto'
import type { App } from '../../chat/identity.ts'
import type { CustomPushTarget } from '../../chat/notifications/credentials.ts'
import type { Poster } from '../outbound/http.ts'
import type { Some } from '../outbound/keyed-queue.ts'
import { type Attempting, attempting } from './attempting.ts'
import { judge, originOf, payloadOfPush, postSigned, sendCustom } from './custom.ts'
import type { Addressed, BatchAttempt, Push, Sender } from './senders.ts'

type Item = Addressed<Push>

/** Requests at a time. */
const width = 10
/** Of what goes in one request; one notification goes whatever its size. */
const maxBatchBytes = 512 * 1024
/** Of the answer to a batch. */
const maxAnswerBytes = 64 * 1024

/** Sends by the app's own push provider: each notification by itself, or many in one request. */
export function createCustomPush(poster: Poster, app: App, target: CustomPushTarget): Sender<Push> {
  const { batchSize = 1 } = target
  if (batchSize === 1) {
    return { width, send: (sending, notice) => sendCustom(poster, app, target, sending, payloadOfPush(notice)) }
  }
  const sendAll = (all: Some<Item>) => sendBatch(poster, app, target, all)
  return {
    width,
    send: async (sending, notice) => {
      const { whole, attempts } = await sendAll([{ sending, notice }])
      return attempts[0] ?? whole
    },
    batch: { size: batchSize, send: sendAll },
  }
}

/** One request, with as many as fit from the first one on. Never throws. */
async function sendBatch(poster: Poster, app: App, target: CustomPushTarget, all: Some<Item>): Promise<BatchAttempt> {
  const { ids, data } = pack(all)
  const trigger = 'push-notification-payload-generated-batch'
  const body = `{"trigger":"${trigger}","data":[${data.join()}],${JSON.stringify(originOf(app)).slice(1)}`
  const trace = all.find(({ sending }) => sending.trace !== undefined)?.sending.trace
  const batch = { id: nameOf(app, ids), ...(trace !== undefined && { trace }) }
  let named: ReadonlyMap<string, Attempting> = new Map()
  const whole = await attempting('the endpoint', async () => {
    const answer = await postSigned(poster, target, batch, body, maxAnswerBytes)
    const judged = judge(answer)
    if (judged.outcome === 'accepted') named = readResults(answer.text)
    return judged
  })
  const ofOne = (id: string) => (whole.outcome === 'accepted' ? named.get(id) : undefined)
  return { whole, attempts: ids.map((id) => ({ ...(ofOne(id) ?? whole), durationMs: whole.durationMs })) }
}

function pack(all: Some<Item>) {
  const ids: string[] = []
  const data: string[] = []
  let bytes = 0
  for (const { sending, notice } of all) {
    const text = JSON.stringify({ id: sending.id, ...payloadOfPush(notice).data })
    bytes += Buffer.byteLength(text) + 1
    if (ids.length > 0 && bytes > maxBatchBytes) break
    ids.push(sending.id)
    data.push(text)
  }
  return { ids, data }
}

/** The same whenever the same notifications go together. */
function nameOf({ appId }: App, ids: readonly string[]): string {
  const digest = createHash('sha256')
    .update([...ids].sort().join())
    .digest('hex')
  return `ntb_${appId}_${digest.slice(0, 32)}`
}

/** What the endpoint says of single notifications; of all others it says that it took them. */
function readResults(text: string): ReadonlyMap<string, Attempting> {
  const results = resultsIn(text)
  const named = new Map<string, Attempting>()
  for (const one of results) {
    if (typeof one?.id === 'string') named.set(one.id, judgeResult(one))
  }
  return named
}

interface Result {
  readonly id?: unknown
  readonly status?: unknown
}

function resultsIn(text: string): ReadonlyArray<Result | null> {
  try {
    const { results } = (JSON.parse(text) ?? {}) as { results?: unknown }
    return Array.isArray(results) ? results : []
  } catch {
    // Whoever does not speak of single notifications may answer what they like.
    return []
  }
}

function judgeResult(result: Result): Attempting {
  const { status } = result
  const text = JSON.stringify(result).slice(0, 512).toWellFormed()
  if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) {
    return judge({ status, text })
  }
  return { outcome: 'refused', text, error: 'the endpoint named no HTTP status from 200 to 599' }
}
