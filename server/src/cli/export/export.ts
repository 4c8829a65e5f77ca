import { mkdir } from 'node:fs/promises'
import type { App } from '../../chat/identity.ts'
import type { Pace } from '../../media/steps.ts'
import type { FileStore } from '../../media/storage.ts'
import type { Secrets } from '../../store/secrets.ts'
import { version } from '../../version.ts'
import { type Manifest, manifestName, secretsName } from './manifest.ts'
import { type CopiedFiles, copyOut, makePortable } from './media.ts'
import { places } from './places.ts'
import { readingOf } from './records.ts'
import { type PassphraseCost, sealBlocks } from './seal.ts'
import { readSecrets } from './secrets.ts'
import { openSnapshot, type Snapshot } from './snapshot.ts'
import { openRecordFile, type WrittenFile, writeWhole } from './write.ts'

export interface ExportSource {
  readonly connectionString: string
  readonly app: App
  readonly secrets: Secrets
  readonly storage: Pick<FileStore, 'read' | 'sizeOf'>
}

export interface ExportOptions {
  readonly folder: string
  /** Without one, secrets are left out. */
  readonly passphrase: string | undefined
  /** What it costs to try it, if not what it should. Tests, which export all the time, say so. */
  readonly passphraseCost?: PassphraseCost | undefined
  readonly pace: Pace
  readonly signal: AbortSignal
  readonly onProgress: (file: string, records: number) => void
}

export interface Exported {
  readonly manifest: Manifest
  readonly copied: CopiedFiles
}

export class ExportStopped extends Error {}

/** Records of secrets in one sealed block. */
const blockRecords = 500

/**
 * Writes everything that an app is into a folder, as it stood at one moment; people may go on. The folder is an export once its
 * manifest is there, which is written last. What was interrupted begins anew with what stands then, and copies no file twice.
 */
export async function exportApp(source: ExportSource, options: ExportOptions): Promise<Exported> {
  const { app, storage } = source
  const { folder, pace, signal } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const snapshot = await openSnapshot(source.connectionString, pace)
  let made: Omit<Manifest, 'media'>
  let media: Array<{ key: string; size: number }>
  try {
    const exportedAt = Math.floor(Date.now() / 1000)
    media = await readMedia(snapshot, app.appId)
    const toPortable = makePortable(app.name, new Set(media.map(({ key }) => key)))
    const files: Record<string, WrittenFile> = {}
    for (const place of places) {
      const name = `${place.file}.ndjson`
      const { sql, write } = readingOf(snapshot.catalogue, place)
      const file = await openRecordFile(folder, name, pace)
      try {
        let records = 0
        for await (const rows of snapshot.read(sql, app.appId)) {
          if (signal.aborted) throw new ExportStopped('stopped')
          const text = await pace.step(async () => rows.map((row) => `${toPortable(write(row))}\n`).join(''))
          await file.write(text, rows.length)
          records += rows.length
          options.onProgress(name, records)
        }
        files[name] = await file.finish()
      } catch (error) {
        await file.abandon()
        throw error
      }
    }
    if (options.passphrase !== undefined) await writeSecrets(snapshot, source, options, options.passphrase)
    made = {
      ...{ format: 'parley-export', version: 1, parley: version, app: app.name, exportedAt },
      ...{ migration: snapshot.migration, settings: await readSettings(snapshot, app.appId), files },
      lostPasswords: await readLostPasswords(snapshot, app.appId),
      hasSecrets: options.passphrase !== undefined,
    }
  } finally {
    await snapshot.close()
  }
  const copied = await copyOut(storage, app.appId, media, folder, { pace, signal })
  if (signal.aborted) throw new ExportStopped('stopped')
  const manifest: Manifest = {
    ...made,
    media: { files: media.length, missing: copied.missing, digests: copied.digests },
  }
  await writeWhole(folder, manifestName, `${JSON.stringify(manifest, undefined, 2)}\n`)
  return { manifest, copied }
}

async function writeSecrets(
  snapshot: Snapshot,
  { app, secrets }: ExportSource,
  { folder, passphraseCost }: ExportOptions,
  passphrase: string,
): Promise<void> {
  const blocks: string[] = []
  let lines: string[] = []
  for await (const record of readSecrets(snapshot, app.appId, secrets)) {
    lines.push(JSON.stringify(record))
    if (lines.length < blockRecords) continue
    blocks.push(lines.join('\n'))
    lines = []
  }
  blocks.push(lines.join('\n'))
  await writeWhole(folder, secretsName, sealBlocks(passphrase, blocks, passphraseCost))
}

async function readMedia(snapshot: Snapshot, appId: number): Promise<Array<{ key: string; size: number }>> {
  const files: Array<{ key: string; size: number }> = []
  const sql = 'select key, size from media_files where app_id = $1 and removed_at is null and not arriving order by key'
  for await (const rows of snapshot.read(sql, appId)) {
    for (const [key, size] of rows) files.push({ key: key as string, size: Number(size) })
  }
  return files
}

async function readSettings(snapshot: Snapshot, appId: number): Promise<Manifest['settings']> {
  for await (const [row] of snapshot.read('select settings from apps where app_id = $1', appId)) {
    const text = row?.[0]
    return text === null || text === undefined ? null : (JSON.parse(text) as Manifest['settings'])
  }
  return null
}

/** Groups of which a password is kept that depends on this service. */
async function readLostPasswords(snapshot: Snapshot, appId: number): Promise<string[]> {
  const guids: string[] = []
  const sql = `select guid from groups where app_id = $1 and password_digest is not null
    and not (length(password_digest) = 49 and get_byte(password_digest, 0) = 2) order by guid`
  for await (const rows of snapshot.read(sql, appId)) guids.push(...rows.map(([guid]) => guid as string))
  return guids
}
