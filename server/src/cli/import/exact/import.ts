import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pauseApp, resumeApp, resumeAppWithin } from '../../../areas/apps/index.ts'
import { settingsTopic } from '../../../chat/app-settings.ts'
import { type AppRegistry, type RegisteredApp, systemUid } from '../../../chat/apps.ts'
import type { Audit } from '../../../chat/audit/audit.ts'
import { sealUnsealed } from '../../../chat/audit/chain.ts'
import { keysTopic } from '../../../chat/credentials/keys.ts'
import { rolesTopic } from '../../../chat/roles/policies.ts'
import { listenersTopic } from '../../../events/listening.ts'
import type { FileStore } from '../../../media/storage.ts'
import type { Database, Transaction } from '../../../store/database.ts'
import type { Invalidation } from '../../../store/invalidation.ts'
import type { Secrets } from '../../../store/secrets.ts'
import { statement } from '../../../store/statement.ts'
import { type Catalogue, catalogueSql, toCatalogue } from '../../export/catalogue.ts'
import { digestOf, digestsName, type FileDigest, readDigests } from '../../export/file-digests.ts'
import { type Manifest, manifestName, secretsName } from '../../export/manifest.ts'
import { makeOwn } from '../../export/media.ts'
import { type ExportedTable, places } from '../../export/places.ts'
import { openBlocks } from '../../export/seal.ts'
import type { SecretRecord } from '../../export/secrets.ts'
import type { WrittenFile } from '../../export/write.ts'
import { readLines } from '../../lines.ts'
import { ExactRefusal, ExactStopped } from './failures.ts'
import { type ImportedFiles, importFiles } from './files.ts'
import { type ExportedRecord, type Insertion, insertionOf } from './insertion.ts'
import { passIdsOf, storeAround } from './messages.ts'
import { storeSecret } from './secrets.ts'

/** The service that an export is imported into, without going through its API. */
export interface ExactTarget {
  readonly database: Database
  readonly secrets: Secrets
  readonly storage: FileStore
  readonly apps: AppRegistry
  readonly audit: Audit
  readonly invalidation: Invalidation
}

export interface ExactOptions {
  readonly folder: string
  readonly passphrase: string | undefined
  /** Scheme and host by which clients reach the service, for the addresses of files. */
  readonly origin: string
  readonly signal: AbortSignal
  readonly onProgress: (file: string, records: number) => void
}

export interface ExactResult {
  /** All of it was there already, but for files that an earlier run did not find. */
  readonly wasThere: boolean
  /** What could not be imported, and what came late, in plain words. */
  readonly remarks: readonly string[]
  /** Keys of files that the storage does not have, since the folder does not have them as they were exported. */
  readonly missing: readonly string[]
}

const batchRecords = 1000
const mediaFile = 'media.ndjson'
/** The phase after the records of all tables. */
const filesPhase = 'files/'
const secretsPhase = secretsName

/**
 * Imports an export into an app that has nothing yet, exactly: ids, times, marks, everything. The app is paused until it is done.
 * What was interrupted goes on where it was: each batch is stored together with the place up to which the import has come.
 * @throws ExactRefusal, ExactStopped
 */
