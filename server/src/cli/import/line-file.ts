import { type FileHandle, open } from 'node:fs/promises'

/** A file that only its owner may read, one JSON object a line. The first record makes it. */
export interface LineFile<Row> {
  readonly path: string
  /** Lines written so far. */
  readonly lines: number
  /** Adds one line for each record, after those that were given before. */
  write(rows: readonly Row[]): Promise<void>
  close(): Promise<void>
}

/** @param onFailure what becomes of a line that cannot be written; it throws */
export function createLineFile<Row>(file: string, onFailure: (error: Error) => never): LineFile<Row> {
  let handle: FileHandle | undefined
  let lines = 0
  let writing: Promise<void> = Promise.resolve()
  const append = async (rows: readonly Row[]) => {
    handle ??= await open(file, 'w', 0o600)
    await handle.appendFile(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    lines += rows.length
  }
  return {
    path: file,
    get lines() {
      return lines
    },
    write(rows) {
      if (rows.length === 0) return Promise.resolve()
      writing = writing.then(() => append(rows)).catch(onFailure)
      return writing
    },
    async close() {
      await handle?.close()
    },
  }
}
