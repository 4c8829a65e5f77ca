import type { Config } from '../../config/index.ts'
import { createBucketStorage } from '../../media/bucket.ts'
import { stagingOf } from '../../media/create.ts'
import { describeDestination, openDestination } from '../destination.ts'
import { createLedgerBucket, createLedgerFolder, type LedgerDestination } from './destinations.ts'

/**
 * Where the ledger is kept: beside the data, that is, in the bucket of the files or in the data folder, and where backups go, since
 * whoever loses the one has the other.
 * @param mediaDir the folder for files of messages, where what is on its way to a bucket waits
 */
export function openLedgerDestinations(
  config: Pick<Config, 'mediaBucket' | 'mediaStagingDir' | 'backup'>,
  dataDir: string,
  mediaDir: string,
): LedgerDestination[] {
  const { mediaBucket, backup } = config
  const staging = stagingOf(config, mediaDir)
  const beside =
    mediaBucket === undefined
      ? createLedgerFolder(dataDir)
      : createLedgerBucket(createBucketStorage(mediaBucket, staging), `s3://${mediaBucket.bucket}/`)
  const { destination } = backup
  if (destination === undefined) return [beside]
  const withBackups =
    destination.kind === 'folder'
      ? createLedgerFolder(destination.folder)
      : createLedgerBucket(openDestination(destination, { staging }), describeDestination(destination))
  return beside.name === withBackups.name ? [beside] : [beside, withBackups]
}
