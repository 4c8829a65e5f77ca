import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { freeBytesOf } from './free-space.ts'
import type { MediaStorage } from './storage.ts'

/** Keeps files in a folder; a file appears under its name only when it is whole and on the disk. */
export function createFolderStorage(folder: string): MediaStorage {
  return {
    async write(name, content) {
      const file = path.join(folder, name)
      const partial = partialOf(file)
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      try {
        await pipeline(content, createWriteStream(partial, { mode: 0o600, flush: true }))
        const { size } = await stat(partial)
        await rename(partial, file)
        await syncFolder(path.dirname(file))
        return size
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      }
    },
    async read(name, range) {
      const file = path.join(folder, name)
      await stat(file)
      return createReadStream(file, range && { start: range.start, end: range.end })
    },
    async remove(name) {
      const file = path.join(folder, name)
      await rm(file, { force: true })
      await rm(partialOf(file), { force: true })
    },
    freeBytes: () => freeBytesOf(folder),
    // Files that did not arrive are removed by their names.
    tidy: async () => {},
  }
}

/** Where a file is until it is whole. */
const partialOf = (file: string) => `${file}.partial`

/** A rename is on the disk once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
