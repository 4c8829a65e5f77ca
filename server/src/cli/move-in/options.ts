import { parseArgs } from 'node:util'
import { createReader } from '../../config/secrets.ts'
import { exitCodes, ImportFailure } from '../import/failure.ts'
import { listsOfUsers } from './collect.ts'

/** What `parley move-in` is asked to do. */
export interface MoveOptions {
  readonly from: string
  readonly apiKey: string
  readonly fromApp: string | undefined
  /** Where everything that is read is kept. */
  readonly folder: string
  /** The service to move into; undefined where only the folder is wanted. */
  readonly target: { readonly url: string; readonly apiKey: string; readonly app: string | undefined } | undefined
  readonly concurrency: number
  readonly without: readonly string[]
  readonly files: boolean
  /** Bytes. */
  readonly mostFileBytes: number
  readonly insecure: boolean
  /** Go on with what changes until cut-over. */
  readonly follow: boolean
  /** Seconds. */
  readonly interval: number
  /** Seconds. */
  readonly overlap: number
  /** Minutes. */
  readonly sweep: number
  /** After the cut-over, bring what people do in the target to the source. */
  readonly writeBack: boolean
  /** Where webhooks of the source are taken, as hints. */
  readonly webhooks: { readonly host: string; readonly port: number } | undefined
  /** Compare both sides; alone, nothing is moved. */
  readonly verify: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

export const moveHelp = `Usage: parley move-in --from <address> [--into <folder>] [--url <address>] [options]
       npm run move-in -- --from <address> ...

Moves an app from a hosted chat service with the same API into a running Parley service, or into a folder. Reads
everything that lists answer, keeps it in a folder, and imports the folder. It can be stopped at any time, by Ctrl-C,
kill -9 or a loss of power: run with the same folder, it goes on where it was.

Options:
  --from <address>       the hosted app, such as https://<app>.api-<region>.<host>
  --apikey <key>         its API key with full access (default: MOVE_IN_API_KEY, or the file that MOVE_IN_API_KEY_FILE names)
  --from-app <appId>     header appId, where the address alone does not name the app
  --into <folder>        folder for what is read (default: move-in). Without --url, nothing else is done
  --url <address>        service to move into
  --to-apikey <key>      API key with full access of that service (default: PARLEY_API_KEY or PARLEY_API_KEY_FILE)
  --app <appId>          app to move into (default: the service's default app)
  --concurrency <n>      concurrent requests to each side, 1 to 64 (default: 8)
  --without <lists>      leave out lists that need a request for each user: ${listsOfUsers.join(',')}
  --no-files             do not copy files; messages keep their old addresses
  --max-file <MB>        largest file that is copied (default: 100)
  --follow               go on with what changes in the hosted app until cut-over: Ctrl-C, or a file named cut-over in the folder
  --interval <s>         seconds between two looks (default: 5)
  --overlap <s>          seconds that each look goes back beyond the last (default: 300)
  --sweep <min>          minutes between two comparisons by ids (default: 15)
  --webhooks <port>      with --follow: take webhooks of the hosted app at this port, or <host>:<port>, as hints what to
                         read again; the address to register is shown. Nothing in them is believed
  --write-back           with --follow, after the cut-over: bring what people do in the new service to the hosted app, while
                         old versions of your app still use it
  --verify               compare both sides anew, record by record, and write verify.json and verify.md; nothing is moved
  --insecure             accept an untrusted TLS certificate of either side
  --help                 show this text

With an address of its own for files the source may name any host: addresses that are not public are refused, except
those of the source itself and those that OUTBOUND_ALLOW lists.

Exit codes:
  0    everything was moved; with --verify: both sides are equal
  1    some records were refused, and import-refused.ndjson and report.json in the folder say which and why; with --verify:
       the sides differ
  2    wrong usage
  3    one of the two sides is unavailable, or does not accept its API key
  130  stopped by Ctrl-C
`

/** Reads the command line; 'help' when it asks for that. @throws ImportFailure naming the option that is wrong */
export function parseMoveOptions(args: readonly string[], env: Environment): MoveOptions | 'help' {
  const values = parse(args)
  if (values.help) return 'help'
  if (values.from === undefined) throw misuse('--from is needed: the address of the hosted app')
  const apiKey = values.apikey ?? readKey(env, 'MOVE_IN_API_KEY')
  if (apiKey === undefined) throw misuse('the API key of the hosted app is needed: --apikey or MOVE_IN_API_KEY')
  const url = values.url
  const toKey = values['to-apikey'] ?? readKey(env, 'PARLEY_API_KEY')
  if (url !== undefined && toKey === undefined)
    throw misuse('an API key of the service to move into is needed: --to-apikey or PARLEY_API_KEY')
  if (url === undefined && values.into === undefined) throw misuse('name a folder (--into), a service (--url), or both')
  if ((values.verify || values.follow) && url === undefined) throw misuse('--verify and --follow need --url')
  const without = (values.without ?? '').split(',').filter((name) => name !== '')
  const unknown = without.find((name) => !(listsOfUsers as readonly string[]).includes(name))
  if (unknown !== undefined) throw misuse(`--without takes ${listsOfUsers.join(', ')}; not "${unknown}"`)
  for (const [name, value] of Object.entries({ '--apikey': apiKey, '--to-apikey': toKey, '--app': values.app }))
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
      throw misuse(`${name} must be printable ASCII without blanks`)
  return {
    from: parseUrl('--from', values.from),
    apiKey,
    fromApp: values['from-app'],
    folder: values.into ?? 'move-in',
    target: url === undefined ? undefined : { url: parseUrl('--url', url), apiKey: toKey as string, app: values.app },
    concurrency: parseCount('--concurrency', values.concurrency, 8, 64),
    without,
    files: !values['no-files'],
    mostFileBytes: parseCount('--max-file', values['max-file'], 100, 100_000) * 1024 * 1024,
    insecure: values.insecure ?? false,
    verify: values.verify ?? false,
    follow: values.follow ?? false,
    writeBack: values['write-back'] ?? false,
    webhooks: parseListen('--webhooks', values.webhooks),
    interval: parseCount('--interval', values.interval, 5, 3600),
    overlap: parseCount('--overlap', values.overlap, 300, 86_400),
    sweep: parseCount('--sweep', values.sweep, 15, 10_000),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        from: { type: 'string' },
        apikey: { type: 'string' },
        'from-app': { type: 'string' },
        into: { type: 'string' },
        url: { type: 'string' },
        'to-apikey': { type: 'string' },
        app: { type: 'string' },
        concurrency: { type: 'string' },
        without: { type: 'string' },
        'no-files': { type: 'boolean' },
        'max-file': { type: 'string' },
        insecure: { type: 'boolean' },
        verify: { type: 'boolean' },
        follow: { type: 'boolean' },
        interval: { type: 'string' },
        overlap: { type: 'string' },
        sweep: { type: 'string' },
        webhooks: { type: 'string' },
        'write-back': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw misuse((error as Error).message)
  }
}

function readKey(env: Environment, name: string): string | undefined {
  const problems: string[] = []
  const key = createReader(env, problems)(name)
  if (problems.length > 0) throw misuse(problems.join('\n'))
  return key
}

function parseUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw misuse(`${name} must start with http:// or https://; it is "${text}"`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v3(\.0)?$/, '')}`
}

function parseListen(name: string, text: string | undefined) {
  if (text === undefined) return undefined
  const [, host = '0.0.0.0', port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  if (port !== undefined && Number(port) <= 65_535) return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  throw misuse(`${name} must be a port, or <host>:<port>; it is "${text}"`)
}

function parseCount(name: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= most) return count
  throw misuse(`${name} must be a number from 1 to ${most}; it is "${text}"`)
}

function misuse(message: string): ImportFailure {
  return new ImportFailure(exitCodes.usage, `${message}\nparley move-in --help tells more`)
}
