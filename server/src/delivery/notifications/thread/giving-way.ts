import { setTimeout as delay } from 'node:timers/promises'

/** How often the thread is asked whether it still gets to run, in milliseconds. */
const askEveryMs = 500
/** Without an answer within this time it is late: whoever is away waits for notifications. What it does by itself at once takes less. */
const lateAfterMs = 400
/** How long it keeps its share once it was late, in milliseconds. */
const firstShareMs = 5_000
/** The longest, where it was late again and again: a machine that is full stays so. */
const longestShareMs = 300_000

export interface GivingWay {
  /** Whether it runs only while nobody else wants the processor; else it has a share of it. */
  readonly isIdle: boolean
  /** How long it keeps its share, in milliseconds. */
  readonly shareMs: number
  /** When `isIdle` last changed, in milliseconds of any clock. */
  readonly since: number
}

export const atFirst = (now: number): GivingWay => ({ isIdle: true, shareMs: firstShareMs / 2, since: now })

/**
 * Decides by one answer, or its absence, how the thread runs from now on. It gives way to everybody as long as it is on time. Where nothing
 * is left for it, it takes a share for a while, and for twice as long when it was late soon after that.
 */
export function giveWay(giving: GivingWay, isLate: boolean, now: number): GivingWay {
  const { isIdle, shareMs, since } = giving
  const heldMs = now - since
  if (isIdle && isLate) {
    const wasSoon = heldMs < shareMs
    return { isIdle: false, shareMs: wasSoon ? Math.min(2 * shareMs, longestShareMs) : firstShareMs, since: now }
  }
  if (!isIdle && !isLate && heldMs >= shareMs) return { isIdle: true, shareMs, since: now }
  return giving
}

export interface GivingWayOptions {
  /** @returns whether the system did it */
  readonly setIdle: (isIdle: boolean) => Promise<boolean>
  /** Resolves once the thread has answered. */
  readonly echo: () => Promise<void>
}

/** Lets a thread give way to everybody else, and sees to it that it still gets to run. Ends when the thread does, or where the system refuses at first. */
export async function keepGivingWay({ setIdle, echo }: GivingWayOptions, signal: AbortSignal): Promise<void> {
  const wait = (ms: number) => delay(ms, undefined, { ref: false, signal }).catch(() => {})
  if (!(await setIdle(true))) return
  let giving = atFirst(performance.now())
  const ended = signal.aborted || new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  while (!signal.aborted) {
    await wait(askEveryMs)
    const answered = echo().then(() => true)
    const isLate = !(await Promise.race([answered, wait(lateAfterMs).then(() => false)]))
    if (signal.aborted) return
    const next = giveWay(giving, isLate, performance.now())
    // Where the system could not do it this time, the next answer leads here again.
    if (next.isIdle !== giving.isIdle && !(await setIdle(next.isIdle))) continue
    giving = next
    // An answer that is late is waited for: questions would pile up.
    if (isLate) await Promise.race([answered, ended])
  }
}
