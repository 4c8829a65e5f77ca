import type { Config } from '../config/index.ts'
import { createBucketStorage } from './bucket.ts'
import { createFolderStorage } from './folder.ts'
import type { MediaStorage } from './storage.ts'

/** The storage that the configuration asks for. */
export function createMediaStorage({ mediaBucket }: Pick<Config, 'mediaBucket'>, folder: string): MediaStorage {
  return mediaBucket === undefined ? createFolderStorage(folder) : createBucketStorage(mediaBucket)
}
