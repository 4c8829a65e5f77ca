import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { App } from '../chat/identity.ts'
import type { Log } from '../log.ts'
import type { AgeClock } from '../store/age-clock.ts'
import type { Database, Queryable } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import { isDiskFull, noRoomForFiles } from './errors.ts'
import { metered } from './meter.ts'
import { pathOf } from './path.ts'
import type { ByteRange, MediaStorage } from './storage.ts'
import { claimSeconds, removeFiles, removeUnusedFiles, startSweeping } from './sweep.ts'
import { bytesLeft, countBytes, giveBackBytes, type Uploader, uploadDay } from './usage.ts'

/** A file as the library knows it. */
export interface MediaFile {
  readonly key: string
  readonly name: string
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
}

/** A file that came with a request, and the address at which it is served. */
export interface UploadedFile extends MediaFile {
  readonly url: string
}

/** A file on its way in. */
export interface ArrivingFile extends Omit<MediaFile, 'size'> {
  readonly content: Readable
  /** Scheme, host and port under which it came. */
  readonly origin: string
  /** Bytes that it can have at most; so many are counted until it is there. */
  readonly atMost: number
  /** The error for a file that has more. */
  readonly tooLarge: () => Error
}

/** The files of all apps: their bytes in the storage, what they are in the database. */
export interface MediaLibrary {
  /**
   * Asks whether an upload may begin, before any of it is read.
   * @param bytes that it will have; undefined where nobody says
   * @returns bytes that it can have
   * @throws 503 where the disk is nearly full, 429 or 400 where a quota would be passed
   */
  admit(uploader: Uploader, bytes: number | undefined): Promise<number>
  /**
   * Takes a file in. It stays only if a message comes to use it.
   * @returns undefined where there has been a file of this key
   * @throws 503 where there is no room for it, 429 or 400 where a quota would be passed
   */
  keep(uploader: Uploader, file: ArrivingFile): Promise<MediaFile | undefined>
  /** Removes files that were taken in for a message that was then refused. */
  discard(app: Pick<App, 'appId'>, keys: readonly string[]): Promise<void>
  /** @returns undefined for a file that was never here, is not here yet, or is removed */
  find(app: App, key: string): Promise<MediaFile | undefined>
  /** @throws MissingFileError where its bytes are gone */
  open(app: App, file: MediaFile, range: ByteRange | undefined): Promise<Readable>
  /** Whether the bytes of a file are there. */
  hasBytes(app: App, file: MediaFile): Promise<boolean>
  /** Bytes that can be written to the disk, and those that stay free there (0: uploads are taken whatever is free). */
  room(): Promise<{ readonly free: number; readonly keptFree: number }>
  /** Removes some of all files of an app that is removed itself. @returns how many @throws where none of them could be */
  removeSome(app: Pick<App, 'appId'>): Promise<number>
  /** Removes what is to be removed, now. */
  sweep(): Promise<void>
  stop(): void
}

export interface MediaLibraryOptions {
  readonly database: Database
  readonly ageClock: AgeClock
  readonly storage: MediaStorage
  readonly log: Log
  /** Bytes that stay free on the disk; 0: none. */
  readonly minFreeBytes: number
}

/** No request takes that long: a file that is still arriving then was given up. */
const arrivalSeconds = 3600
const warnIntervalMs = 60_000

const insert = statement(`
  insert into media_files (app_id, key, name, mime_type, size, created_at, claim_by, origin, arriving)
  values ($1, $2, $3, $4, $5, $6, $7, $8, true)
  on conflict do nothing
  returning key`)

const arrived = statement(`
  update media_files
  set arriving = false, size = $3, claim_by = $4
  where app_id = $1
  and key = $2
  and removed_at is null
  returning key`)

/** From now on it counts for nothing: its bytes are for whoever asks to give back. */
const markGivenUp = statement(`
  with given_up as (
    select app_id, key, size
    from media_files
    where app_id = $1
    and key = $2
    and arriving
    for update
  )
  update media_files f
  set removed_at = coalesce(f.removed_at, $3), size = 0
  from given_up g
  where f.app_id = g.app_id
  and f.key = g.key
  returning g.size`)

const select = statement(`
  select key, name, mime_type as "mimeType", size
  from media_files
  where app_id = $1
  and key = $2
  and removed_at is null
  and not arriving`)

const markRemoved = statement(`
  update media_files f
  set removed_at = $3
  where f.app_id = $1
  and f.key = any($2::text[])
  and f.removed_at is null
  and not exists (select from media_uses u where u.app_id = f.app_id and u.key = f.key)
  returning f.key`)

const markSome = statement(`
  update media_files f
  set removed_at = coalesce(f.removed_at, $2)
  from (
    select app_id, key
    from media_files
    where app_id = $1
    limit 200
    for update
  ) s
  where f.app_id = s.app_id
  and f.key = s.key
  returning f.key`)

/** Marks those of some files as removed that no message uses any more; from then on they are not served. @returns their keys */
export async function removeUnused(on: Queryable, appId: number, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const removed = await on.query<{ key: string }>(markRemoved, [appId, keys, nowSeconds()])
  return removed.map(({ key }) => key)
}

