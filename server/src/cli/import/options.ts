import { parseArgs } from 'node:util'
import { createReader } from '../../config/secrets.ts'
import { exitCodes, ImportFailure } from './failure.ts'

/** What `parley import` is asked to do. */
export interface ImportOptions {
  /** Folder with the files, as given. */
  readonly folder: string
  /** Address of the service, without `/v3` and without a slash at its end. */
  readonly url: string
  readonly apiKey: string | undefined
  readonly app: string | undefined
  /** Records in one request. */
  readonly batch: number
  /** Requests at the same time. */
  readonly concurrency: number
  readonly dryRun: boolean
  readonly report: string | undefined
  readonly insecure: boolean
  /** `false` writes no table of new ids: whoever runs the import makes one. */
  readonly writesNewIds?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

export const importHelp = `Usage: parley import <folder> [options]
       npm run import -- <folder> [options]

Sends users, groups, members and messages of another chat system to a running Parley service. The folder contains
users.ndjson, groups.ndjson, members.ndjson and messages.ndjson, plain or gzipped (.ndjson.gz), one JSON record per line;
each file may be missing. They are sent in that order. Messages of one conversation keep the order of the file.

An import can safely be repeated: records that the service already has are counted as "already there" and not changed.

Options:
  --url <url>          address of the service (default: PARLEY_URL, else http://127.0.0.1:8080)
  --apikey <key>       API key with full access (default: PARLEY_API_KEY, or the file that PARLEY_API_KEY_FILE names)
  --app <appId>        app to import into (default: the service's default app)
  --batch <n>          records in one request, 1 to 1000 (default: 500)
  --concurrency <n>    concurrent requests, 1 to 64 (default: 4)
  --dry-run            check every record, store nothing; with --apikey, users and groups that are not in the files
                       are looked up in the service
  --report <file>      file for refused records (default: <folder>/import-refused.ndjson); one line for each:
                       {kind, line, key, error, record}. It is only written if there are any
  --insecure           accept an untrusted TLS certificate, such as a self-signed one
  --help               show this text

PARLEY_API_KEY keeps the key out of the list of processes, where other users of the machine can read --apikey.

A message is refused if it names a user or group that does not exist yet. Users that only appear in the embedded details
of a message may be created too late for messages of other conversations: put them into users.ndjson, or run the import
again.

Ctrl-C stops after the requests in progress; pressed twice, it stops at once.

Exit codes:
  0    everything was stored or already there, and the counts match; with --dry-run: no problems found
  1    some records were refused, a file is damaged, or the service has fewer messages than the import, or could not
       count them
  2    wrong usage, or nothing to read
  3    the service is unavailable, or does not accept the API key
  130  stopped by Ctrl-C
`

/**
 * Reads the command line of `parley import`; 'help' when it asks for that.
 * @throws ImportFailure naming the option that is wrong.
 */
export function parseImportOptions(args: readonly string[], environment: Environment): ImportOptions | 'help' {
  const { values, positionals } = parse(args)
  if (values.help) return 'help'
  const [folder, ...rest] = positionals
  if (folder === undefined) throw misuse('name the folder that holds the files')
  if (rest.length > 0) throw misuse(`one folder at a time; there is also ${rest.join(', ')}`)

  const apiKey = values.apikey ?? readApiKey(environment)
  const dryRun = values['dry-run'] ?? false
  if (apiKey === undefined && !dryRun) throw misuse('an API key is needed: --apikey or PARLEY_API_KEY')
  for (const [name, value] of Object.entries({ '--apikey': apiKey, '--app': values.app })) {
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
      throw misuse(`${name} must be printable ASCII without blanks`)
  }
  return {
    folder,
    url: parseUrl(values.url ?? (environment.PARLEY_URL?.trim() || undefined) ?? 'http://127.0.0.1:8080'),
    apiKey,
    app: values.app,
    batch: parseCount('--batch', values.batch, 500, 1000),
    concurrency: parseCount('--concurrency', values.concurrency, 4, 64),
    dryRun,
    report: values.report,
    insecure: values.insecure ?? false,
  }
}

function readApiKey(environment: Environment): string | undefined {
  const problems: string[] = []
  const apiKey = createReader(environment, problems)('PARLEY_API_KEY')
  if (problems.length > 0) throw misuse(problems.join('\n'))
  return apiKey
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        apikey: { type: 'string' },
        app: { type: 'string' },
        batch: { type: 'string' },
        concurrency: { type: 'string' },
        'dry-run': { type: 'boolean' },
        report: { type: 'string' },
        insecure: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw misuse((error as Error).message)
  }
}

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw misuse(`--url must start with http:// or https://; it is "${text}"`)
  }
  // The addresses that the API documentation gives end with these segments; the paths here bring their own.
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v3(\.0)?(\/data_import)?$/, '')}`
}

function parseCount(name: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= most) return count
  throw misuse(`${name} must be a number from 1 to ${most}; it is "${text}"`)
}

function misuse(message: string): ImportFailure {
  return new ImportFailure(exitCodes.usage, `${message}\nparley import --help tells more`)
}
