import path from 'node:path'
import type { BackupDestination } from '../config/backup.ts'
import { createBucketStorage } from '../media/bucket.ts'
import { createFolderStorage } from '../media/folder.ts'
import type { Pace } from '../media/steps.ts'
import type { FileStore } from '../media/storage.ts'

/**
 * Opens a destination for backups.
 * @param options.staging folder for what is on its way to a bucket; left out: in the system's temporary folder, whoever uses that, too
 * @param options.pace at which files are written to a folder; left out: as fast as they come
 */
export function openDestination(
  destination: BackupDestination,
  { staging, pace }: { readonly staging?: string | undefined; readonly pace?: Pace } = {},
): FileStore {
  if (destination.kind === 'folder') return createFolderStorage(path.resolve(destination.folder), pace)
  return below(createBucketStorage(destination.settings, staging), destination.prefix)
}

/** As people write it. */
export function describeDestination(destination: BackupDestination): string {
  return destination.kind === 'folder'
    ? path.resolve(destination.folder)
    : `s3://${destination.settings.bucket}/${destination.prefix}`
}

/** A folder of a storage, as a storage. */
export function below(store: FileStore, prefix: string): FileStore {
  return {
    write: (name, content, mimeType) => store.write(prefix + name, content, mimeType),
    read: (name, range) => store.read(prefix + name, range),
    remove: (name) => store.remove(prefix + name),
    list: async (inside) => (await store.list(prefix + inside)).map((name) => name.slice(prefix.length)),
    sizesBelow: async (inside) =>
      new Map([...(await store.sizesBelow(prefix + inside))].map(([name, size]) => [name.slice(prefix.length), size])),
    sizeOf: (name) => store.sizeOf(prefix + name),
    tidyBelow: (inside, before) => store.tidyBelow(prefix + inside, before),
    freeBytes: () => store.freeBytes(),
    tidy: (now) => store.tidy(now),
  }
}
