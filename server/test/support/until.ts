import { setTimeout as delay } from 'node:timers/promises'

export interface Patience {
  /** Something that changes as long as there is progress, such as a count: the wait goes on while it moves. */
  readonly progress?: () => unknown
  /** Milliseconds between two looks. */
  readonly interval?: number
}

/**
 * Nothing may move for this long before a wait is given up; time in which the whole machine stood still does not count. It
 * is no statement about how fast something is: a machine that is busy with other things has all the time that it needs, and a
 * test that passes never waits for it.
 */
export const stillMs = 60_000

/** More than this between two looks is a machine or a process that was stopped, or that has no time for this test. */
const mostPerLookMs = 2_000

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

/** Waits until a condition gives something true, and gives that. */
export async function until<T>(condition: () => T | Promise<T>, patience?: Patience): Promise<Truthy<T>> {
  return look(async () => {
    const found = await condition()
    if (found) return { found: found as Truthy<T> }
    return { lack: () => new Error(`it did not come to be: ${condition}`) }
  }, patience)
}

/** Waits until a check passes, and gives what it gives. */
export async function soon<T>(check: () => T | Promise<T>, patience?: Patience): Promise<T> {
  return look(async () => {
    try {
      return { found: await check() }
    } catch (error) {
      return { lack: () => error as Error }
    }
  }, patience)
}

type Look<T> = { readonly found: T } | { readonly lack: () => Error }

async function look<T>(at: () => Promise<Look<T>>, { progress = () => 0, interval = 20 }: Patience = {}): Promise<T> {
  let seen = await progress()
  let stoodStillMs = 0
  for (let lookedAt = performance.now(); ; ) {
    const seenNow = await at()
    if ('found' in seenNow) return seenNow.found
    const now = await progress()
    if (now !== seen) {
      seen = now
      stoodStillMs = 0
    }
    if (stoodStillMs > stillMs) throw seenNow.lack()
    await delay(interval)
    stoodStillMs += Math.min(performance.now() - lookedAt, mostPerLookMs)
    lookedAt = performance.now()
  }
}
