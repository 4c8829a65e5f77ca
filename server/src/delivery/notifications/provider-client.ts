import { Agent, request } from 'undici'
import { readBeginning } from '../outbound/http.ts'
import { sendTimeoutMs } from './endpoints.ts'

/** What a provider answered. */
export interface ProviderAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Seconds after which it wants to be asked again, as `Retry-After` says; undefined without a valid one. */
  readonly retryAfter: number | undefined
}

/** Posts to providers at addresses of the operator, which are not checked. */
export interface ProviderClient {
  /** @throws Error where there is no answer in time */
  post(url: string, headers: Record<string, string>, body: string, timeoutMs?: number): Promise<ProviderAnswer>
  close(): Promise<void>
}

/** Of an answer that is read: whatever a provider says has room there. */
const maxAnswerBytes = 16_384

/** @param connections to one origin */
export function createProviderClient(connections: number): ProviderClient {
  const agent = new Agent({ connections, pipelining: 1, headersTimeout: sendTimeoutMs, bodyTimeout: sendTimeoutMs })
  return {
    async post(url, headers, body, timeoutMs = sendTimeoutMs) {
      const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))
      const answer = await request(url, { method: 'POST', dispatcher: agent, headers, body, signal })
      const seconds = Number(answer.headers['retry-after'])
      return {
        status: answer.statusCode,
        text: await readBeginning(answer.body, maxAnswerBytes),
        headers: answer.headers,
        retryAfter: seconds > 0 ? seconds : undefined,
      }
    },
    close: () => agent.destroy(),
  }
}

/** Whether an answer may be another one the next time: whoever mends the credentials loses nothing meanwhile. */
export function mayPass(status: number): boolean {
  return status === 401 || status === 403 || status === 408 || status === 425 || status === 429 || status >= 500
}
