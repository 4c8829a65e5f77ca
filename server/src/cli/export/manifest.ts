import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { WrittenFile } from './write.ts'

export const manifestName = 'manifest.json'
export const secretsName = 'secrets.ndjson.sealed'

/** What an export is of, and what is in it. It is written last: a folder without one is no export yet. */
export interface Manifest {
  readonly format: 'parley-export'
  readonly version: 1
  readonly parley: string
  readonly app: string
  readonly exportedAt: number
  /** The last migration of the database that it was made of. */
  readonly migration: string
  /** What the app has set itself. */
  readonly settings: Readonly<Record<string, unknown>> | null
  readonly files: Readonly<Record<string, WrittenFile>>
  /** Groups whose password cannot be checked elsewhere: it was not used since it was kept in the old way. */
  readonly lostPasswords: readonly string[]
  readonly media: {
    readonly files: number
    readonly missing: readonly string[]
    /** The list of digests; exports of before there was one have none. */
    readonly digests?: WrittenFile
  }
  readonly hasSecrets: boolean
}

/** @returns undefined where the folder is no export; @throws Error for one that this version cannot read */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(path.join(folder, manifestName), 'utf8').catch((error: unknown) => {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const manifest = JSON.parse(text) as Partial<Manifest>
  if (manifest.format !== 'parley-export') return undefined
  if (manifest.version !== 1)
    throw new Error(`${folder} is an export of the version ${manifest.version}, which this Parley cannot read`)
  return manifest as Manifest
}
