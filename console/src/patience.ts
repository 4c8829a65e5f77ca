import { ParleyError } from '@parley/client'

/** Waits, as long as it takes, where the service is away or limits requests. */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let pause = 1_000; ; pause = Math.min(pause * 2, 30_000)) {
    try {
      return await work()
    } catch (error) {
      const mayPass = !(error instanceof ParleyError) || error.status === 429 || error.status >= 500
      if (signal.aborted || !mayPass) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
