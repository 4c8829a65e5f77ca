import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { inSteps, type Pace } from '../../media/steps.ts'

/** What a file of an export holds: that it is whole can be checked by it. */
export interface WrittenFile {
  readonly records: number
  readonly bytes: number
  readonly sha256: string
}

/** A file of records that is being written. It has its name once it is whole. */
export interface RecordFile {
  write(text: string, records: number): Promise<void>
  /** Brings what was written to the disk, and gives the file its name. */
  finish(): Promise<WrittenFile>
  abandon(): Promise<void>
}

export async function openRecordFile(folder: string, name: string, pace: Pace): Promise<RecordFile> {
  const part = path.join(folder, `${name}.part`)
  const file: FileHandle = await open(part, 'w', 0o600)
  const write = inSteps(file, pace)
  const hash = createHash('sha256')
  let [records, bytes] = [0, 0]
  return {
    async write(text, count) {
      const content = Buffer.from(text)
      hash.update(content)
      records += count
      bytes += content.length
      await write(content)
    },
    async finish() {
      // What has nothing in it can lose nothing.
      if (bytes > 0) await pace.step(() => file.sync())
      await file.close()
      await rename(part, path.join(folder, name))
      return { records, bytes, sha256: hash.digest('hex') }
    },
    abandon: () => file.close(),
  }
}

/** Writes a file of one piece. */
export async function writeWhole(folder: string, name: string, text: string): Promise<void> {
  await writeFile(path.join(folder, `${name}.part`), text, { mode: 0o600, flush: true })
  await rename(path.join(folder, `${name}.part`), path.join(folder, name))
}
