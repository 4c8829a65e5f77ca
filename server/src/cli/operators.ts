import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { type Account, createOwnerLink, selectAccounts } from '../areas/operators/index.ts'
import { createAudit } from '../chat/audit/audit.ts'
import { type Config, readConfig } from '../config/index.ts'
import { originOfConsole } from '../greeting.ts'
import { loadKeys } from '../keys-file.ts'
import { resolveDataDir } from '../store/data-folder.ts'
import { openSecrets } from '../store/data-keys.ts'
import { openDatabase } from '../store/database.ts'
import { findDatabase } from './database.ts'

const help = `Usage: parley operators <command>

Commands:
  list    every operator of this service
  setup   print a one-time address at which somebody becomes an owner; it is valid for an hour

The address names ADMIN_PORT of this machine where it is set, else PUBLIC_URL, else PORT. The database is that of DATABASE_URL, else the
embedded one of a running service (DATA_DIR); its master key is that of keys.env or PARLEY_MASTER_KEY.

Exit codes: 0 done, 2 wrong usage, 3 the database cannot be reached.
`

class UsageError extends Error {}

/** Runs `parley operators`. @returns the exit code */
export async function operatorsCommand(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    const [command, ...rest] = positionals
    if (command === undefined || !['list', 'setup'].includes(command) || rest.length > 0) {
      throw new UsageError('name a command')
    }
    dotenv.config({ quiet: true })
    await run(readConfig(process.env), command)
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`parley operators: ${(error as Error).message}\n${isUsage ? `\n${help}` : ''}`)
    return isUsage ? 2 : 3
  }
}

async function run(config: Config, command: string): Promise<void> {
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  const database = openDatabase({ connectionString: await findDatabase(config) })
  try {
    if (command === 'list') {
      for (const { email, role, apps, disabledAt } of await database.query<Account>(selectAccounts)) {
        const state = disabledAt === null ? 'active' : 'disabled'
        process.stdout.write(`${email}\t${role}\t${apps === null ? 'all apps' : `${apps.length} apps`}\t${state}\n`)
      }
      return
    }
    const masterKey = config.masterKey ?? (await loadKeys(config, dataDir, { mustExist: true })).masterKey
    const secrets = await openSecrets(database, [masterKey])
    const token = await createOwnerLink({ database, secrets, audit: createAudit(secrets, { caller: 'command' }) })
    const address = { address: '127.0.0.1', family: 'IPv4', port: config.port }
    const origin = originOfConsole(address, config)
    process.stdout.write(`${origin}/console#setup=${token}\n`)
  } finally {
    await database.close()
  }
}
