import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { MediaStorage } from './storage.ts'

/** Keeps files in a folder; a file appears under its name only when it is whole and on the disk. */
export function createFolderStorage(folder: string): MediaStorage {
  return {
    async write(name, content) {
      const file = path.join(folder, name)
      const partial = `${file}.partial`
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
    remove: (name) => rm(path.join(folder, name), { force: true }),
  }
}

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
