import path from 'node:path'
import type { Config } from '../config/index.ts'
import { createBucketStorage } from './bucket.ts'
import { createFolderStorage } from './folder.ts'
import type { FileStore } from './storage.ts'

/**
 * The storage that the configuration asks for.
 * @param folder for files, and for what is on its way to a bucket
 */
export function createMediaStorage(
  { mediaBucket, mediaStagingDir }: Pick<Config, 'mediaBucket' | 'mediaStagingDir'>,
  folder: string,
): FileStore {
  if (mediaBucket === undefined) return createFolderStorage(folder)
  return createBucketStorage(mediaBucket, mediaStagingDir ?? path.join(folder, 'staging'))
}
