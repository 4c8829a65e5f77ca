import { type FileHandle, open } from 'node:fs/promises'

/** How fast something works through all that there is, beside people who are served. */
export interface Pace {
  /** How much one step should read, pack or write at most, in bytes: little while it gives way. */
  readonly bytesAtOnce: number
  /** Does a step. While it gives way, one step is done at a time, and none begins until this one has rested. */
  step<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Steps of writing after which what was written is brought to the disk. Whoever else has something brought there waits for all of it. */
const stepsInMemory = 16

/** Writes to a file in steps, and brings it to the disk as it goes. */
export function inSteps(file: FileHandle, pace: Pace): (chunk: Buffer) => Promise<void> {
  let waiting = 0
  return async (chunk) => {
    await pace.step(() => file.writeFile(chunk))
    waiting += chunk.length
    if (waiting < stepsInMemory * pace.bytesAtOnce) return
    await pace.step(() => file.datasync())
    waiting = 0
  }
}

/** Writes a file in steps, and brings it to the disk. */
export async function writeInSteps(path: string, content: AsyncIterable<Buffer>, pace: Pace): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    const write = inSteps(file, pace)
    for await (const chunk of content) await write(chunk)
    await pace.step(() => file.sync())
  } finally {
    await file.close()
  }
}
