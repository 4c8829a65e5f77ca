import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, inject } from 'vitest'
import { fullPace } from '../../src/backup/pace.ts'
import type { RegisteredApp } from '../../src/chat/apps.ts'
import { createAudit } from '../../src/chat/audit/audit.ts'
import { type Exported, type ExportOptions, exportApp } from '../../src/cli/export/export.ts'
import { readManifest } from '../../src/cli/export/manifest.ts'
import { openBlocks } from '../../src/cli/export/seal.ts'
import { type ExactOptions, type ExactTarget, importExactly } from '../../src/cli/import/exact/import.ts'
import type { Context } from '../../src/context.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import type { Pace } from '../../src/media/steps.ts'
import type { FileStore } from '../../src/media/storage.ts'
import type { ConnectionSettings } from '../../src/store/connection.ts'
import type { OwnServices } from './own-services.ts'
import { mediaFolder } from './service.ts'

export const passphrase = 'correct horse battery'
export const origin = 'https://chat.example.com'

/** A folder for the time of a test. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-export-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function connectionString(connection: ConnectionSettings = inject('connection')): string {
  const { port, user, database } = connection
  const [host, password] = [connection.host, connection.password].map(String) as [string, string]
  const address = host.startsWith('/')
    ? `/${database}?host=${encodeURIComponent(host)}&port=${port}`
    : `${host}:${port}/${database}`
  return `postgresql://${user}:${encodeURIComponent(password)}@${address}`
}

/** Exports an app of the shared service, or of one on a database of its own, as the command does. */
export function exportOf(
  context: Context,
  app: Pick<RegisteredApp, 'appId' | 'name' | 'region'>,
  folder: string,
  own: {
    readonly passphrase?: string | undefined
    readonly passphraseCost?: ExportOptions['passphraseCost']
    readonly signal?: AbortSignal
    readonly pace?: Pace
    readonly onProgress?: (file: string) => void
    readonly services?: Pick<OwnServices, 'connection' | 'mediaDir'>
    readonly storage?: FileStore
  } = {},
): Promise<Exported> {
  return exportApp(
    {
      ...{ app, secrets: context.secrets, connectionString: connectionString(own.services?.connection) },
      storage: own.storage ?? createFolderStorage(own.services?.mediaDir ?? mediaFolder),
    },
    {
      ...{ folder, pace: own.pace ?? fullPace, signal: own.signal ?? new AbortController().signal },
      passphrase: 'passphrase' in own ? own.passphrase : passphrase,
      passphraseCost: 'passphraseCost' in own ? own.passphraseCost : { N: 2 ** 10, r: 8, p: 1 },
      onProgress: own.onProgress ?? (() => undefined),
    },
  )
}

/** Imports an export into an app of the shared service, as the command does. */
export async function importInto(
  context: Context,
  app: { readonly name: string },
  folder: string,
  own: Partial<ExactOptions> = {},
  ownTarget: Partial<ExactTarget> = {},
) {
  const manifest = await readManifest(folder)
  if (manifest === undefined) throw new Error('this folder holds no export')
  const registered = (await context.apps.find(app.name)) as RegisteredApp
  const { database, secrets, apps, invalidation } = context
  return importExactly(
    {
      ...{ database, secrets, apps, invalidation, audit: createAudit(secrets, { caller: 'command' }) },
      storage: createFolderStorage(mediaFolder),
      ...ownTarget,
    },
    registered,
    manifest,
    { folder, passphrase, origin, signal: new AbortController().signal, onProgress: () => undefined, ...own },
  )
}

/** An app that has nothing but what every app has, not even a key. */
export async function emptyApp(context: Context) {
  return context.apps.ensure(`to-${randomBytes(8).toString('hex')}`, 'us')
}

/** The lines of a file of an export. */
export async function linesOf(folder: string, name: string): Promise<string[]> {
  const text = await readFile(path.join(folder, name), 'utf8')
  return text === '' ? [] : text.trimEnd().split('\n')
}

export async function recordsOf(folder: string, name: string): Promise<Record<string, unknown>[]> {
  return (await linesOf(folder, name)).map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** What is sealed in an export. */
export async function secretsOf(folder: string): Promise<string[]> {
  const text = await readFile(path.join(folder, 'secrets.ndjson.sealed'), 'utf8')
  return openBlocks(passphrase, text).flatMap((block) => (block === '' ? [] : block.split('\n')))
}

/** Exports an app, imports that into an empty one, and exports it again. @returns both folders and the app that was made */
export async function thereAndBack<Result>(
  { context, app }: { readonly context: Context; readonly app: Pick<RegisteredApp, 'appId' | 'name' | 'region'> },
  look: (first: string, second: string, target: { appId: number; name: string }) => Promise<Result>,
): Promise<Result> {
  return withFolder((first) =>
    withFolder(async (second) => {
      await exportOf(context, app, first)
      const target = await emptyApp(context)
      await importInto(context, target, first)
      await exportOf(context, target, second)
      return look(first, second, target)
    }),
  )
}

/** Both exports are the same, byte for byte; the audit log has what the import itself did besides. */
export async function expectSame(first: string, second: string): Promise<void> {
  const [before, after] = await Promise.all([readManifest(first), readManifest(second)])
  expect(after?.settings).toEqual(before?.settings)
  for (const name of Object.keys(before?.files ?? {})) {
    const [was, is] = await Promise.all([linesOf(first, name), linesOf(second, name)])
    if (name === 'audit.ndjson') {
      const own = new Set(is)
      expect(was.filter((line) => !own.has(line))).toEqual([])
    } else expect({ name, lines: is }).toEqual({ name, lines: was })
    if (name !== 'audit.ndjson') expect(after?.files[name]?.sha256).toBe(before?.files[name]?.sha256)
  }
  expect(await secretsOf(second)).toEqual(await secretsOf(first))
}
