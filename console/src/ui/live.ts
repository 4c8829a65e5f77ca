import { useEffect, useRef } from 'react'
import { admin } from '../api.ts'
import { pause } from '../patience.ts'

/** How long one request waits for something to happen: it is asked as often as this in any case. */
const waitSeconds = 10
/** What happened is asked for so long after it was told: what else comes in this moment comes with it. */
const gatherMs = 100
/** Where much happens, there is at least so much time between two times that are asked. */
const leastMs = 1_000
/** Where nothing can be waited for, it is asked as often as this. */
const pollMs = 3_000

interface Following {
  readonly appId: string
  /** Only what happens in this one. */
  readonly conversationId?: string
  readonly signal: AbortSignal
  /** Asks for what there is at first. */
  readonly begin?: () => Promise<unknown>
  /** Asks for what is new. @returns whether something was */
  readonly ask: () => Promise<boolean>
  /** Where nothing new was found, it is asked again after each of these: some of what happens is seen a moment later. */
  readonly againMs?: readonly number[]
  /** Where not all that changes is told: after so many seconds it is asked in any case. */
  readonly atLeastEvery?: number
}

/** Asks for what is new whenever something happens in an app, as long as the page is in sight. */
export async function follow(following: Following): Promise<void> {
  const { signal, begin, ask, againMs = [] } = following
  try {
    let waiting = wait(following)
    await begin?.()
    for (;;) {
      await waiting
      await visible(signal)
      // What happens from now on is told again: nothing is missed between two waits.
      waiting = wait(following)
      await pause(gatherMs, signal)
      let isNew = await ask()
      for (const ms of againMs) {
        if (isNew) break
        await pause(ms, signal)
        isNew = await ask()
      }
      await pause(leastMs, signal)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Ends when something has happened, and in any case after a while. */
async function wait(following: Following): Promise<void> {
  const { appId, conversationId, signal, atLeastEvery: seconds = waitSeconds } = following
  const begunAt = Date.now()
  try {
    const input = { appId, wait: seconds, ...(conversationId !== undefined && { conversationId }) }
    const { happened } = await admin('GET /apps/{appId}/changes', input, {
      signal,
      timeout: (seconds + waitSeconds) * 1000,
    })
    if (happened) return
  } catch {
    // The service is away, or limits requests: what is asked for then says so.
  }
  // Also where it was answered early.
  const rest = pollMs - (Date.now() - begunAt)
  if (rest > 0) await pause(rest, signal).catch(() => {})
}

function visible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve()
  return new Promise((resolve) => {
    const look = () => {
      if (!signal.aborted && document.visibilityState !== 'visible') return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
  })
}

/** As `follow`, while it is drawn and `isOn`. */
export function useFollowing(
  following: Omit<Following, 'signal' | 'conversationId'> & { readonly isOn: boolean },
): void {
  const { appId, isOn } = following
  const latest = useRef(following)
  latest.current = following
  useEffect(() => {
    if (!isOn) return
    const leaving = new AbortController()
    void follow({ ...latest.current, appId, signal: leaving.signal, ask: () => latest.current.ask() })
    return () => leaving.abort()
  }, [appId, isOn])
}