/** Makes the key of a new file: it cannot be guessed. */
export function newMediaKey(): string {
  return randomBytes(16).toString('hex')
}

export function createMediaLibrary({
  database,
  ageClock,
  storage,
  log,
  minFreeBytes,
}: MediaLibraryOptions): MediaLibrary {
  const sweeper = startSweeping({ database, ageClock, storage, log })
  /** Bytes of this process's uploads that have yet to be written. */
  let underway = 0
  let warnedAt = Number.NEGATIVE_INFINITY

  const requireRoom = async (bytes: number) => {
    if (minFreeBytes === 0) return
    const free = (await storage.freeBytes()) - underway
    if (free - bytes >= minFreeBytes) return
    if (performance.now() - warnedAt > warnIntervalMs) {
      warnedAt = performance.now()
      log.warn({ free, minFreeBytes }, 'uploads are refused: the disk is nearly full (MEDIA_MIN_FREE_MB)')
    }
    throw noRoomForFiles()
  }

  const reserve = (uploader: Uploader, day: number, { key, name, mimeType, atMost, origin }: ArrivingFile) =>
    database.transaction(async (tx) => {
      await countBytes(tx, uploader, day, atMost)
      const now = nowSeconds()
      const values = [uploader.appId, key, name, mimeType, atMost, now, now + arrivalSeconds, origin]
      const [made] = await tx.query(insert, values)
      if (made === undefined) await giveBackBytes(tx, uploader, day, atMost)
      return made !== undefined
    })

  const countArrived = (uploader: Uploader, day: number, key: string, atMost: number, size: number) =>
    database.transaction(async (tx) => {
      const values = [uploader.appId, key, size, nowSeconds() + claimSeconds]
      if ((await tx.query(arrived, values)).length === 0) throw new Error('a file was given up while it arrived')
      await giveBackBytes(tx, uploader, day, atMost - size)
    })

  /** Removes what has arrived of a file, unless it is there after all: the answer that it is may have been lost. */
  const giveUp = async (uploader: Uploader, day: number, key: string) => {
    const { appId } = uploader
    const isGivenUp = await database.transaction(async (tx) => {
      const [arriving] = await tx.query<{ size: number }>(markGivenUp, [appId, key, nowSeconds()])
      if (arriving !== undefined) await giveBackBytes(tx, uploader, day, arriving.size)
      return arriving !== undefined
    })
    // Its key is not free before its bytes are gone: whoever sends it again would lose theirs.
    if (isGivenUp) await removeFiles(database, storage, log, [{ appId, key }])
  }

  /** Writes a file, of which no more than was said may come. */
  const write = async ({ appId }: Uploader, { key, mimeType, content, atMost, tooLarge }: ArrivingFile) => {
    let left = atMost
    underway += left
    const count = (bytes: number) => {
      const counted = Math.min(bytes, left)
      left -= counted
      underway -= counted
      return counted === bytes
    }
    try {
      return await storage.write(pathOf(appId, key), metered(content, count, tooLarge), mimeType)
    } catch (error) {
      throw isDiskFull(error) ? noRoomForFiles() : error
    } finally {
      underway -= left
    }
  }

  return {
    async admit(uploader, bytes) {
      await requireRoom(bytes ?? 0)
      return Math.min(await bytesLeft(database, uploader, bytes ?? 1), bytes ?? Number.POSITIVE_INFINITY)
    },
    async keep(uploader, file) {
      const day = uploadDay()
      await requireRoom(file.atMost)
      if (!(await reserve(uploader, day, file))) return undefined
      try {
        const size = await write(uploader, file)
        await countArrived(uploader, day, file.key, file.atMost, size)
        return { key: file.key, name: file.name, mimeType: file.mimeType, size }
      } catch (error) {
        // What cannot be undone now is found by the sweep.
        await giveUp(uploader, day, file.key).catch((err: unknown) =>
          log.warn({ err }, 'could not mark a file as unused'),
        )
        throw error
      }
    },
    async discard({ appId }, keys) {
      const removed = (await removeUnused(database, appId, keys)).map((key) => ({ appId, key }))
      // Marked as removed they are not served; what cannot be removed now is left for the sweep.
      await removeUnusedFiles(database, storage, log, removed).catch((err: unknown) =>
        log.warn({ err }, 'files could not be removed'),
      )
    },
    async find(app, key) {
      const [file] = await database.query<MediaFile>(select, [app.appId, key])
      return file
    },
    open: (app, file, range) => storage.read(pathOf(app.appId, file.key), range),
    hasBytes: async (app, file) => (await storage.sizeOf(pathOf(app.appId, file.key))) !== undefined,
    room: async () => ({ free: (await storage.freeBytes()) - underway, keptFree: minFreeBytes }),
    async removeSome({ appId }) {
      const marked = await database.query<{ key: string }>(markSome, [appId, nowSeconds()])
      const files = marked.map(({ key }) => ({ appId, key }))
      if (files.length === 0) return 0
      const removed = await removeFiles(database, storage, log, files)
      if (removed === 0) throw new Error('the files of an app could not be removed')
      return removed
    },
    sweep: sweeper.sweep,
    stop: sweeper.stop,
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
