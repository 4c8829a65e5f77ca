/** Runs some tasks, so many at a time, and gives what they gave, in their order. */
export async function inTurns<Result>(atOnce: number, tasks: ReadonlyArray<() => Promise<Result>>): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    while (next < tasks.length) {
      const place = next++
      results[place] = await (tasks[place] as () => Promise<Result>)()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
