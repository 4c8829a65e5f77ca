/** Does something for each item, some at a time. After a failure nothing more is begun. */
export async function forEach<Item>(
  items: AsyncIterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for await (const item of items) {
    const run: Promise<void> = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(run))
    running.add(run)
    if (running.size >= atOnce) await Promise.race(running)
    if (failures.length > 0) break
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}

/** The items of anything but a stream. */
export async function* each<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}
