import { Client, errors } from 'undici'
import { apiKey } from './service-process.ts'

/** What came of one request. */
export type Outcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: Record<string, string | string[] | undefined>
      // biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
      readonly body: any
      readonly ms: number
    }
  /** The connection was refused or cut. `half`: after the answer had begun. */
  | { readonly kind: 'cut'; readonly reason: string; readonly half: boolean; readonly ms: number }

export interface CallOptions {
  /** uid for `onBehalfOf` */
  readonly as?: string
  readonly apiKey?: string
}

/** One client with one keep-alive connection, which it opens again when it was cut or the service has moved. */
export interface Line {
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Outcome>
  close(): Promise<void>
}

/** Longer than anything may take on a busy machine, so that a request that hangs is found. */
const patienceMs = 60_000

/**
 * @param address where the service listens now, without the path
 * @param key for calls that name none
 */
export function openLine(address: () => string, key = apiKey): Line {
  let origin = ''
  let client: Client | undefined

  const connect = (): Client => {
    const current = address()
    if (client !== undefined && current === origin) return client
    void client?.destroy()
    origin = current
    client = new Client(origin, {
      headersTimeout: patienceMs,
      bodyTimeout: patienceMs,
      connect: { timeout: patienceMs },
      keepAliveTimeout: 60_000,
    })
    return client
  }
  return {
    async call(method, path, body, options = {}) {
      const startedAt = performance.now()
      let half = false
      try {
        const answer = await connect().request({
          method: method as 'GET',
          // Probes are none of the contract's, and answer without a prefix.
          path: ['/health', '/ready', '/metrics'].includes(path) ? path : `/v3${path}`,
          headers: {
            apikey: options.apiKey ?? key,
            ...(options.as !== undefined && { onbehalfof: options.as }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        half = true
        const text = await answer.body.text()
        const isJson = String(answer.headers['content-type']).includes('json')
        return {
          kind: 'answered',
          status: answer.statusCode,
          headers: answer.headers,
          body: isJson ? JSON.parse(text) : text,
          ms: performance.now() - startedAt,
        }
      } catch (error) {
        if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
          throw new Error(`${method} ${path} was not answered within ${patienceMs} ms`)
        }
        return { kind: 'cut', reason: reasonOf(error), half, ms: performance.now() - startedAt }
      }
    },
    async close() {
      await client?.destroy()
    },
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  return `${code ?? error.name} ${error.message}`
}

/** The body of an answer that must be a success. */
export async function expectSuccess(outcome: Promise<Outcome>) {
  const result = await outcome
  if (result.kind === 'cut') throw new Error(`no answer: ${result.reason}`)
  if (result.status !== 200) throw new Error(`status ${result.status}: ${JSON.stringify(result.body)}`)
  return result.body
}
