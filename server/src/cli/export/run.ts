import path from 'node:path'
import { parseArgs } from 'node:util'
import { atPace } from '../../backup/pace.ts'
import { isPace, type PaceName } from '../../config/backup.ts'
import type { ImportIo } from '../import/run.ts'
import { type Exported, ExportStopped, exportApp } from './export.ts'
import { readManifest } from './manifest.ts'
import { PassphraseError, readPassphrase, shortestPassphrase } from './passphrase.ts'
import { openSession } from './session.ts'

const exportHelp = `Usage: parley export --into <folder> [options]
       npm run export -- --into <folder> [options]

Writes everything that an app is into a folder: users, groups, messages, marks, rules, settings, files, and what else there is, as
it stood at one moment. The service may run, and people may go on. parley import <folder> --exact makes the same app of it
elsewhere.

Options:
  --into <folder>          where to; it must not hold an export yet
  --app <appId>            the app (default: the service's default app)
  --passphrase-file <file> its text, of at least ${shortestPassphrase} characters, seals auth tokens, API keys and other secrets (default:
                           PARLEY_EXPORT_PASSPHRASE). All lines count, but not the line end after the last. Without one they are left out
  --pace <pace>            auto: in small steps with rests while others are busy, else as fast as it goes; gentle: always in small
                           steps; full: as fast as it goes, whoever waits (default: auto)
  --help                   show this text

The database is that of DATABASE_URL, else the embedded one of a running service (DATA_DIR); its master key is that of keys.env or
PARLEY_MASTER_KEY. Interrupted, it begins anew when it is run again, and copies no file twice.

Exit codes: 0 done, 1 files are missing, 2 wrong usage, 3 the database cannot be reached, 130 stopped by Ctrl-C.
`

class UsageError extends Error {}

/** Runs `parley export`. @returns the exit code */
export async function exportCommand(args: readonly string[], io: Omit<ImportIo, 'clock'>): Promise<number> {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        into: { type: 'string' },
        app: { type: 'string' },
        'passphrase-file': { type: 'string' },
        pace: { type: 'string', default: 'auto' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      io.stdout.write(exportHelp)
      return 0
    }
    if (values.into === undefined) throw new UsageError('name a folder: --into')
    const { pace } = values
    if (!isPace(pace)) throw new UsageError('--pace must be auto, gentle or full')
    const folder = path.resolve(io.cwd, values.into)
    if ((await readManifest(folder)) !== undefined) throw new UsageError(`${folder} holds an export already`)
    const passphrase = await readPassphrase(values['passphrase-file'], io.env)
    return await run(values.app, { folder, pace, passphrase }, io)
  } catch (error) {
    if (error instanceof ExportStopped) {
      io.stderr.write('parley export: stopped. Running it again begins anew, with the files that were copied.\n')
      return 130
    }
    const isUsage =
      error instanceof UsageError ||
      error instanceof PassphraseError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    io.stderr.write(`parley export: ${(error as Error).message}\n${isUsage ? `\n${exportHelp}` : ''}`)
    return isUsage ? 2 : 3
  }
}

async function run(
  name: string | undefined,
  given: { folder: string; pace: PaceName; passphrase: string | undefined },
  io: Omit<ImportIo, 'clock'>,
): Promise<number> {
  const session = await openSession(io.env)
  try {
    const app = await session.findApp(name)
    if (app === undefined) throw new UsageError(`there is no app ${name ?? session.config.appId}`)
    const from = performance.now()
    let reportedAt = from
    const onProgress = (file: string, records: number) => {
      if (performance.now() - reportedAt < 5000) return
      reportedAt = performance.now()
      io.stderr.write(`${file}: ${records.toLocaleString('en')} records\n`)
    }
    const connection = { connectionString: session.connectionString }
    const exported = await atPace(connection, given.pace, (pace) =>
      exportApp({ ...session, app }, { ...given, pace, signal: io.signal, onProgress }),
    )
    io.stdout.write(describe(exported, given.passphrase !== undefined, (performance.now() - from) / 1000))
    return exported.copied.missing.length === 0 ? 0 : 1
  } finally {
    await session.database.close()
  }
}

function describe({ manifest, copied }: Exported, hasSecrets: boolean, seconds: number): string {
  const lines = Object.entries(manifest.files)
    .filter(([, { records }]) => records > 0)
    .map(([name, { records }]) => `${name.padEnd(26)}${records.toLocaleString('en').padStart(14)}`)
  const total = Object.values(manifest.files).reduce((sum, { records }) => sum + records, 0)
  lines.push(
    `${total.toLocaleString('en')} records in ${seconds.toFixed(1)} s (${Math.round(total / seconds).toLocaleString('en')} a second).`,
  )
  lines.push(`Files: ${copied.copied} copied, ${copied.there} there already.`)
  if (copied.missing.length > 0)
    lines.push(
      `Files that the storage does not have in their size (${copied.missing.length}): ${copied.missing.slice(0, 20).join(', ')}`,
    )
  if (!hasSecrets) lines.push('Without a passphrase: auth tokens, API keys and other secrets were left out.')
  const { lostPasswords } = manifest
  if (lostPasswords.length > 0)
    lines.push(
      `Groups whose password nobody can check elsewhere, since nobody has joined with it lately (${lostPasswords.length}): ${lostPasswords.slice(0, 20).join(', ')}`,
    )
  return `${lines.join('\n')}\n`
}
