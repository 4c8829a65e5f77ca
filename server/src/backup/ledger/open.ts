import type { Config } from '../../config/index.ts'
import { createBucketStorage } from '../../media/bucket.ts'
import { stagingOf } from '../../media/create.ts'
import { describePlace, openPlace } from '../place.ts'
import { createLedgerBucket, createLedgerFolder, type LedgerPlace } from './places.ts'

/**
 * Where the ledger is kept: beside the data, that is, in the bucket of the files or in the data folder, and where backups go, since
 * whoever loses the one has the other.
 * @param mediaDir the folder for files of messages, where what is on its way to a bucket waits
 */
export function openLedgerPlaces(
  config: Pick<Config, 'mediaBucket' | 'mediaStagingDir' | 'backup'>,
  dataDir: string,
  mediaDir: string,
): LedgerPlace[] {
  const { mediaBucket, backup } = config
  const staging = stagingOf(config, mediaDir)
  const beside =
    mediaBucket === undefined
      ? createLedgerFolder(dataDir)
      : createLedgerBucket(createBucketStorage(mediaBucket, staging), `s3://${mediaBucket.bucket}/`)
  const { place } = backup
  if (place === undefined) return [beside]
  const withBackups =
    place.kind === 'folder'
      ? createLedgerFolder(place.folder)
      : createLedgerBucket(openPlace(place, { staging }), describePlace(place))
  return beside.name === withBackups.name ? [beside] : [beside, withBackups]
}
