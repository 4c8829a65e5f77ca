import { parseArgs } from 'node:util'
import { auditActions, listAuditLog, type QueryOf } from '@parley/contract'
import dotenv from 'dotenv'
import { listEntries } from '../areas/audit-log/index.ts'
import { deployment } from '../chat/audit/audit.ts'
import { verifyAuditLog } from '../chat/audit/verify.ts'
import { type Config, readConfig } from '../config/index.ts'
import { compileQueryReader } from '../http/query.ts'
import { loadKeys } from '../keys-file.ts'
import { compileCheck } from '../protocol/validation.ts'
import { resolveDataDir } from '../store/data-folder.ts'
import { openSecrets } from '../store/data-keys.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import { findDatabase } from './database.ts'

const help = `Usage: parley audit <app> [--action <action>] [--key <digits>] [--uid <uid>] [--operator <id>] [--targetType <type>]
                    [--target <id>] [--from <time>] [--to <time>] [--limit <number>] [--before <entry>] [--all]
       parley audit --operators [the same]
       parley audit --verify [<app> | --operators] [--head <head>]

Prints the audit log of an app, or that of operators, newest entries first, as one JSON object per line. Times are epoch seconds;
--limit is 100 unless it is given, 1000 at most. --all prints every entry, page after page: that is how it is exported.
Actions: ${auditActions.join(', ')}.

--verify looks whether the log is as the service wrote it: every entry, their order, and that none is missing. Without an app it looks
at all of them, and at that of operators. It prints where each log ends; --head <head> of one log also makes sure that it still
holds the end that was printed, or written to the log of the service, before. It needs the master key: that of keys.env or
PARLEY_MASTER_KEY.

The database is that of DATABASE_URL, else the embedded one of a running service (DATA_DIR).

Exit codes: 0 done, 1 there is no such app, or the log is not as it was written, 2 wrong usage, 3 the database cannot be reached.
`

const filters = ['action', 'key', 'uid', 'operator', 'targetType', 'target', 'from', 'to', 'limit', 'before'] as const
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/** Every entry is read in pages of this. */
const largestPage = 1_000

class UsageError extends Error {}

/** Runs `parley audit`. @returns the exit code */
export async function auditCommand(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        ...Object.fromEntries(filters.map((name) => [name, text])),
        ...{ all: flag, operators: flag, verify: flag, head: text, help: { type: 'boolean', short: 'h' } },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    const { operators = false, verify = false, all = false, head, ...given } = values
    const [app, ...rest] = positionals
    if (rest.length > 0 || (app !== undefined && operators)) throw new UsageError('name one app, or --operators')
    const isOfOne = app !== undefined || operators
    if (!isOfOne && (!verify || head !== undefined)) throw new UsageError('name an app, or --operators')
    if (verify && Object.keys(given).length > 0) throw new UsageError('--verify looks at all entries')
    if (!verify && head !== undefined) throw new UsageError('--head is for --verify')
    if (head !== undefined && !/^\d{1,15}:[0-9a-f]*$/.test(head)) throw new UsageError('--head is as it was printed')
    dotenv.config({ quiet: true })
    const config = readConfig(process.env)
    const which = operators ? null : app?.toLowerCase()
    if (verify) return await withDatabase(config, (database) => check(database, config, which, head))
    const query = readFilters(given as Record<string, string>)
    return await withDatabase(config, (database) => print(database, which ?? null, query, all))
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`parley audit: ${(error as Error).message}\n${isUsage ? `\n${help}` : ''}`)
    return isUsage ? 2 : 3
  }
}

/** The filters are those of the operation. */
function readFilters(values: Record<string, string>): QueryOf<typeof listAuditLog> {
  const query = compileQueryReader(listAuditLog.query)(values)
  try {
    compileCheck('query', listAuditLog.query)(query)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  return query as QueryOf<typeof listAuditLog>
}

async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ connectionString: await findDatabase(config) })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** A log: of an app, or of operators. */
interface Log {
  readonly appId: number
  readonly name: string
}

const ofOperators: Log = { appId: deployment, name: '(operators)' }

const selectApps = statement(`
  select app_id as "appId", name
  from apps
  order by name`)

/** @param which the name of an app; null: of operators; undefined: all */
async function findLogs(database: Database, which: string | null | undefined): Promise<Log[]> {
  if (which === null) return [ofOperators]
  const apps = await database.query<Log>(selectApps)
  if (which === undefined) return [ofOperators, ...apps]
  const found = apps.filter(({ name }) => name === which)
  if (found.length === 0) process.stderr.write(`parley audit: there is no app ${which}\n`)
  return found
}

async function print(
  database: Database,
  which: string | null,
  query: QueryOf<typeof listAuditLog>,
  isAll: boolean,
): Promise<number> {
  const [log] = await findLogs(database, which)
  if (log === undefined) return 1
  let before = query.before
  let isRead = true
  do {
    const place = before === undefined ? {} : { before }
    const page = isAll ? { ...query, limit: largestPage, ...place } : query
    const { data, meta } = await listEntries(database, log.appId, page)
    isRead = await write(data.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    before = meta.next?.before
  } while (isAll && isRead && before !== undefined)
  return 0
}

/** Prints a text. @returns whether anybody reads it */
function write(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(!error))
  })
}

async function check(
  database: Database,
  config: Config,
  which: string | null | undefined,
  expected: string | undefined,
): Promise<number> {
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  const masterKey = config.masterKey ?? (await loadKeys(config, dataDir, { mustExist: true })).masterKey
  const secrets = await openSecrets(database, [masterKey])
  const logs = await findLogs(database, which)
  let isAsWritten = logs.length > 0
  for (const { appId, name } of logs) {
    const { entries, unlinked, head, flaws } = await verifyAuditLog(database, secrets, appId, expected)
    const state = flaws.length === 0 ? 'as it was written' : 'NOT as it was written'
    const waiting = unlinked === 0 ? '' : `, ${unlinked} of them not linked yet`
    process.stdout.write(`${name}: ${state}. ${entries} entries${waiting}. Ends at ${head}\n`)
    for (const flaw of flaws) process.stdout.write(`  ${flaw}\n`)
    if (flaws.length > 0) isAsWritten = false
  }
  return isAsWritten ? 0 : 1
}
