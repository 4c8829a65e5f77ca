import { type Platform, platform, type Signal } from '../platform.ts'
import type { WebSocketConstructor } from './interface.ts'

interface EventSource {
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
}

/** What the live face uses of where it runs, beyond what requests need. None of it has to be there. */
export const here = platform as Platform &
  EventSource & {
    readonly WebSocket?: WebSocketConstructor
    readonly performance?: { now(): number }
    readonly console?: { error(...what: unknown[]): void }
    readonly document?: EventSource & { readonly visibilityState?: string }
  }

export type Timer = unknown

export function later(run: () => void, milliseconds: number): Timer {
  return here.setTimeout(run, milliseconds)
}

export function cancel(timer: Timer): void {
  if (timer !== undefined) here.clearTimeout(timer as never)
}

/** Milliseconds that only differences of are looked at. */
export function now(): number {
  return here.performance?.now() ?? Date.now()
}

/** Ends what was begun with its signal. */
export interface Stop {
  readonly signal: Signal
  abort(): void
}

/**
 * As an `AbortController`, for what many calls are begun with at once: Node.js warns of a leak where a signal of its own has
 * more than ten listeners.
 */
export function createStop(): Stop {
  const listeners = new Set<() => void>()
  let reason: Error | undefined
  const signal: Signal = {
    get aborted() {
      return reason !== undefined
    },
    get reason() {
      return reason
    },
    addEventListener: (_, listener) => void listeners.add(listener),
    removeEventListener: (_, listener) => void listeners.delete(listener),
  }
  return {
    signal,
    abort() {
      if (reason !== undefined) return
      reason = new Error('It was ended.')
      for (const listener of listeners) listener()
    },
  }
}

/** Calls when the network or the page may have come back, where there is a page to say so. @returns ends it */
export function listenToPage(onBack: () => void): () => void {
  const { document } = here
  const onVisible = () => {
    if (document?.visibilityState === 'visible') onBack()
  }
  const heard: Array<[EventSource | undefined, string, () => void]> = [
    [here, 'online', onBack],
    [here, 'pageshow', onBack],
    [document, 'visibilitychange', onVisible],
  ]
  for (const [source, type, listener] of heard) source?.addEventListener?.(type, listener)
  return () => {
    for (const [source, type, listener] of heard) source?.removeEventListener?.(type, listener)
  }
}
