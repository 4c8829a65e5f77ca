import type { ImportKind } from '@parley/contract'
import { Agent } from 'undici'
import { exitCodes, ImportFailure } from './failure.ts'
import { isJsonObject, type JsonRecord, type Outgoing, type RecordError } from './records.ts'
import { errorOf, readRetryAfter, sendOnce, unlikeParley } from './request.ts'

export interface ServiceOptions {
  /** Address of the service, without `/v3`. */
  readonly url: string
  readonly apiKey: string | undefined
  /** Value of the header `appId`; undefined for the service's default app. */
  readonly app: string | undefined
  readonly concurrency: number
  /** Accept certificates that nobody vouches for. */
  readonly insecure: boolean
}

/** Time as the client sees it, so that tests need not wait. */
export interface Clock {
  /** Milliseconds. */
  now(): number
  /** @throws when the signal is aborted before the time is over. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

export interface RecordAnswer {
  readonly success: boolean
  /** Of a message, also of one that was there before. */
  readonly id?: string
  readonly error?: RecordError
}

/** What became of one request with records. */
export type BatchAnswer =
  | {
      readonly outcome: 'taken'
      readonly records: ReadonlyMap<string, RecordAnswer>
      /** It was sent before and the answer was lost, so that "already there" may be the work of that first time. */
      readonly resent: boolean
    }
  | { readonly outcome: 'refused'; readonly status: number; readonly error: RecordError }

/** The service that imports go to, seen through its public operations. All of them throw ImportFailure to end the run. */
export interface Service {
  /** `POST /data_import/{kind}` with the records as an array. */
  importRecords(kind: ImportKind, batch: readonly Outgoing[]): Promise<BatchAnswer>
  /**
   * `GET /messages?count=true`: how many messages the service holds, by conversation id. What it cannot count in the time that a
   * list may take is asked for in pieces.
   */
  countMessages(): Promise<Map<string, number>>
  /** Whether the service knows the user, group or role. */
  has(collection: 'users' | 'groups' | 'roles', id: string): Promise<boolean>
  close(): Promise<void>
}

/** After so long without any good answer the run ends, in milliseconds. */
export const patience = 120_000
/** So long, in milliseconds, where nothing has ever answered: the address is wrong, or the service is not running. */
const patienceAtFirst = 10_000
const firstWait = 500
const longestWait = 15_000

/** Every partition meets the same trouble, and a limiting service makes it every minute. */
const noteInterval = 30_000

/** What the service, or a proxy before it, answers of a list that took too long. */
const tooLong = [503, 504]

/** Both ends belong to it, in epoch seconds; undefined where it is open. */
interface Span {
  readonly from: number | undefined
  readonly to: number | undefined
}

interface Answer {
  readonly status: number
  readonly body: JsonRecord
  /** Milliseconds. */
  readonly retryAfter: number | undefined
  readonly resent: boolean
}

/**
 * Opens the service. Requests that fail because it is away, busy or limiting (connection errors, 429, 5xx) are sent
 * again, `Retry-After` heeded, until `patience` has passed without a good answer; much
 * less where nothing has answered yet. `note` tells the person so.
 */
