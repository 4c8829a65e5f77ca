import { ParleyError } from '@parley/client'

/** Waits, as long as it takes, where the service is away or limits requests. @throws the reason of the signal */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let rest = 1_000; ; rest = Math.min(rest * 2, 30_000)) {
    try {
      return await work()
    } catch (error) {
      const mayPass = !(error instanceof ParleyError) || error.status === 429 || error.status >= 500
      if (signal.aborted || !mayPass) throw error
      await pause(rest, signal)
    }
  }
}

/** @throws the reason of the signal */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}
