import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { freeBytesOf } from './free-space.ts'
import { type Pace, writeInSteps } from './steps.ts'
import { type FileStore, MissingFileError } from './storage.ts'

/**
 * Keeps files in a folder; a file appears under its name only when it is whole and on the disk.
 * @param pace at which files are written; left out: as fast as they come
 */
export function createFolderStorage(folder: string, pace?: Pace): FileStore {
  const nameOf = (file: string) => path.relative(folder, file).split(path.sep).join('/')
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
      // Opened here, so that nothing is sent of what cannot be opened.
      const file = await unlessGone(open(path.join(folder, name)))
      if (file === undefined) throw new MissingFileError(name)
      return file.createReadStream(range && { start: range.start, end: range.end })
    },
    async remove(name) {
      const file = path.join(folder, name)
      await rm(file, { force: true })
      await rm(partialOf(file), { force: true })
    },
    async list(prefix) {
      const names: string[] = []
      for await (const files of filesBelow(path.join(folder, prefix)))
        for (const file of files) names.push(nameOf(file))
      return names
    },
    async sizesBelow(prefix) {
      const sizes = new Map<string, number>()
      for await (const files of filesBelow(path.join(folder, prefix))) {
        const found = await Promise.all(files.map(sizeOf))
        for (const [place, size] of found.entries()) if (size !== undefined) sizes.set(nameOf(files[place]!), size)
      }
      return sizes
    },
    sizeOf: (name) => sizeOf(path.join(folder, name)),
    async tidyBelow(prefix, before = Number.POSITIVE_INFINITY) {
      await tidyFolder(path.join(folder, prefix), before)
    },
    freeBytes: () => freeBytesOf(folder),
    // Files that did not arrive are removed by their names.
    tidy: async () => {},
  }
}

/** Where a file is until it is whole. */
const partialEnding = '.partial'
const partialOf = (file: string) => `${file}${partialEnding}`

/** Files below a folder, those of each folder together. A folder that is removed meanwhile has none. */
async function* filesBelow(folder: string): AsyncGenerator<string[]> {
  const entries = (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? []
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith(partialEnding))
  yield files.map(({ name }) => path.join(folder, name))
  for (const entry of entries) if (entry.isDirectory()) yield* filesBelow(path.join(folder, entry.name))
}

async function sizeOf(file: string): Promise<number | undefined> {
  return (await unlessGone(stat(file)))?.size
}

/** @returns whether it is gone */
async function tidyFolder(folder: string, before: number): Promise<boolean> {
  // As it was before something in it is removed.
  const found = await unlessGone(stat(folder))
  let isEmpty = true
  for (const entry of (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? []) {
    const each = path.join(folder, entry.name)
    const isGone = entry.isDirectory() ? await tidyFolder(each, before) : await tidyFile(each, before)
    isEmpty = isEmpty && isGone
  }
  if (!isEmpty || (found !== undefined && found.mtimeMs >= before)) return false
  // One that stays does no harm: something was put there meanwhile, or it is where another disk is mounted.
  return rmdir(folder).then(
    () => true,
    () => false,
  )
}

/** @returns whether it is gone */
async function tidyFile(file: string, before: number): Promise<boolean> {
  if (!file.endsWith(partialEnding)) return false
  const found = await unlessGone(stat(file))
  if (found !== undefined && found.mtimeMs >= before) return false
  await rm(file, { force: true })
  return true
}

async function unlessGone<Found>(finding: Promise<Found>): Promise<Found | undefined> {
  try {
    return await finding
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
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
