import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type pg from 'pg'
import { pathOf } from '../media/path.ts'
import type { Pace } from '../media/steps.ts'
import type { FileStore } from '../media/storage.ts'
import {
  BackupError,
  type FileEntry,
  type FilesEntry,
  filesFolder,
  inBackup,
  listBackups,
  type Manifest,
  readManifest,
} from './format.ts'
import { inTurns } from './in-turns.ts'
import { readPart, writeParts } from './parts.ts'
import type { Snapshot } from './snapshot.ts'

export interface FilesProgress {
  readonly files: number
  readonly bytes: number
  /** Those that were copied now; the others were there already. */
  readonly copied: number
}

const pageSize = 2000
/** Files that are copied at the same time. */
const atOnce = 4
const examples = 100

const selectFiles = `
  select app_id as "appId", key, size
  from media_files
  where (app_id, key) > ($1, $2)
  and removed_at is null
  and not arriving
  order by app_id, key
  limit ${pageSize}`

const isKnown = `
  select from media_files
  where app_id = $1
  and key = $2
  and removed_at is null`

interface Row {
  readonly appId: number
  readonly key: string
  /** Bytes, as they came in. */
  readonly size: number
}

/**
 * Copies the files that the snapshot knows and no backup before has brought, and writes the list of all of them.
 * @param now a connection that sees what has happened since: what was removed meanwhile is no loss
 */
export async function copyFiles(
  {
    destination,
    media,
    id,
    snapshot,
    now,
    pace,
    onWarning,
  }: {
    readonly destination: FileStore
    readonly media: FileStore
    readonly id: string
    readonly snapshot: Snapshot
    readonly now: pg.Client
    readonly pace: Pace
    readonly onWarning: (text: string) => void
  },
  onProgress: (progress: FilesProgress) => void,
): Promise<FilesEntry> {
  const before = await readKnown(destination, onWarning)
  const missing: string[] = []
  const total = { files: 0, bytes: 0, copied: 0 }
  const copy = async ({ appId, key, size }: Row): Promise<FileEntry | undefined> => {
    const path = pathOf(appId, key)
    const known = before.get(path)
    // Another size had a file that was cut off when it was copied.
    if (known?.bytes === size) return known
    const entry = await copyIfThere(media, path, destination)
    if (entry === undefined) {
      if (known !== undefined) return known
      if (((await now.query(isKnown, [appId, key])).rowCount ?? 0) > 0) missing.push(path)
      return undefined
    }
    total.copied++
    return { path, ...entry }
  }
  async function* lines(): AsyncGenerator<Buffer> {
    for await (const rows of pages(snapshot.client)) {
      const entries = (await inTurns(rows, atOnce, copy)).filter((entry) => entry !== undefined)
      total.files += entries.length
      total.bytes += entries.reduce((sum, { bytes }) => sum + bytes, 0)
      onProgress(total)
      yield Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    }
  }
  // In this order: the list is read to its end before the totals are taken.
  const list = await writeParts(destination, id, (number) => `files.${number}.ndjson.gz`, lines(), { pace })
  return {
    list,
    ...{ count: total.files, bytes: total.bytes },
    ...{ missing: missing.length, examplesOfMissing: missing.slice(0, examples) },
  }
}

async function* pages(client: pg.Client): AsyncGenerator<Row[]> {
  for (let after: Pick<Row, 'appId' | 'key'> = { appId: 0, key: '' }; ; ) {
    const { rows } = await client.query<Row>(selectFiles, [after.appId, after.key])
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = last
  }
}

/**
 * Files that the newest backup has, and that are still there, of the size that it tells. It only saves copying: one that is damaged or of a newer version is
 * passed over for the one before. One that cannot be reached now is not: everything would be copied again.
 */
async function readKnown(
  destination: FileStore,
  onWarning: (text: string) => void,
): Promise<ReadonlyMap<string, FileEntry>> {
  const ids = (await listBackups(destination)).reverse()
  if (ids.length === 0) return new Map()
  const there = await destination.sizesBelow(filesFolder)
  for (const id of ids) {
    try {
      return await readKnownOf(destination, id, there)
    } catch (error) {
      if (!isDamage(error)) throw error
      onWarning(
        `the files of the backup ${id} are not known, and copied again if no other backup has them: ${(error as Error).message}`,
      )
    }
  }
  return new Map()
}

/** Whether a backup could be reached, and is not as it was written or as this version reads it. */
function isDamage(error: unknown): boolean {
  if (error instanceof BackupError || error instanceof SyntaxError) return true
  // As gzip names what is wrong with its data.
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_')
}

async function readKnownOf(
  destination: FileStore,
  id: string,
  there: ReadonlyMap<string, number>,
): Promise<Map<string, FileEntry>> {
  const known = new Map<string, FileEntry>()
  for await (const entry of readFileList(destination, await readManifest(destination, id))) {
    if (there.get(`${filesFolder}${entry.path}`) === entry.bytes) known.set(entry.path, entry)
  }
  return known
}

/**
 * The files of a backup, one by one.
 * @throws BackupError when a part of the list is not there
 */
export async function* readFileList(destination: FileStore, { id, files }: Manifest): AsyncGenerator<FileEntry> {
  for (const part of files.list) {
    if ((await destination.sizeOf(inBackup(id, part.file))) === undefined) {
      throw new BackupError(`The backup ${id} is damaged: ${part.file} is missing.`)
    }
    let rest = ''
    for await (const text of (await readPart(destination, id, part)).setEncoding('utf8')) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() as string
      for (const line of lines) yield JSON.parse(line) as FileEntry
    }
  }
}

/** @returns undefined where there is no such file, or it was removed before it was read */
async function copyIfThere(media: FileStore, path: string, destination: FileStore) {
  if ((await media.sizeOf(path)) === undefined) return undefined
  try {
    return await copyFile(media, path, destination, `${filesFolder}${path}`)
  } catch (error) {
    if ((await media.sizeOf(path)) === undefined) return undefined
    throw error
  }
}

/** Copies a file. @returns what was copied */
export async function copyFile(
  from: FileStore,
  path: string,
  to: FileStore,
  name: string,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  const source = await from.read(path, undefined)
  async function* hashed() {
    for await (const chunk of source) {
      hash.update(chunk as Buffer)
      yield chunk as Buffer
    }
  }
  const bytes = await to.write(name, Readable.from(hashed(), { objectMode: false }), 'application/octet-stream')
  return { bytes, sha256: hash.digest('hex') }
}
