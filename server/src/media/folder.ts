import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { freeBytesOf } from './free-space.ts'
import { type Pace, writeInSteps } from './steps.ts'
import type { FileStore } from './storage.ts'

/**
 * Keeps files in a folder; a file appears under its name only when it is whole and on the disk.
 * @param pace at which files are written; left out: as fast as they come
 */
export function createFolderStorage(folder: string, pace?: Pace): FileStore {
  return {
    async write(name, content) {
      const file = path.join(folder, name)
      const partial = partialOf(file)
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      try {
        if (pace === undefined) await pipeline(content, createWriteStream(partial, { mode: 0o600, flush: true }))
        else await writeInSteps(partial, content, pace)
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
    async list(prefix) {
      const entries = await readdir(path.join(folder, prefix), { recursive: true, withFileTypes: true }).catch(
        emptyWhereNone,
      )
      return entries.flatMap((entry) => {
        if (!entry.isFile() || entry.name.endsWith(partialEnding)) return []
        return [path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')]
      })
    },
    async sizeOf(name) {
      const found = await stat(path.join(folder, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      return found?.size
    },
    freeBytes: () => freeBytesOf(folder),
    // Files that did not arrive are removed by their names.
    tidy: async () => {},
  }
}

/** Where a file is until it is whole. */
const partialEnding = '.partial'
const partialOf = (file: string) => `${file}${partialEnding}`

function emptyWhereNone(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return []
  throw error
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