export async function importExactly(
  target: ExactTarget,
  app: RegisteredApp,
  manifest: Manifest,
  options: ExactOptions,
): Promise<ExactResult> {
  const { database } = target
  const catalogue = toCatalogue(await database.query(statement(catalogueSql)))
  const source = await digestOf(path.join(options.folder, manifestName))
  const secretRecords = openSecrets(manifest, options, await readSecretsFile(manifest, options.folder))
  const progress = await begin(target, app, source)
  const bringFiles = async (done: number): Promise<ImportedFiles> => {
    const { folder, signal, onProgress } = options
    if (manifest.files[mediaFile] === undefined) return { missing: [], damaged: [], unchecked: 0, late: 0 }
    const digests = manifest.media.digests === undefined ? new Map<string, FileDigest>() : await readDigests(folder)
    const onLine = (line: number) => onProgress('files', line)
    const save = async (line: number) => void (await database.query(writeProgress, [app.appId, filesPhase, line]))
    return importFiles({ ...target, appId: app.appId, folder, digests, signal, done, onLine, save })
  }
  if (progress.finishedAt !== null) {
    await checkFile(mediaFile, manifest.files[mediaFile], options)
    await checkFile(digestsName, manifest.media.digests, options)
    const files = await bringFiles(Number.POSITIVE_INFINITY)
    const remarks = [...remarksOfFiles(files), ...remarksOfPause(app)]
    return { wasThere: true, remarks, missing: [...files.missing, ...files.damaged] }
  }
  await checkFiles(manifest, options)

  const phases = [...places.map(({ file }) => `${file}.ndjson`), secretsPhase, filesPhase]
  const reached = progress.file === '' ? 0 : phases.indexOf(progress.file)
  if (reached < 0)
    throw new ExactRefusal(`this version does not know ${progress.file}, where the import was interrupted`)
  const startOf = (phase: string) => (phase === progress.file ? progress.line : 0)
  for (const place of places.slice(reached)) {
    await importPlace(target, app, manifest, catalogue, place, startOf(`${place.file}.ndjson`), options)
  }
  if (reached <= phases.indexOf(secretsPhase)) await importSecrets(target, app, secretRecords)
  const files = await bringFiles(startOf(filesPhase))
  await finish(target, app, manifest, progress.wasPaused)
  const remarks = [...remarksOf(manifest, secretRecords === undefined), ...remarksOfFiles({ ...files, late: 0 })]
  return { wasThere: false, remarks, missing: [...files.missing, ...files.damaged] }
}

interface Progress {
  readonly source: string
  readonly file: string
  readonly line: number
  readonly wasPaused: boolean
  readonly finishedAt: number | null
}

const selectProgress = statement(`
  select source, file, line, was_paused as "wasPaused", finished_at as "finishedAt"
  from app_imports
  where app_id = $1`)

const insertProgress = statement(`
  insert into app_imports (app_id, source, was_paused)
  values ($1, $2, $3)`)

const deleteProgress = statement(`
  delete from app_imports
  where app_id = $1`)

const writeProgress = statement(`
  update app_imports
  set file = $2, line = $3
  where app_id = $1`)

const selectUse = statement(`
  select exists (select from users where app_id = $1 and uid <> '${systemUid}') as users,
    exists (select from groups where app_id = $1) as groups,
    exists (select from conversations where app_id = $1) as conversations,
    exists (select from messages where app_id = $1) as messages,
    exists (select from erased_digests where app_id = $1) as erasures`)

/** Pauses an empty app for its import, or finds the import that was interrupted. */
async function begin(target: ExactTarget, app: RegisteredApp, source: string): Promise<Progress> {
  const { database } = target
  const [known] = await database.query<Progress>(selectProgress, [app.appId])
  if (known !== undefined && known.source === source) {
    if (known.finishedAt !== null) return known
    if (app.pausedAt === null) await pauseApp(target, app)
    if (known.file === '') await clear(target, app, known)
    return known
  }
  if (known !== undefined && known.finishedAt === null)
    throw new ExactRefusal(
      `the import of another export into ${app.name} was interrupted: finish that, or take another app`,
    )
  if (known !== undefined)
    throw new ExactRefusal(`an export was imported into ${app.name} before: take an app that is empty`)
  const wasPaused = app.pausedAt !== null
  // Written first: whoever is killed now finds here, the next time, that it was this import that paused the app.
  await database.transaction(async (tx) => {
    await requireEmpty(tx, app)
    await tx.query(insertProgress, [app.appId, source, wasPaused])
  })
  if (!wasPaused) await pauseApp(target, app)
  const begun = { source, file: '', line: 0, wasPaused, finishedAt: null }
  await clear(target, app, begun)
  return begun
}

/** Removes what every new app has, which is in the export, too. */
async function clear(target: ExactTarget, app: RegisteredApp, { wasPaused }: Progress): Promise<void> {
  try {
    await target.database.transaction(async (tx) => {
      // Somebody may have come before it was paused.
      await requireEmpty(tx, app)
      for (const table of new Set(places.map((place) => place.table))) {
        if (table !== 'audit_log') await tx.query(statement(`delete from ${table} where app_id = $1`), [app.appId])
      }
    })
  } catch (error) {
    if (!(error instanceof ExactRefusal)) throw error
    await target.database.query(deleteProgress, [app.appId])
    if (!wasPaused) await resumeApp(target, app)
    throw error
  }
}

