import path from 'node:path'
import { parseArgs } from 'node:util'
import { readManifest } from '../../export/manifest.ts'
import { PassphraseError, readPassphrase } from '../../export/passphrase.ts'
import { WrongPassphrase } from '../../export/seal.ts'
import { openSession } from '../../export/session.ts'
import type { ImportIo } from '../run.ts'
import { ExactRefusal, ExactStopped } from './failures.ts'
import { importExactly } from './import.ts'

const exactHelp = `Usage: parley import <folder> --exact [options]

Makes the same app of what parley export wrote, in an app that has nothing yet: ids, times, marks, files, everything. It works on the
database of the service, and the app is paused until it is done. Interrupted, it goes on when it is run again.

Options:
  --app <appId>            the app (default: the service's default app)
  --passphrase-file <file> opens the secrets (default: PARLEY_EXPORT_PASSPHRASE)
  --without-secrets        leaves auth tokens, API keys and other secrets out
  --origin <url>           scheme and host by which clients reach the service, for addresses of files (default: PUBLIC_URL)
  --help                   show this text

The database is that of DATABASE_URL, else the embedded one of a running service (DATA_DIR); its master key is that of keys.env or
PARLEY_MASTER_KEY.

Exit codes: 0 done, 1 refused, or done but for files that the folder does not have, 2 wrong usage, 3 the database cannot be reached, 130 stopped by Ctrl-C.
`

class UsageError extends Error {}

/** Runs `parley import --exact`. @returns the exit code */
export async function importExactCommand(args: readonly string[], io: Omit<ImportIo, 'clock'>): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        exact: { type: 'boolean' },
        app: { type: 'string' },
        'passphrase-file': { type: 'string' },
        'without-secrets': { type: 'boolean', default: false },
        origin: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      io.stdout.write(exactHelp)
      return 0
    }
    const [given, ...rest] = positionals
    if (given === undefined || rest.length > 0) throw new UsageError('name one folder')
    const folder = path.resolve(io.cwd, given)
    const manifest = await readManifest(folder)
    if (manifest === undefined) throw new UsageError(`${folder} is no export: it has no manifest.json of one`)
    const passphrase = values['without-secrets'] ? '' : await readPassphrase(values['passphrase-file'], io.env)
    const session = await openSession(io.env)
    try {
      const app = await session.findApp(values.app)
      if (app === undefined) throw new UsageError(`there is no app ${values.app ?? session.config.appId}`)
      const origin = values.origin ?? session.config.publicUrl ?? `http://127.0.0.1:${session.config.port}`
      const from = performance.now()
      let reportedAt = from
      const { wasThere, remarks, missing } = await importExactly(session, app, manifest, {
        ...{ folder, passphrase, signal: io.signal, origin: origin.replace(/\/+$/, '') },
        onProgress: (file, records) => {
          if (performance.now() - reportedAt < 5000) return
          reportedAt = performance.now()
          io.stderr.write(`${file}: ${records.toLocaleString('en')} records\n`)
        },
      })
      const seconds = (performance.now() - from) / 1000
      const total = Object.values(manifest.files).reduce((sum, { records }) => sum + records, 0)
      const rate = `${seconds.toFixed(1)} s (${Math.round(total / seconds).toLocaleString('en')} a second)`
      io.stdout.write(
        wasThere
          ? `This export is in ${app.name} already.\n`
          : `${total.toLocaleString('en')} records imported into ${app.name} in ${rate}.\n`,
      )
      io.stdout.write(remarks.map((remark) => `${remark}\n`).join(''))
      return missing.length === 0 ? 0 : 1
    } finally {
      await session.database.close()
    }
  } catch (error) {
    if (error instanceof ExactStopped) {
      io.stderr.write('parley import: stopped. Run it again to go on; the app stays paused until then.\n')
      return 130
    }
    const isUsage =
      error instanceof UsageError ||
      error instanceof PassphraseError ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    io.stderr.write(`parley import: ${(error as Error).message}\n${isUsage ? `\n${exactHelp}` : ''}`)
    if (error instanceof ExactRefusal || error instanceof WrongPassphrase) return 1
    return isUsage ? 2 : 3
  }
}
