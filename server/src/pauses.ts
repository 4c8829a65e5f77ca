import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds. */
const turn = 8

/**
 * For work that takes long, done in steps: called between two of them, it lets others have their turn once the steps have
 * taken some milliseconds.
 */
export function createPauses(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < turn) return undefined
    return nextTurn().then(() => {
      began = performance.now()
    })
  }
}
