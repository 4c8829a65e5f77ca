import { sendTimeoutMs } from './endpoints.ts'
import type { SendAttempt } from './results.ts'

/** How an attempt went, but for the time that it took. */
export type Attempting = Omit<SendAttempt, 'durationMs'>

/** Characters that are kept of what a provider says. */
const excerpt = { text: 512, error: 300 }

/**
 * Measures an attempt, and ends it in time. Whatever it throws means that there was no answer, and that it may be made again.
 * @param whom as errors call them
 */
export async function attempting(whom: string, attempt: () => Promise<Attempting>): Promise<SendAttempt> {
  const startedAt = performance.now()
  const tooLate: Attempting = { outcome: 'failed', error: `${whom} did not answer in time` }
  let timer: NodeJS.Timeout | undefined
  const ending = new Promise<Attempting>((resolve) => {
    timer = setTimeout(() => resolve(tooLate), sendTimeoutMs)
  })
  const answered = attempt().catch((error: Error): Attempting => {
    return error.name === 'TimeoutError' ? tooLate : { outcome: 'failed', error: error.message || String(error) }
  })
  const made = await Promise.race([answered, ending])
  clearTimeout(timer)
  const { text, error } = made
  return {
    ...made,
    ...(text !== undefined && { text: text.slice(0, excerpt.text).toWellFormed() }),
    ...(error !== undefined && { error: error.slice(0, excerpt.error).toWellFormed() }),
    durationMs: performance.now() - startedAt,
  }
}
