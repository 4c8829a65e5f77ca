import { createHash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { FileStore } from '../media/storage.ts'
import { readFileList } from './files.ts'
import { filesFolder, inBackup, type Manifest, readManifest } from './format.ts'
import { inTurns } from './in-turns.ts'
import { openBox } from './keys.ts'

export interface Checked {
  readonly manifest: Manifest
  /** What is wrong with it, each in a sentence; none: it is as it was written. */
  readonly problems: readonly string[]
}

/** What is looked at at the same time. */
const atOnce = 4
/** Enough to see what it is about. */
const mostProblems = 50

/**
 * Reads a whole backup and compares it with its manifest: sizes, checksums, and the rows of each part.
 * @throws BackupError when the manifest itself cannot be read
 */
export async function checkBackup(
  destination: FileStore,
  id: string,
  onProgress: (done: { readonly parts: number; readonly of: number; readonly files: number }) => void = () => {},
): Promise<Checked> {
  const manifest = await readManifest(destination, id)
  const problems: string[] = []
  const report = (problem: string | undefined) => {
    if (problem !== undefined && problems.length < mostProblems) problems.push(problem)
  }
  const parts = [...manifest.tables.flatMap((table) => table.parts), ...manifest.files.list]
  const done = { parts: 0, of: parts.length, files: 0 }
  await inTurns(parts, atOnce, async (part) => {
    report(await compare(destination, inBackup(id, part.file), part, part.rows))
    done.parts++
    onProgress(done)
  })
  report(await checkKeys(destination, manifest))
  // A list of files that is not what was written is not gone by.
  if (problems.length > 0) return { manifest, problems }
  for (const { schema, name, rows, parts } of manifest.tables) {
    const sum = parts.reduce((total, part) => total + part.rows, 0)
    if (sum !== rows) report(`the parts of ${schema}.${name} have ${sum} rows, not the ${rows} of the manifest`)
  }
  const batch: { path: string; bytes: number; sha256: string }[] = []
  const checkFiles = async () => {
    await inTurns(batch.splice(0), atOnce, async (file) =>
      report(await compare(destination, `${filesFolder}${file.path}`, file)),
    )
    onProgress(done)
  }
  for await (const file of readFileList(destination, manifest)) {
    done.files++
    if (batch.push(file) >= 500) await checkFiles()
  }
  await checkFiles()
  if (done.files !== manifest.files.count) {
    report(`the list of files names ${done.files}, not the ${manifest.files.count} of the manifest`)
  }
  return { manifest, problems }
}

/** Whether the keys are there that a backup holds, as far as can be seen without their passphrase. @returns what is wrong */
async function checkKeys(destination: FileStore, { id, keys: { sealed } }: Manifest): Promise<string | undefined> {
  if (sealed === null) return undefined
  const name = inBackup(id, sealed)
  if ((await destination.sizeOf(name)) === undefined) return `${name} is missing`
  return openBox(await buffer(await destination.read(name, undefined))) === undefined ? `${name} is damaged` : undefined
}

/**
 * @param rows that a packed file has; undefined of one that is kept as it is
 * @returns what is wrong
 */
async function compare(
  destination: FileStore,
  name: string,
  { bytes, sha256 }: { readonly bytes: number; readonly sha256: string },
  rows?: number,
): Promise<string | undefined> {
  const size = await destination.sizeOf(name)
  if (size === undefined) return `${name} is missing`
  if (size !== bytes) return `${name} has ${size} bytes, not ${bytes}`
  const hash = createHash('sha256')
  const content = await destination.read(name, undefined)
  let found: number | undefined
  try {
    if (rows === undefined) await pipeline(content, hash)
    else {
      const hashed = new PassThrough().on('data', (chunk: Buffer) => hash.update(chunk))
      await pipeline(content, hashed, createGunzip(), async (lines) => {
        found = await countRows(lines as AsyncIterable<Buffer>)
      })
    }
  } catch (error) {
    return `${name} is damaged: ${(error as Error).message}`
  }
  if (hash.digest('hex') !== sha256) return `${name} is damaged: it does not have the checksum of the manifest`
  return found === rows ? undefined : `${name} has ${found} rows, not the ${rows} of the manifest`
}

async function countRows(lines: AsyncIterable<Buffer>): Promise<number> {
  let count = 0
  for await (const chunk of lines) {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) count++
  }
  return count
}
