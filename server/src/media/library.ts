import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { App } from '../chat/identity.ts'
import type { Log } from '../log.ts'
import type { Database, Queryable } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import type { ByteRange, MediaStorage } from './storage.ts'

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

/** The files of all apps: their bytes in the storage, what they are in the database. */
export interface MediaLibrary {
  /** Takes a file in. It stays only if a message comes to use it. */
  keep(app: App, file: { name: string; mimeType: string; content: Readable }): Promise<MediaFile>
  /** Gives up files that were taken in for a message that was then refused. */
  discard(app: App, keys: readonly string[]): Promise<void>
  /** @returns undefined for a file that was never here or is removed */
  find(app: App, key: string): Promise<MediaFile | undefined>
  open(app: App, file: MediaFile, range: ByteRange | undefined): Promise<Readable>
  stop(): void
}

const insert = statement(`
  insert into media_files (app_id, key, name, mime_type, size, created_at)
  values ($1, $2, $3, $4, $5, $6)`)

const select = statement(`
  select key, name, mime_type as "mimeType", size
  from media_files
  where app_id = $1
  and key = $2
  and removed_at is null`)

const markRemoved = statement(`
  update media_files f
  set removed_at = $3
  where f.app_id = $1
  and f.key = any($2::text[])
  and f.removed_at is null
  and not exists (select from media_uses u where u.app_id = f.app_id and u.key = f.key)`)

/** Marks those of some files as removed that no message uses any more; from then on they are not served. */
export async function removeUnused(on: Queryable, appId: number, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await on.query(markRemoved, [appId, keys, Math.floor(Date.now() / 1000)])
}

const markOrphans = statement(`
  update media_files f
  set removed_at = $1::bigint
  where f.removed_at is null
  and f.created_at < $1::bigint - $2::bigint
  and not exists (select from media_uses u where u.app_id = f.app_id and u.key = f.key)`)

const selectRemoved = statement(`
  select app_id as "appId", key
  from media_files
  where removed_at is not null
  order by removed_at
  limit 100`)

const forget = statement(`
  delete from media_files
  where app_id = $1
  and key = $2`)

const sweepIntervalMs = 60_000
/** A file that no message uses after this was given up: the process died between taking it in and sending. */
const orphanAfterSeconds = 24 * 3600

export function createMediaLibrary(database: Database, storage: MediaStorage, log: Log): MediaLibrary {
  const timer = setInterval(() => {
    sweep(database, storage).catch((err: unknown) =>
      log.warn({ err }, 'files of deleted messages could not be deleted'),
    )
  }, sweepIntervalMs)
  timer.unref()

  return {
    async keep(app, { name, mimeType, content }) {
      const key = randomBytes(16).toString('hex')
      const size = await storage.write(pathOf(app.appId, key), content, mimeType)
      await database.query(insert, [app.appId, key, name, mimeType, size, Math.floor(Date.now() / 1000)])
      return { key, name, mimeType, size }
    },
    discard: (app, keys) => removeUnused(database, app.appId, keys),
    async find(app, key) {
      const [file] = await database.query<MediaFile>(select, [app.appId, key])
      return file
    },
    open: (app, file, range) => storage.read(pathOf(app.appId, file.key), range),
    stop: () => clearInterval(timer),
  }
}

/** Removes the bytes of files that are not served any more. */
export async function sweep(database: Database, storage: MediaStorage): Promise<void> {
  await database.query(markOrphans, [Math.floor(Date.now() / 1000), orphanAfterSeconds])
  for (const { appId, key } of await database.query<{ appId: number; key: string }>(selectRemoved)) {
    await storage.remove(pathOf(appId, key))
    await database.query(forget, [appId, key])
  }
}

/** Spread over folders, so that none grows without bounds. */
function pathOf(appId: number, key: string): string {
  return `${appId}/${key.slice(0, 2)}/${key}`
}
