/** Does something for each of some items, a few at a time. @returns the results, in the order of the items */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length)
  let next = 0
  const run = async () => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index] as Item)
    }
  }
  const runners = Array.from({ length: Math.min(atOnce, items.length) }, () =>
    run().catch((error) => {
      next = items.length
      throw error
    }),
  )
  // All have come to rest before a failure is told.
  const settled = await Promise.allSettled(runners)
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
  return results
}
