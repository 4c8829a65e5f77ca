/** What the load generator is to do. Requests come as whole HTTP/1.1 messages: it builds nothing while it measures. */
export interface LoadPlan {
  readonly port: number
  /** For each connection the requests that it sends, one after the other, each when the one before is answered. ASCII. */
  readonly connections: readonly (readonly string[])[]
  /** Begin again when all are sent, until the time is up? Otherwise each is sent once. */
  readonly repeat: boolean
  /** Seconds of load that are not measured, at the beginning. */
  readonly warmup: number
  /** Seconds to measure, at most: a plan that does not repeat may be done before. */
  readonly seconds: number
  /** Milliseconds that a connection waits after an answer of 300 or above, as clients do; 0 without it. */
  readonly pauseWhenRefused?: number
}

export interface LoadResult {
  /** Answers with a status below 300 within `seconds`. */
  readonly answers: number
  /** Other answers, and broken connections. */
  readonly failures: number
  /** What the first of them was. */
  readonly firstFailure: string | undefined
  /** Measured seconds. */
  readonly seconds: number
  /** From sending a request to the end of its answer, in milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** What the generator's process tells the one that started it. */
export type LoadReport = { readonly measuring: true } | { readonly result: LoadResult } | { readonly error: string }
