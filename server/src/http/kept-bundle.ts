import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../log.ts'

/** The repository, from the sources and from what is built. */
export const repository = fileURLToPath(new URL('../../../', import.meta.url))

/** What a page is made of, by the path of each file. */
export type BundleFiles = ReadonlyMap<string, Buffer>

export interface BundleSource {
  /** What logs call it. */
  readonly name: string
  /** Folders and files of the repository that it is made of. */
  readonly sources: readonly string[]
  /** Folder of the repository in which it is kept until they change. */
  readonly kept: string
  /** @returns undefined where the tool that builds it is not installed: such are packages of development */
  readonly build: () => Promise<BundleFiles | undefined>
}

export interface Bundle {
  /** `missing`: there is nothing to build it with, or that failed. */
  readonly state: 'building' | 'ready' | 'missing'
  start(): void
  /** undefined where it is missing */
  files(): Promise<BundleFiles | undefined>
}

/** The program of a page: built once for each version of its sources, and kept for the starts to come. */
export function createBundle(log: Log, source: BundleSource): Bundle {
  let state: Bundle['state'] = 'building'
  let made: Promise<BundleFiles | undefined> | undefined
  const make = async () => {
    try {
      const files = await readOrBuild(log, source)
      state = files === undefined ? 'missing' : 'ready'
      return files
    } catch (error) {
      state = 'missing'
      log.warn({ page: source.name, cause: (error as Error).message }, 'could not build the bundle of a page')
      return undefined
    }
  }
  const files = () => {
    made ??= make()
    return made
  }
  return {
    get state() {
      return state
    },
    start: () => void files(),
    files,
  }
}

async function readOrBuild(log: Log, source: BundleSource): Promise<BundleFiles | undefined> {
  const folder = path.join(repository, source.kept)
  const [stamp, known] = await Promise.all([stampOf(source), readKept(folder)])
  // A package has what was built, and no sources.
  if (known !== undefined && (stamp === undefined || known.stamp === stamp)) return known.files
  if (stamp === undefined) return undefined
  const files = await source.build()
  if (files !== undefined) {
    // Where the folder cannot be written to, each start builds it.
    await keep(folder, stamp, files).catch((error: Error) =>
      log.debug({ page: source.name, cause: error.message }, 'could not cache the bundle of a page'),
    )
  }
  return files
}

/** A digest of everything that the page is made of; undefined where there are no sources. */
async function stampOf({ sources }: BundleSource): Promise<string | undefined> {
  try {
    const parts = await Promise.all([...sources, 'package-lock.json'].map((one) => filesOf(path.join(repository, one))))
    const digest = createHash('sha256')
    for (const file of parts.flat().sort()) digest.update(path.relative(repository, file)).update(await readFile(file))
    return digest.digest('hex')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Paths of the files in a folder, however deep; of a file, its own. */
async function filesOf(place: string): Promise<string[]> {
  try {
    const found = await readdir(place, { recursive: true, withFileTypes: true })
    return found.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [place]
    throw error
  }
}

/** Says which sources the files beside it were made of. */
const stampFile = '.built'

async function readKept(folder: string): Promise<{ readonly stamp: string; readonly files: BundleFiles } | undefined> {
  try {
    const stamp = await readFile(path.join(folder, stampFile), 'utf8')
    const files = await readFolder(folder)
    files.delete(stampFile)
    return { stamp, files }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** All files of a folder, by their paths in it. */
export async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const files = await filesOf(folder)
  const read = await Promise.all(files.map((file) => readFile(file)))
  return new Map(files.map((file, index) => [path.relative(folder, file).split(path.sep).join('/'), read[index]!]))
}

/** For the next start. The folder takes its place as a whole, so that nobody reads half of it. */
async function keep(folder: string, stamp: string, files: BundleFiles): Promise<void> {
  const made = `${folder}.${process.pid}`
  for (const [name, content] of [...files, [stampFile, stamp] as const]) {
    const file = path.join(made, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  await rm(folder, { recursive: true, force: true })
  // Another process that built the same may have been faster: what it kept is as good.
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }))
}
