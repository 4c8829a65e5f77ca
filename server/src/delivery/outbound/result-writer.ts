import { isRetryable } from '../../store/connection.ts'

/**
 * Writes once more what the database rolled back, as after a deadlock: what is not written is attempted again.
 * @param write one statement
 */
export async function writeAgain(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    // After any other failure it may have been carried out, or may take as long once more.
    if (!isRetryable(error)) throw error
    await write()
  }
}

/** Writes results in batches, one batch at a time. */
export interface ResultWriter<Result> {
  add(result: Result): void
  /** Resolves when everything is written. @throws what went wrong with a batch, also with an earlier one */
  flush(): Promise<void>
}

const usualBatchMs = 20

/**
 * @param write is not called again once it has failed: what it was to write is still due, and found again
 * @param batchMs within which results are written together
 */
export function createResultWriter<Result>(
  write: (batch: readonly Result[]) => Promise<void>,
  batchMs = usualBatchMs,
): ResultWriter<Result> {
  let waiting: Result[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let failure: Error | undefined

  const begin = () => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(async () => {
      const batch = waiting
      waiting = []
      if (batch.length === 0 || failure !== undefined) return
      try {
        await write(batch)
      } catch (error) {
        failure = error as Error
      }
    })
  }
  return {
    add(result) {
      waiting.push(result)
      timer ??= setTimeout(begin, batchMs)
    },
    async flush() {
      begin()
      await writing
      if (failure !== undefined) throw failure
    },
  }
}