async function requireEmpty(on: Pick<Transaction, 'query'>, app: RegisteredApp): Promise<void> {
  const [use] = await on.query<Record<string, boolean>>(selectUse, [app.appId])
  const found = Object.entries(use ?? {}).flatMap(([name, isThere]) => (isThere ? [name] : []))
  if (found.length > 0) throw new ExactRefusal(`the app ${app.name} has ${found.join(', ')}: take an app that is empty`)
}

/** Every file must be what the manifest says, before anything of it is stored. */
async function checkFiles(manifest: Manifest, options: ExactOptions): Promise<void> {
  for (const name of places.map(({ file }) => `${file}.ndjson`)) await checkFile(name, manifest.files[name], options)
  await checkFile(digestsName, manifest.media.digests, options)
  const unknown = Object.keys(manifest.files).filter((name) => !places.some(({ file }) => `${file}.ndjson` === name))
  if (unknown.length > 0)
    throw new ExactRefusal(`this version does not know ${unknown.join(', ')}: import with a newer one`)
}

async function checkFile(
  name: string,
  expected: WrittenFile | undefined,
  { folder, signal, onProgress }: ExactOptions,
): Promise<void> {
  // An export of an earlier version may not have it.
  if (expected === undefined) return
  if (signal.aborted) throw new ExactStopped('stopped')
  onProgress(`checking ${name}`, expected.records)
  const found = await digestOf(path.join(folder, name)).catch(() => undefined)
  if (found !== expected.sha256)
    throw new ExactRefusal(`${name} is not as it was exported: it is missing or was changed`)
}

async function importPlace(
  { database, secrets }: ExactTarget,
  app: RegisteredApp,
  manifest: Manifest,
  catalogue: Catalogue,
  place: ExportedTable,
  done: number,
  { folder, origin, signal, onProgress }: ExactOptions,
): Promise<void> {
  const name = `${place.file}.ndjson`
  if (manifest.files[name] === undefined) return
  const insertion = insertionOf(catalogue, place)
  const toOwn = makeOwn(app.name, origin)
  let line = 0
  let batch: ExportedRecord[] = []
  const flush = async () => {
    if (batch.length === 0) return
    if (signal.aborted) throw new ExactStopped('stopped')
    const records = batch
    batch = []
    await database.transaction(async (tx) => {
      await storeBatch(tx, app.appId, place, insertion, records, line)
      if (place.table === 'audit_log') await sealUnsealed(tx, secrets, app.appId)
    })
    onProgress(name, line)
  }
  for await (const text of readLines(path.join(folder, name))) {
    line += 1
    if (line <= done) continue
    batch.push(JSON.parse(toOwn(text)) as ExportedRecord)
    if (batch.length >= batchRecords) await flush()
  }
  await flush()
}

async function storeBatch(
  tx: Transaction,
  appId: number,
  { table, file }: ExportedTable,
  insertion: Insertion,
  records: readonly ExportedRecord[],
  line: number,
): Promise<void> {
  if (table === 'messages') await passIdsOf(tx, records)
  await tx.query(insertion.statement, [appId, ...insertion.values(records)])
  if (file === 'messages') await storeAround(tx, appId, records)
  await tx.query(writeProgress, [appId, `${file}.ndjson`, line])
}

async function readSecretsFile(manifest: Manifest, folder: string): Promise<string | undefined> {
  if (!manifest.hasSecrets) return undefined
  return readFile(path.join(folder, secretsName), 'utf8').catch(() => {
    throw new ExactRefusal(`${secretsName} is missing`)
  })
}

/** @returns undefined where the secrets stay behind */
function openSecrets(
  manifest: Manifest,
  { passphrase }: ExactOptions,
  sealed: string | undefined,
): readonly SecretRecord[] | undefined {
  if (sealed === undefined || passphrase === undefined) {
    if (manifest.hasSecrets && passphrase === undefined)
      throw new ExactRefusal('this export has secrets: give its passphrase, or --without-secrets')
    return undefined
  }
  if (passphrase === '') return undefined
  return openBlocks(passphrase, sealed).flatMap((block) =>
    block === '' ? [] : block.split('\n').map((text) => JSON.parse(text) as SecretRecord),
  )
}

