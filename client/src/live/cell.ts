import type { View } from './interface.ts'

/** A view that is computed when somebody looks, and not again until something has changed. */
export interface Cell<T> extends View<T> {
  readonly changed: () => void
}

export type CreateCell = <T>(compute: () => T, onWatch?: (isWatched: boolean) => void) => Cell<T>

/** Cells whose listeners are called once for all changes of one turn, such as those of a page of events. */
export function createCells(onError: (error: unknown) => void): CreateCell {
  const due = new Set<Set<() => void>>()
  const notify = () => {
    const called = [...due].flatMap((listeners) => [...listeners])
    due.clear()
    for (const listener of called) attempt(listener, onError)
  }
  return <T>(compute: () => T, onWatch?: (isWatched: boolean) => void): Cell<T> => {
    const listeners = new Set<() => void>()
    let isStale = true
    let value: T
    return {
      subscribe(listener) {
        const own = () => listener()
        listeners.add(own)
        if (listeners.size === 1) onWatch?.(true)
        return () => {
          if (listeners.delete(own) && listeners.size === 0) onWatch?.(false)
        }
      },
      getSnapshot() {
        if (isStale) {
          value = compute()
          isStale = false
        }
        return value
      },
      changed() {
        isStale = true
        if (listeners.size === 0) return
        if (due.size === 0) void Promise.resolve().then(notify)
        due.add(listeners)
      },
    }
  }
}

/** A view for each key, made when somebody asks for it. */
export interface Views<T> {
  of(key: string): View<T>
  /** That of this key has changed, or all of them. */
  changed(key?: string): void
}

export function createViews<T>(
  cell: CreateCell,
  compute: (key: string) => T,
  onWatch?: (key: string, isWatched: boolean) => void,
): Views<T> {
  const views = new Map<string, Cell<T>>()
  return {
    of(key) {
      let view = views.get(key)
      if (view === undefined) {
        view = cell(
          () => compute(key),
          (isWatched) => onWatch?.(key, isWatched),
        )
        views.set(key, view)
      }
      return view
    },
    changed(key) {
      if (key !== undefined) views.get(key)?.changed()
      else for (const view of views.values()) view.changed()
    },
  }
}

/** Calls what others wrote: what it throws is theirs, and stops nothing here. */
export function attempt(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const made = call()
    if (made instanceof Promise) made.catch(onError)
  } catch (error) {
    onError(error)
  }
}
