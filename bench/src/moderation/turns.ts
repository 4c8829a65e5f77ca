import { readFileSync } from 'node:fs'

const file = '/proc/thread-self/schedstat'

/** Nanoseconds of a core that this thread has had; undefined where the system does not tell. */
function threadNanoseconds(): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0])
  } catch {
    return undefined
  }
}

/**
 * Runs something, and looks how long it holds the event loop: the core time of the longest turn, so that other processes
 * do not count. @returns milliseconds; undefined where the system does not tell
 */
export async function longestTurn(run: () => Promise<unknown>): Promise<number | undefined> {
  let longest = 0
  let last = threadNanoseconds()
  if (last === undefined) {
    await run()
    return undefined
  }
  let isDone = false
  const watch = () => {
    const now = threadNanoseconds() ?? 0
    longest = Math.max(longest, now - (last ?? now))
    last = now
    if (!isDone) setImmediate(watch)
  }
  setImmediate(watch)
  await run()
  await new Promise((resolve) => setImmediate(resolve))
  isDone = true
  watch()
  return longest / 1e6
}
