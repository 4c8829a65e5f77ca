import { parseArgs } from 'node:util'
import { auditActions, listAuditLog, type QueryOf } from '@parley/contract'
import dotenv from 'dotenv'
import { listEntries } from '../areas/audit-log/list.ts'
import { createAppRegistry } from '../chat/apps.ts'
import { createAudit } from '../chat/audit/audit.ts'
import { readConfig } from '../config/index.ts'
import { compileQueryReader } from '../http/query.ts'
import { compileCheck } from '../protocol/validation.ts'
import { openDatabase } from '../store/database.ts'
import { createInvalidation } from '../store/invalidation.ts'
import { findDatabase } from './database.ts'

const help = `Usage: parley audit <app> [--action <action>] [--key <digits>] [--uid <uid>] [--targetType <type>] [--target <id>]
                    [--from <time>] [--to <time>] [--limit <number>] [--before <entry>]

Prints the audit log of an app, newest entries first, as one JSON object per line. Times are epoch seconds; --limit is 100
unless it is given, 1000 at most. Actions: ${auditActions.join(', ')}.

The database is that of DATABASE_URL, else the embedded one of a running service (DATA_DIR).

Exit codes: 0 done, 1 there is no such app, 2 wrong usage, 3 the database cannot be reached.
`

const filters = ['action', 'key', 'uid', 'targetType', 'target', 'from', 'to', 'limit', 'before'] as const
const text = { type: 'string' } as const

class UsageError extends Error {}

/** Runs `parley audit`. @returns the exit code */
export async function auditCommand(args: string[]): Promise<number> {
  try {
    const options = Object.fromEntries(filters.map((name) => [name, text]))
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    const [app, ...rest] = positionals
    if (app === undefined || rest.length > 0) throw new UsageError('name an app')
    dotenv.config({ quiet: true })
    return await print(app.toLowerCase(), readFilters(values as Record<string, string>))
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

async function print(name: string, query: QueryOf<typeof listAuditLog>): Promise<number> {
  const database = openDatabase({ connectionString: await findDatabase(readConfig(process.env)) })
  try {
    const app = await createAppRegistry(
      database,
      createInvalidation(database),
      createAudit({ caller: 'command' }),
    ).find(name)
    if (app === undefined) {
      process.stderr.write(`parley audit: there is no app ${name}\n`)
      return 1
    }
    const { data } = await listEntries(database, app.appId, query)
    for (const entry of data) process.stdout.write(`${JSON.stringify(entry)}\n`)
    return 0
  } finally {
    await database.close()
  }
}
