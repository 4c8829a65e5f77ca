import { Agent } from 'undici'
import { exitCodes, ImportFailure } from '../import/failure.ts'
import type { JsonRecord } from '../import/records.ts'
import { sendOnce } from '../import/request.ts'
import type { Clock } from '../import/service.ts'

/** One side of a move: the service that is left, or the one that is moved into. */
export interface RemoteOptions {
  /** Address without `/v3`. */
  readonly url: string
  readonly apiKey: string
  /** Value of the header `appId`, where the address alone does not name the app. */
  readonly app: string | undefined
  /** Requests at the same time. */
  readonly concurrency: number
  readonly insecure: boolean
}

export interface RemoteAnswer {
  readonly status: number
  readonly body: JsonRecord
}

interface CallOptions {
  /** uid for `onBehalfOf` */
  readonly as?: string
  /** Statuses other than 200 that are answers, not failures. */
  readonly expected?: readonly number[]
}

export type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Requests to one side. All of them throw ImportFailure to end the run. */
export interface Remote {
  readonly url: string
  /** The address with the app, which tell one side from all others. */
  readonly name: string
  get(path: string, options?: CallOptions): Promise<RemoteAnswer>
  send(method: Method, path: string, body: object, options?: CallOptions): Promise<RemoteAnswer>
  /** What was asked so far. */
  readonly traffic: Traffic
  close(): Promise<void>
}

export interface Traffic {
  requests: number
  /** Answers of 429. */
  limited: number
  /** Other failures that were tried again. */
  repeated: number
  /** Requests a minute that the service allows, as it says; undefined where it does not. */
  limit: number | undefined
}

/** After so long without any good answer the run ends, in milliseconds; waiting for a limit does not count. */
export const patience = 120_000
export const firstWait = 250
export const longestWait = 15_000
const noteInterval = 30_000

/**
 * Opens one side. Its limit counts for the whole app, so all requests go through one gate: when nothing remains of the
 * limit, one request at a time asks whether the service takes more, and a `Retry-After` holds all of them.
 */
export function openRemote(
  options: RemoteOptions,
  clock: Clock,
  signal: AbortSignal,
  note: (text: string) => void,
): Remote {
  const dispatcher = new Agent({
    connections: options.concurrency,
    headersTimeout: patience,
    bodyTimeout: patience,
    connect: { rejectUnauthorized: !options.insecure },
  })
  const traffic: Traffic = { requests: 0, limited: 0, repeated: 0, limit: undefined }
  const gate = createGate(options.concurrency)
  let lastGoodAnswer = clock.now()
  let lastNote = Number.NEGATIVE_INFINITY
  let pausedUntil = 0

  const wait = (milliseconds: number) =>
    clock.sleep(milliseconds, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
      throw new ImportFailure(exitCodes.interrupted, 'stopped')
    })
  /** Sends a request when it is its turn. Those that wait for the limit keep their place, so that they are few. */
  const once = async (
    method: 'GET' | Method,
    path: string,
    headers: Record<string, string>,
    body: string | null,
    expected: readonly number[],
  ) => {
    const leave = await gate.enter()
    try {
      for (let pause = pausedUntil - clock.now(); pause > 0; pause = pausedUntil - clock.now()) await wait(pause)
      traffic.requests += 1
      const result = await sendOnce(dispatcher, `${options.url}/v3${path}`, { method, headers, body }, expected)
      if (result.outcome === 'answered') {
        const [limit, remaining] = ['x-rate-limit', 'x-rate-limit-remaining'].map((name) => result.headers[name])
        if (typeof limit === 'string') traffic.limit = Number(limit)
        gate.narrow(typeof remaining === 'string' && Number(remaining) === 0)
      } else if (!result.maybeDone && result.retryAfter !== undefined) {
        pausedUntil = Math.max(pausedUntil, clock.now() + result.retryAfter)
        gate.narrow(true)
      }
      return result
    } finally {
      leave()
    }
  }
  const call = async (
    method: 'GET' | Method,
    path: string,
    body: string | null,
    { as, expected = [] }: CallOptions,
  ): Promise<RemoteAnswer> => {
    const headers = {
      apikey: options.apiKey,
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(options.app !== undefined && { appId: options.app }),
      ...(as !== undefined && { onBehalfOf: as }),
    }
    const started = clock.now()
    let limitedFor = 0
    for (let attempt = 0; ; attempt++) {
      if (signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
      const result = await once(method, path, headers, body, expected)
      if (result.outcome === 'answered') {
        lastGoodAnswer = clock.now()
        return { status: result.status, body: result.body }
      }
      const delay = result.retryAfter ?? Math.min(longestWait, firstWait * 2 ** attempt) * (0.75 + Math.random() / 2)
      if (result.maybeDone || result.retryAfter === undefined) traffic.repeated += 1
      else {
        traffic.limited += 1
        limitedFor += delay
      }
      if (clock.now() + delay - Math.max(lastGoodAnswer, started) - limitedFor > patience) {
        throw new ImportFailure(exitCodes.unreachable, `${options.url} ${result.problem}; gave up`)
      }
      if (clock.now() - lastNote > noteInterval) {
        lastNote = clock.now()
        note(`${options.url} ${result.problem}; trying again`)
      }
      await wait(delay)
    }
  }
  return {
    url: options.url,
    name: nameOf(options.url, options.app ?? ''),
    traffic,
    get: (path, more = {}) => call('GET', path, null, more),
    send: (method, path, body, more = {}) => call(method, path, JSON.stringify(body), more),
    close: () => dispatcher.close(),
  }
}

/** What one side is called: its address, with its app where the address alone does not name it. */
export function nameOf(url: string, app: string): string {
  return `${url} ${app}`.trim()
}

/** Lets so many in at a time; while it is narrow, only one. */
function createGate(width: number) {
  const waiting: (() => void)[] = []
  let inside = 0
  let isNarrow = false
  const admit = () => {
    while (waiting.length > 0 && inside < (isNarrow ? 1 : width)) {
      inside += 1
      waiting.shift()!()
    }
  }
  return {
    /** @returns what to call when the request is through */
    async enter(): Promise<() => void> {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        admit()
      })
      return () => {
        inside -= 1
        admit()
      }
    },
    narrow(narrow: boolean) {
      isNarrow = narrow
      admit()
    },
  }
}
