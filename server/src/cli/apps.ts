import { parseArgs } from 'node:util'
import { ApiError, appSettingNames, appSettings, type SettingsChange } from '@parley/contract'
import dotenv from 'dotenv'
import { createApiKey, ensureKey, selectKeys } from '../areas/api-keys/index.ts'
import { deleteApp, pauseApp, resumeApp, undeleteApp } from '../areas/apps/index.ts'
import type { KeyScope } from '../chat/credentials/keys.ts'
import type { App } from '../chat/identity.ts'
import { readSettingsText } from '../config/app-settings.ts'
import { type Config, readConfig, regions } from '../config/index.ts'
import { createKey } from '../keys-file.ts'
import { statement } from '../store/statement.ts'
import { type CommandStore, openStore } from './store.ts'

const help = `Usage: parley apps <command>

Commands:
  list                                      every app of this service
  create <app> [--region us|eu|in]          create an app with API keys of its own, and print them
  set <app> [<setting>=<value> ...]         change settings; <setting>= returns one to its default; without any, show them
  keys <app> [--create fullAccess|authOnly] list the API keys of an app, or create another one
             [--name <name>]
  pause <app>                               it answers nobody, and what is done for it in the background waits
  resume <app>                              a paused app goes on
  delete <app> --confirm <app>              removes an app, with everything in it, after seven days; until then it is paused
  undelete <app>                            takes that back; the app stays paused

Settings:
${appSettingNames.map((name) => `  ${name.padEnd(14)} ${appSettings[name].description}`).join('\n')}

A service that is running hears of changes at once. The database is that of DATABASE_URL, else the embedded one of a
running service (DATA_DIR); its master key is that of keys.env or PARLEY_MASTER_KEY.

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 the database cannot be reached.
`

class UsageError extends Error {}

/** Runs `parley apps`. @returns the exit code */
export async function appsCommand(args: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        region: { type: 'string', default: 'us' },
        create: { type: 'string' },
        confirm: { type: 'string' },
        name: { type: 'string', default: 'REST API Key' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    dotenv.config({ quiet: true })
    return await run(readConfig(process.env), positionals, values)
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    process.stderr.write(`parley apps: ${(error as Error).message}\n${isUsage ? `\n${help}` : ''}`)
    return isUsage ? 2 : 3
  }
}

interface Values {
  readonly region: string
  readonly create?: string | undefined
  readonly confirm?: string | undefined
  readonly name: string
}

async function run(config: Config, [command, name, ...rest]: string[], values: Values): Promise<number> {
  if (!['list', 'create', 'set', 'keys', ...Object.keys(changes)].includes(command ?? ''))
    throw new UsageError('name a command')
  if (command !== 'list' && name === undefined) throw new UsageError('name an app')
  if (command === 'delete' && values.confirm === undefined) throw new UsageError('name the app once more: --confirm')
  if (name !== undefined && !/^[A-Za-z0-9_-]{1,100}$/.test(name)) {
    throw new UsageError('the id of an app is 1 to 100 of A-Z a-z 0-9 - _')
  }
  if (!(regions as readonly string[]).includes(values.region)) {
    throw new UsageError(`--region must be one of ${regions.join(', ')}`)
  }
  const store = await openStore(config)
  try {
    if (command === 'list') return await list(store)
    const appName = (name as string).toLowerCase()
    if (command === 'create') return await create(store, appName, values.region, config)
    const app = await store.apps.find(appName)
    if (app === undefined) {
      process.stderr.write(`parley apps: there is no app ${appName}\n`)
      return 1
    }
    if (command === 'set') return await set(store, app, rest)
    if (command === 'keys') return await keys(store, app, values)
    if (command === 'delete' && values.confirm?.toLowerCase() !== app.name) {
      process.stderr.write(`parley apps: --confirm is not ${app.name}\n`)
      return 1
    }
    return await changeState(store, app, changes[command as string] as Change, values)
  } finally {
    await store.database.close()
  }
}

type Store = CommandStore
type Change = (store: Store, app: App, values: Values) => Promise<void>

/** What pauses and deletes apps, by command. */
const changes: Readonly<Record<string, Change>> = {
  pause: pauseApp,
  resume: resumeApp,
  delete: (store, app, { confirm = '' }) => deleteApp(store, app, confirm),
  undelete: undeleteApp,
}

async function changeState(store: Store, app: App, change: Change, values: Values): Promise<number> {
  try {
    await change(store, app, values)
    return 0
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    process.stderr.write(`parley apps: ${error.devMessage}\n`)
    return 1
  }
}

const selectApps = statement(`
  select name, region, created_at as "createdAt", paused_at as "pausedAt",
    deletes_at as "deletesAt"
  from apps
  order by name`)

interface AppRow {
  readonly name: string
  readonly region: string
  readonly createdAt: number
  readonly pausedAt: number | null
  readonly deletesAt: number | null
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString()

async function list({ database }: Store): Promise<number> {
  const apps = await database.query<AppRow>(selectApps)
  for (const { name, region, createdAt, pausedAt, deletesAt } of apps) {
    const paused = pausedAt === null ? '' : `\tpaused since ${timeOf(pausedAt)}`
    const state = deletesAt === null ? paused : `${paused}, removed from ${timeOf(deletesAt)} on`
    process.stdout.write(`${name}\t${region}\t${timeOf(createdAt)}${state}\n`)
  }
  return 0
}

async function create(store: Store, name: string, region: string, config: Config): Promise<number> {
  const app = await store.apps.ensure(name, region)
  if (!app.created) {
    process.stderr.write(`parley apps: there is an app ${name} already\n`)
    return 1
  }
  const made: Array<[string, KeyScope]> = [['REST API Key', 'fullAccess']]
  if (config.authKey !== 'off') made.push(['Auth Key', 'authOnly'])
  process.stdout.write(`App id         ${app.name}\nRegion         ${app.region}\n`)
  for (const [keyName, scope] of made) {
    const apiKey = createKey()
    await ensureKey(store, app.appId, { apiKey, name: keyName, scope })
    process.stdout.write(`${keyName.padEnd(15)}${apiKey}   (${scope})\n`)
  }
  return 0
}

async function set({ settings, audit }: Store, app: App, assignments: readonly string[]): Promise<number> {
  const change = readChange(assignments)
  const held = assignments.length > 0 ? await settings.change(app, change, audit) : await settings.of(app.appId)
  for (const name of appSettingNames) process.stdout.write(`${name}=${held[name]}\n`)
  return 0
}

function readChange(assignments: readonly string[]): SettingsChange {
  try {
    return readSettingsText(assignments)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function keys(store: Store, app: App, { create: scope, name }: Values): Promise<number> {
  if (scope !== undefined) {
    if (scope !== 'fullAccess' && scope !== 'authOnly') throw new UsageError('--create takes fullAccess or authOnly')
    const { apiKey } = await createApiKey(store, app.appId, name, scope)
    process.stdout.write(`${apiKey}\t${scope}\t${name}\n`)
    return 0
  }
  const { keys: held } = await selectKeys(store, app.appId, {}, { page: 1, perPage: 1000, offset: 0 })
  for (const key of held) process.stdout.write(`${key.apiKey}\t${key.scope}\t${key.name}\n`)
  return 0
}
