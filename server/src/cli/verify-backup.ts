import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { checkBackup } from '../backup/check.ts'
import { openDestination } from '../backup/destination.ts'
import { chooseBackup, inBackup, type Manifest } from '../backup/format.ts'
import { requireKey, unsealKeys } from '../backup/keys.ts'
import { requireKnown, restore } from '../backup/restore.ts'
import { type Config, readConfig } from '../config/index.ts'
import { findDrift } from '../doctor/drift.ts'
import { loadKeys } from '../keys-file.ts'
import type { FileStore } from '../media/storage.ts'
import { openDatabase } from '../store/database.ts'
import { findDestination } from './backup.ts'
import { createProgressLine, describeBytes } from './progress.ts'
import { dataDirOf, openEmbedded } from './session.ts'
import { runCommandLine, UsageError } from './usage.ts'

const help = `Usage: parley verify-backup [<backup>] [options]

Reads a whole backup, the newest unless one is named, and compares it with its checksums and counts. Where the master key is at hand, it also
says whether it is that of the backup; where BACKUP_PASSPHRASE is set, whether it opens the keys that are in it.

Options:
  --from <destination>    a folder, or s3://<bucket>/<prefix> (default: BACKUP_TO)
  --restore         also restore it, into an embedded PostgreSQL that is thrown away, and recompute all derived values there
  --scratch <dir>   where that is made (default: a folder for temporary files); it takes as much room as the database
  -h, --help        show this text

Exit codes: 0 it is whole, 1 it is not, or could not be read, 2 wrong usage.
`

/** Runs `parley verify-backup`. @returns the exit code */
export function verifyBackupCommand(args: string[]): Promise<number> {
  return runCommandLine('verify-backup', help, async () => {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        from: { type: 'string' },
        restore: { type: 'boolean' },
        scratch: { type: 'string', default: os.tmpdir() },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    if (positionals.length > 1) throw new UsageError('name one backup')
    dotenv.config({ quiet: true })
    const config = readConfig(process.env)
    const destination = openDestination(findDestination(config, values.from, '--from'))
    const id = await chooseBackup(destination, positionals[0])
    const line = createProgressLine()
    const { manifest, problems } = await checkBackup(destination, id, ({ parts, of, files }) =>
      line.show(`${id}: ${parts} of ${of} parts, ${files} files`),
    )
    line.end()
    for (const problem of problems) process.stdout.write(`wrong  ${problem}\n`)
    if (problems.length > 0) return 1
    report(manifest)
    await trySealedKeys(destination, manifest, config.backup.passphrase)
    const masterKey = await findKey(config, manifest)
    return values.restore === true ? tryRestore(destination, manifest, values.scratch, masterKey) : 0
  })
}

function report({ id, tables, files }: Manifest): void {
  const parts = tables.flatMap((table) => table.parts)
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  process.stdout.write(
    `ok     ${id}: ${rows} rows of ${tables.length} tables, ${describeBytes(bytes)} in ${parts.length} parts\n`,
  )
  process.stdout.write(`ok     ${files.count} files, ${describeBytes(files.bytes)}\n`)
  if (files.missing > 0) process.stdout.write(`note   ${files.missing} files were missing when it was made\n`)
}

/** Who loses the machine has the passphrase, and these. */
async function trySealedKeys(
  destination: FileStore,
  manifest: Manifest,
  passphrase: string | undefined,
): Promise<void> {
  const { sealed } = manifest.keys
  if (sealed === null) return
  if (passphrase === undefined) {
    process.stdout.write(
      'note   BACKUP_PASSPHRASE is not set: whether it opens the keys that are in it was not tried\n',
    )
    return
  }
  const keys = await unsealKeys(
    await buffer(await destination.read(inBackup(manifest.id, sealed), undefined)),
    passphrase,
  )
  requireKey(manifest, keys.PARLEY_MASTER_KEY)
  process.stdout.write('ok     BACKUP_PASSPHRASE opens the keys that are in it, and they are those of the backup\n')
}

async function findKey(config: Config, manifest: Manifest): Promise<string | undefined> {
  const loaded = await loadKeys(config, dataDirOf(config), { mustExist: true }).catch(() => undefined)
  const masterKey = config.masterKey ?? loaded?.masterKey
  if (masterKey === undefined) {
    process.stdout.write('note   there is no master key here: it is not known whether the right one is kept\n')
    return undefined
  }
  requireKey(manifest, masterKey)
  process.stdout.write('ok     the master key here is that of the backup\n')
  return masterKey
}

/** Without a ledger: what is looked at is the backup. */
async function tryRestore(
  destination: FileStore,
  manifest: Manifest,
  scratch: string,
  masterKey: string | undefined,
): Promise<number> {
  requireKnown(manifest)
  const folder = await mkdtemp(path.join(scratch, 'parley-verify-'))
  const line = createProgressLine()
  const session = await openEmbedded(folder, { max_wal_size: '4GB', fsync: 'off' })
  try {
    await restore({
      ...{ destination, manifest, connection: session.connection, masterKey, entries: [] },
      onProgress: ({ what, rows, of }) => line.show(`restoring: ${rows} of ${of} rows: ${what}`),
    })
    line.end()
    process.stdout.write('ok     it was restored\n')
    return await examine(session.connection)
  } finally {
    await session.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function examine(connection: Parameters<typeof openDatabase>[0]): Promise<number> {
  const database = openDatabase(connection)
  try {
    const drift = await findDrift(database, null)
    for (const { check, meaning, count } of drift) process.stdout.write(`wrong  ${check}: ${count}: ${meaning}\n`)
    if (drift.length === 0) process.stdout.write('ok     the doctor finds nothing\n')
    return drift.length === 0 ? 0 : 1
  } finally {
    await database.close()
  }
}
