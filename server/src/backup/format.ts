import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { FileStore } from '../media/storage.ts'
import { clockMayDifferMs } from '../store/clock.ts'

/** What a backup holds, in `manifest.json`, which is written last: a backup without one was never finished. */
export interface Manifest {
  /** Rises when older versions could not read it any more. */
  readonly format: 1
  readonly id: string
  /** Times as ISO 8601. The data is that of the first. */
  readonly startedAt: string
  readonly finishedAt: string
  /** Version of Parley that wrote it, and of the PostgreSQL that it was read from. */
  readonly parley: string
  readonly postgres: string
  /** Names of the migrations that its tables have been through. */
  readonly migrations: readonly string[]
  /** Names of tables that were found beside ours and left out. */
  readonly foreign: readonly string[]
  /** The largest tables first. */
  readonly tables: readonly TableEntry[]
  /** How far each sequence was at the end, that is, at least as far as any row of this backup. */
  readonly sequences: readonly SequenceEntry[]
  readonly files: FilesEntry
  readonly keys: KeysEntry
}

export interface TableEntry {
  readonly schema: string
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
  readonly parts: readonly PartEntry[]
}

/** A file in the folder of the backup: rows in the text format of COPY, in members of gzip that can be unpacked apart. */
export interface PartEntry {
  readonly file: string
  /** Of the file as it is, packed. */
  readonly bytes: number
  readonly sha256: string
  readonly rows: number
  /** Bytes of the rows, unpacked. */
  readonly rawBytes: number
}

export interface SequenceEntry {
  readonly schema: string
  readonly name: string
  /** Null where nothing was drawn yet. */
  readonly lastValue: string | null
}

/** The files of messages. They are kept once for all backups of a destination, since none ever changes; `list` says which are of this one. */
export interface FilesEntry {
  readonly list: readonly PartEntry[]
  readonly count: number
  readonly bytes: number
  /** Those that the database knew and the storage did not have, at most a hundred of them named. */
  readonly missing: number
  readonly examplesOfMissing: readonly string[]
}

/** A file of a message: where it is in the storage, below `files/` in the destination of the backups too. */
export interface FileEntry {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

export interface KeysEntry {
  /** What tells whether a master key is that of the data; it does not lead to the key. */
  readonly check: string
  /** The file with the keys, sealed with a passphrase; null: they are not in this backup. */
  readonly sealed: string | null
}

/** A backup that cannot be read: damaged, unfinished, or of a newer version. Nothing was written. */
export class BackupError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BackupError'
  }
}

export const backupsFolder = 'backups/'
export const filesFolder = 'files/'
const manifestFile = 'manifest.json'
const checksumFile = 'manifest.json.sha256'

/** Where a file of a backup is at its destination. */
export const inBackup = (id: string, file: string) => `${backupsFolder}${id}/${file}`

const sha256Of = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex')

/** Writes the manifest, with a checksum as `sha256sum -c` reads it. From then on the backup is there. */
export async function writeManifest(
  destination: FileStore,
  manifest: Manifest,
  toStream: (text: string) => Readable,
): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 1)}\n`
  await destination.write(
    inBackup(manifest.id, checksumFile),
    toStream(`${sha256Of(text)}  ${manifestFile}\n`),
    'text/plain',
  )
  await destination.write(inBackup(manifest.id, manifestFile), toStream(text), 'application/json')
}

/** @throws BackupError when there is none, or it is not as it was written */
export async function readManifest(destination: FileStore, id: string): Promise<Manifest> {
  const [text, checksum] = await Promise.all([
    readText(destination, inBackup(id, manifestFile)),
    readText(destination, inBackup(id, checksumFile)),
  ])
  if (text === undefined) throw new BackupError(`The backup ${id} has no ${manifestFile}: it was never finished.`)
  if (checksum?.split(' ')[0] !== sha256Of(text)) {
    throw new BackupError(`The backup ${id} is damaged: ${manifestFile} does not have the checksum in ${checksumFile}.`)
  }
  const manifest = JSON.parse(text) as { readonly format: number; readonly parley: string }
  if (manifest.format !== 1) {
    throw new BackupError(
      `The backup ${id} was made by version ${manifest.parley} of Parley, which this version cannot read.`,
    )
  }
  return manifest as Manifest
}

async function readText(destination: FileStore, name: string): Promise<string | undefined> {
  if ((await destination.sizeOf(name)) === undefined) return undefined
  return (await buffer(await destination.read(name, undefined))).toString('utf8')
}

/**
 * Ids of the finished backups of a destination, oldest first: an id begins with its time. Those of a time that is still to come were made while
 * a clock was wrong; they stand before all others, so that none of them is taken for the newest, or stays instead of it.
 */
export async function listBackups(destination: FileStore): Promise<string[]> {
  const names = await destination.list(backupsFolder)
  const ids = names.flatMap((name) => /^backups\/([^/]+)\/manifest\.json$/.exec(name)?.[1] ?? []).sort()
  const latest = Date.now() + clockMayDifferMs
  const isToCome = (id: string) => (timeOf(id) ?? 0) > latest
  return [...ids.filter(isToCome), ...ids.filter((id) => !isToCome(id))]
}

/** When the backup with an id was begun, in epoch milliseconds; undefined for an id that does not say. */
export function timeOf(id: string): number | undefined {
  const time = Date.parse(id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'))
  return Number.isNaN(time) ? undefined : time
}

/**
 * The backup that was asked for, or the newest.
 * @throws BackupError when there is none
 */
export async function chooseBackup(destination: FileStore, wanted: string | undefined): Promise<string> {
  const ids = await listBackups(destination)
  const id = wanted ?? ids.at(-1)
  if (id === undefined) throw new BackupError('There is no backup there.')
  if (!ids.includes(id))
    throw new BackupError(`There is no finished backup ${id} there; there are: ${ids.join(', ') || 'none'}.`)
  return id
}