export function openService(
  options: ServiceOptions,
  clock: Clock,
  signal: AbortSignal,
  note: (text: string) => void,
): Service {
  const dispatcher = new Agent({
    connections: options.concurrency,
    headersTimeout: patience,
    bodyTimeout: patience,
    connect: { rejectUnauthorized: !options.insecure },
  })
  const headers = {
    'content-type': 'application/json',
    ...(options.apiKey === undefined ? {} : { apikey: options.apiKey }),
    ...(options.app === undefined ? {} : { appId: options.app }),
  }
  let lastGoodAnswer = clock.now()
  let wasThere = false
  let pausedUntil = 0
  let lastNote = Number.NEGATIVE_INFINITY

  /** Sends one request until it is answered with 200 or one of the `expected` statuses. */
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    expected: readonly number[],
    body?: string,
  ): Promise<Answer> => {
    const started = clock.now()
    let resent = false
    for (let attempt = 0; ; attempt++) {
      const pause = pausedUntil - clock.now()
      if (pause > 0) await wait(pause)
      const result = await sendOnce(
        dispatcher,
        `${options.url}${path}`,
        { method, headers, body: body ?? null },
        expected,
      )
      if (result.outcome === 'answered') {
        lastGoodAnswer = clock.now()
        wasThere = true
        const { status, body, headers } = result
        return { status, body, retryAfter: readRetryAfter(headers), resent }
      }
      resent ||= result.maybeDone
      wasThere ||= result.maybeDone
      const patient = wasThere ? patience : patienceAtFirst
      const delay = result.retryAfter ?? backoff(attempt)
      if (clock.now() + delay - Math.max(lastGoodAnswer, started) > patient) {
        const hint = wasThere ? '' : '. Is the service running, and is this its address (--url)?'
        throw new ImportFailure(exitCodes.unreachable, `${options.url} ${result.problem}; gave up${hint}`)
      }
      if (clock.now() - lastNote > noteInterval) {
        lastNote = clock.now()
        note(`${options.url} ${result.problem}; trying again for up to ${patient / 1000} s`)
      }
      if (result.retryAfter !== undefined) pausedUntil = Math.max(pausedUntil, clock.now() + delay)
      await wait(delay)
    }
  }
  const wait = (milliseconds: number) =>
    clock.sleep(milliseconds, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
      throw new ImportFailure(exitCodes.interrupted, 'stopped while waiting for the service')
    })

  /** Adds up what the service counts in a time, in halves where it does not answer for the whole. */
  const countIn = async (span: Span, counts: Map<string, number>): Promise<void> => {
    const halves = halvesOf(span, Math.floor(clock.now() / 1000))
    const answer = await call('GET', `/v3/messages?count=true${queryOf(span)}`, halves === undefined ? [] : tooLong)
    if (answer.status !== 200) {
      await wait(Math.min(longestWait, answer.retryAfter ?? firstWait))
      for (const half of halves ?? []) await countIn(half, counts)
      return
    }
    const { data } = answer.body
    if (!Array.isArray(data)) throw unlikeParley(options.url, 'its answer has no list of counts')
    for (const row of data as unknown[]) {
      if (!isJsonObject(row) || typeof row.conversationId !== 'string') continue
      // Two conversations can have the same name on the wire; the records of the import are counted by name too.
      counts.set(row.conversationId, (counts.get(row.conversationId) ?? 0) + Number(row.count))
    }
  }

  return {
    async importRecords(kind, batch) {
      const body = `{"${kind}":[${batch.map(({ text }) => text).join(',')}]}`
      // Nobody reads the messages themselves. A service that does not know it answers them all the same.
      const query = kind === 'messages' ? '?idsOnly=true' : ''
      const answer = await call('POST', `/v3.0/data_import/${kind}${query}`, [400, 413, 422], body)
      if (answer.status !== 200) return { outcome: 'refused', status: answer.status, error: errorOf(answer.body) }
      const { data } = answer.body
      if (!isJsonObject(data)) throw unlikeParley(options.url, 'its answer has no data')
      const records = new Map<string, RecordAnswer>()
      for (const { key } of batch) {
        const record = Object.hasOwn(data, key) ? data[key] : undefined
        if (!isJsonObject(record)) continue
        const id = record.success === true && isJsonObject(record.data) ? record.data.id : record.id
        const known = typeof id === 'string' && { id }
        records.set(
          key,
          record.success === true ? { success: true, ...known } : { success: false, ...known, error: errorOf(record) },
        )
      }
      return { outcome: 'taken', records, resent: answer.resent }
    },
    async countMessages() {
      const counts = new Map<string, number>()
      await countIn({ from: undefined, to: undefined }, counts)
      return counts
    },
    async has(collection, id) {
      const answer = await call('GET', `/v3/${collection}/${encodeURIComponent(id)}`, [404])
      if (answer.status === 200) return true
      const { code } = errorOf(answer.body)
      if (/^ERR_(UID|GUID|ROLE)_NOT_FOUND$/.test(code)) return false
      throw unlikeParley(options.url, `it answered 404 ${code}`)
    },
    close: () => dispatcher.close(),
  }
}

/** Undefined where it is a single second. Nothing was sent before 0 or after `now`, but by a clock that is wrong. */
function halvesOf({ from, to }: Span, now: number): [Span, Span] | undefined {
  const [first, last] = [from ?? 0, to ?? now]
  if (first >= last) return undefined
  const middle = Math.floor((first + last) / 2)
  return [
    { from, to: middle },
    { from: middle + 1, to },
  ]
}

function queryOf({ from, to }: Span): string {
  const bounds = { from, to }
  return Object.entries(bounds)
    .flatMap(([name, time]) => (time === undefined ? [] : [`&${encodeURIComponent(`sentAt[${name}]`)}=${time}`]))
    .join('')
}

function backoff(attempt: number): number {
  return Math.min(longestWait, firstWait * 2 ** attempt) * (0.75 + Math.random() / 2)
}
