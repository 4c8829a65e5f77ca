/** Does it for each, three at a time. */
export async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items].values()
  const run = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all([run(), run(), run()])
}
