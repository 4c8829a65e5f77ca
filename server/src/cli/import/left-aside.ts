import { stat } from 'node:fs/promises'
import path from 'node:path'
import { importKinds } from '@parley/contract'
import { readManifest, secretsName } from '../export/manifest.ts'
import { places } from '../export/places.ts'
import { exitCodes, ImportFailure } from './failure.ts'

/** A file of an export that an import over the API does not read. */
export interface LeftAside {
  readonly file: string
  readonly holds: string
  /** Undefined where nothing tells. */
  readonly records: number | undefined
}

/** Whether a folder is an export of this service. @throws ImportFailure for one that this version cannot read */
export async function isOfExport(folder: string): Promise<boolean> {
  return (await manifestOf(folder)) !== undefined
}

function manifestOf(folder: string) {
  return readManifest(folder).catch((error: Error) => {
    throw new ImportFailure(exitCodes.usage, error.message)
  })
}

/** Finds what a folder has that only `--exact` brings into another service; files without records are not named. */
export async function findLeftAside(folder: string): Promise<LeftAside[]> {
  const manifest = await manifestOf(folder)
  const others = places.filter(({ file }) => !(importKinds as readonly string[]).includes(file))
  const named = [
    ...others.map(({ file, holds }) => ({ file: `${file}.ndjson`, holds })),
    { file: secretsName, holds: 'API keys, auth tokens and other secrets' },
    { file: 'files', holds: 'Uploaded files: messages keep the addresses that they have' },
  ]
  const found = await Promise.all(
    named.map(async ({ file, holds }) => {
      const records = file === 'files' ? manifest?.media.files : manifest?.files[file]?.records
      const size = await stat(path.join(folder, file)).then(
        (status) => status.size,
        () => 0,
      )
      return size === 0 || records === 0 ? [] : [{ file, holds, records }]
    }),
  )
  return found.flat()
}
