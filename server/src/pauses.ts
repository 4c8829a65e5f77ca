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

/**
 * What a step makes of each item, in order. Others have their turn between two items once those before have taken some
 * milliseconds; until then nothing is waited for.
 */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  step: (item: Item, place: number) => Result,
): Promise<Result[]> {
  const pause = createPauses()
  const results: Result[] = []
  for (let place = 0; place < items.length; place++) {
    const turnOver = pause()
    if (turnOver !== undefined) await turnOver
    results.push(step(items[place] as Item, place))
  }
  return results
}
