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
  /**
   * @returns undefined where fewer than `most` results are not written yet, which is nearly always; else resolves once it is so, or nothing
   * is written any more
   */
  room(most: number): Promise<void> | undefined
  /** Resolves when everything is written. @throws what went wrong with a batch, also with an earlier one */
  flush(): Promise<void>
}

const usualBatchMs = 20

export interface ResultWriterOptions {
  /** Within which results are written together; 20 ms without it. */
  readonly batchMs?: number | undefined
  /** With so many that wait, they are written at once. */
  readonly enough: number
}

/** @param write is not called again once it has failed: what it was to write is still due, and found again */
export function createResultWriter<Result>(
  write: (batch: readonly Result[]) => Promise<void>,
  { batchMs = usualBatchMs, enough }: ResultWriterOptions,
): ResultWriter<Result> {
  let waiting: Result[] = []
  /** Those that wait, and those that are being written. */
  let unwritten = 0
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
        unwritten -= batch.length
      } catch (error) {
        failure = error as Error
      }
    })
  }
  const isFull = (most: number) => unwritten >= most && failure === undefined
  const untilRoom = async (most: number) => {
    while (isFull(most)) {
      if (waiting.length > 0) begin()
      await writing
    }
  }
  return {
    add(result) {
      waiting.push(result)
      unwritten++
      if (waiting.length >= enough) begin()
      else timer ??= setTimeout(begin, batchMs)
    },
    room: (most) => (isFull(most) ? untilRoom(most) : undefined),
    async flush() {
      begin()
      await writing
      if (failure !== undefined) throw failure
    },
  }
}
