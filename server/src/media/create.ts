import path from 'node:path'
import type { Config } from '../config/index.ts'
import { createBucketStorage } from './bucket.ts'
import { createFolderStorage } from './folder.ts'
import type { FileStore } from './storage.ts'

/**
 * The storage that the configuration asks for.
 * @param folder for files, and for what is on its way to a bucket
 */
export function createMediaStorage(config: Pick<Config, 'mediaBucket' | 'mediaStagingDir'>, folder: string): FileStore {
  const { mediaBucket } = config
  if (mediaBucket === undefined) return createFolderStorage(folder)
  return createBucketStorage(mediaBucket, stagingOf(config, folder))
}

/**
 * The folder for what is on its way to a bucket.
 * @param folder for files
 */
export function stagingOf({ mediaStagingDir }: Pick<Config, 'mediaStagingDir'>, folder: string): string {
  return mediaStagingDir ?? path.join(folder, 'staging')
}