const makeStates = [
  'insert into webhook_states (app_id, webhook) select app_id, key from webhooks where app_id = $1 on conflict do nothing',
  'insert into notification_senders (app_id, provider) select app_id, key from notification_providers where app_id = $1 on conflict do nothing',
  // From now on: what is in the log of the other service was planned there.
  `insert into notification_plans (app_id, event, uid)
    select $1, last_value - case when is_called then 0 else 1 end, ''
    from event_ids
    where exists (select from notification_providers where app_id = $1 and enabled)
    on conflict do nothing`,
].map(statement)

/** What has lost its secret cannot work: it is there, and switched off. */
const switchOff = [
  `update webhooks set enabled = false where app_id = $1 and secret_sealed = '\\x'::bytea`,
  `update notification_providers set enabled = false where app_id = $1 and sealed = '\\x'::bytea`,
].map(statement)

const portion = 200

async function importSecrets(
  { database, secrets }: ExactTarget,
  { appId }: RegisteredApp,
  records: readonly SecretRecord[] | undefined,
): Promise<void> {
  await database.transaction(async (tx) => {
    for (const make of makeStates) await tx.query(make, [appId])
    const all = records ?? []
    for (let from = 0; from < all.length; from += portion) {
      await Promise.all(all.slice(from, from + portion).map((record) => storeSecret(tx, secrets, appId, record)))
    }
    for (const off of switchOff) await tx.query(off, [appId])
    await tx.query(writeProgress, [appId, filesPhase, 0])
  })
}

const writeSettings = statement('update apps set settings = $2 where app_id = $1')
const keepIds = statement(`
  insert into kept_message_ids (app_id, since)
  values ($1, $2)
  on conflict do nothing`)
const writeFinished = statement('update app_imports set finished_at = $2 where app_id = $1')

/** What processes keep in memory of an app, each under its own name. */
const topics = [
  ...[keysTopic, settingsTopic, rolesTopic, listenersTopic],
  ...['moderation-rules', 'moderation-engines', 'moderation-reasons', 'notification-settings'],
]

async function finish(
  target: ExactTarget,
  app: RegisteredApp,
  manifest: Manifest,
  staysPaused: boolean,
): Promise<void> {
  const { database, invalidation, audit, apps } = target
  const now = Math.floor(Date.now() / 1000)
  await database.transaction(async (tx) => {
    await tx.query(writeSettings, [app.appId, manifest.settings === null ? null : JSON.stringify(manifest.settings)])
    await tx.query(keepIds, [app.appId, now])
    await tx.query(writeFinished, [app.appId, now])
    const records = Object.values(manifest.files).reduce((sum, file) => sum + file.records, 0)
    const details = { kind: 'export', records }
    await audit.record(tx, app.appId, { action: 'data_imported', type: 'app', target: app.name, details })
    for (const topic of topics) await invalidation.announce(tx, topic, String(app.appId))
    if (staysPaused) await apps.changed(tx, app.name)
    else await resumeAppWithin(tx, target, app)
  })
}

function remarksOf(manifest: Manifest, isWithoutSecrets: boolean): string[] {
  const remarks: string[] = []
  if (isWithoutSecrets)
    remarks.push(
      'Without its secrets: users log in again, webhooks and providers are switched off until they have theirs.',
    )
  const { lostPasswords } = manifest
  if (lostPasswords.length > 0)
    remarks.push(`Groups that need a new password (${lostPasswords.length}): ${lostPasswords.slice(0, 20).join(', ')}`)
  return remarks
}

/** Whoever runs it again wants to know why nobody is served: somebody has paused it since, or it was paused before. */
function remarksOfPause({ pausedAt, name }: RegisteredApp): string[] {
  return pausedAt === null ? [] : [`The app is paused: parley apps resume ${name} lets it go on.`]
}

function remarksOfFiles({ missing, damaged, unchecked, late }: ImportedFiles): string[] {
  const remarks: string[] = []
  const name = (what: string, keys: readonly string[]) => {
    if (keys.length > 0) remarks.push(`${what} (${keys.length}): ${keys.slice(0, 20).join(', ')}`)
  }
  if (late > 0) remarks.push(`Files brought that were missing before: ${late}`)
  name('Files that the folder does not have', missing)
  name('Files that are not as they were exported', damaged)
  if (unchecked > 0)
    remarks.push(`Files of which only the size could be checked, as the export has no digests of them: ${unchecked}`)
  return remarks
}
