import { createReadStream } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pathOf } from '../../../media/path.ts'
import type { FileStore } from '../../../media/storage.ts'
import type { Database } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { type FileDigest, hashing } from '../../export/file-digests.ts'
import { sizeOf } from '../../export/media.ts'
import { readLines } from '../../lines.ts'
import { ExactRefusal, ExactStopped } from './failures.ts'

export interface ImportingFiles {
  readonly database: Pick<Database, 'query'>
  readonly storage: Pick<FileStore, 'write' | 'sizesBelow'>
  readonly appId: number
  readonly folder: string
  readonly signal: AbortSignal
  /** Digests of files by their keys, as far as the export has them. */
  readonly digests: ReadonlyMap<string, FileDigest>
  /** Lines of media.ndjson that an earlier run has done, or all of them. */
  readonly done: number
  /** Told of every line. */
  readonly onLine: (line: number) => void
  /** Told from time to time up to which line of its own the import has come. */
  readonly save: (line: number) => Promise<void>
}

export interface ImportedFiles {
  /** Keys of files that neither the folder nor the storage has. */
  readonly missing: readonly string[]
  /** Keys of those that the folder has otherwise than they were exported. They are not stored. */
  readonly damaged: readonly string[]
  /** How many were stored of which only the size could be checked. */
  readonly unchecked: number
  /** How many came that an earlier run had not found. */
  readonly late: number
}

const isThere = statement(`
  select true as "isThere"
  from media_files
  where app_id = $1
  and key = $2
  and removed_at is null`)

/** Puts the files of an export into the storage, also those that an earlier run did not find in the folder. */
export async function importFiles(importing: ImportingFiles): Promise<ImportedFiles> {
  const { database, storage, appId, folder, digests, signal, done, onLine, save } = importing
  const [missing, damaged]: [string[], string[]] = [[], []]
  let [unchecked, late] = [0, 0]
  const stored = done > 0 ? await storage.sizesBelow(`${appId}/`) : new Map<string, number>()
  let line = 0
  for await (const text of readLines(path.join(folder, 'media.ndjson'))) {
    line += 1
    if (signal.aborted) throw new ExactStopped('stopped')
    const { key, mimeType, size } = JSON.parse(text) as { key: string; mimeType: string; size: number }
    if (!/^[0-9a-f]{32}$/.test(key)) throw new ExactRefusal(`media.ndjson names a file that cannot be: ${key}`)
    const target = pathOf(appId, key)
    const isEarlier = line <= done
    if (isEarlier) {
      if (stored.get(target) === size) continue
      // Since the import is finished, people may have removed it.
      if ((await database.query(isThere, [appId, key])).length === 0) continue
    }
    const file = path.join(folder, 'files', key)
    const found = await sizeOf(file)
    const digest = digests.get(key)
    if (found === undefined) missing.push(key)
    else if (found !== size || !(await store(storage, target, file, digest, mimeType))) damaged.push(key)
    else {
      if (digest === undefined) unchecked += 1
      if (isEarlier) late += 1
    }
    if (!isEarlier && line % 20 === 0) await save(line)
    onLine(line)
  }
  return { missing, damaged, unchecked, late }
}

class Damaged extends Error {}

/** Stores a file, if it is what its digest says. */
async function store(
  storage: Pick<FileStore, 'write'>,
  target: string,
  file: string,
  digest: FileDigest | undefined,
  mimeType: string,
): Promise<boolean> {
  const content = hashing(createReadStream(file), (sha256) => {
    // Nothing stays of what ends in an error.
    if (digest !== undefined && digest.sha256 !== sha256) throw new Damaged(file)
  })
  try {
    await storage.write(target, Readable.from(content, { objectMode: false }), mimeType)
    return true
  } catch (error) {
    if (error instanceof Damaged) return false
    throw error
  }
}
