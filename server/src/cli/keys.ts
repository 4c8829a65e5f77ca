import { parseArgs } from 'node:util'
import { ApiError } from '@parley/contract'
import dotenv from 'dotenv'
import { endReplacedKeys, type HeldKey, replaceKey, selectHeldKeys } from '../areas/api-keys/index.ts'
import type { KeyScope } from '../chat/credentials/keys.ts'
import type { App } from '../chat/identity.ts'
import { type Config, readConfig } from '../config/index.ts'
import { changeKeysFile, keysFileOf, readKeysFile } from '../keys-file.ts'
import { sealedColumns } from '../sealed.ts'
import { readHolders } from '../store/key-watch.ts'
import { RotationError, readMasterState } from '../store/master-rotation.ts'
import { countOld } from '../store/reseal.ts'
import { rotateMaster } from './master-key.ts'
import { type CommandStore, openStore } from './store.ts'

const help = `Usage: parley keys <command>

Commands:
  status                          the keys of this service: which there are, who has them, what is still under an old one
  rotate api|auth                 make a new API key (fullAccess) or auth key (authOnly) and print it; the old one goes on working
         [--app <app>]            of this app; the app of PARLEY_APP_ID unless it is given
         [--key <key>]            the key to be replaced, or the 8 digits that stand for it; needed where an app has several
         [--ends-in <time>]       end the old one by itself, after so many minutes, hours or days: 30m, 24h, 7d
  rotate api|auth --end           end the old ones now: those that were replaced
         [--app <app>]
  rotate master                   make a new master key; the old one opens everything, too, until it is ended
         [--key-file <file>]      where the new one is written, or, if the file is there, read from; needed where the master
                                  key comes from the environment
  rotate master --finish          end the old master key: when every process has the new one
         [--force]                also if some do not: they go on, but cannot start again
  rotate master --abandon         take the new master key back, before it is in its place

A service that is running goes on. The database is that of DATABASE_URL, else the embedded one of a running service
(DATA_DIR); its master key is that of keys.env or PARLEY_MASTER_KEY.

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 the database cannot be reached.
`

class UsageError extends Error {}

/** What can be said beside a command. */
interface Values {
  readonly app?: string | undefined
  readonly key?: string | undefined
  readonly 'ends-in'?: string | undefined
  readonly end?: boolean | undefined
  readonly 'key-file'?: string | undefined
  readonly finish?: boolean | undefined
  readonly abandon?: boolean | undefined
  readonly force?: boolean | undefined
}

/** Runs `parley keys`. @returns the exit code */
export async function keysCommand(args: string[]): Promise<number> {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        ...{ app: text, key: text, 'ends-in': text, 'key-file': text },
        ...{ end: flag, finish: flag, abandon: flag, force: flag, help: { ...flag, short: 'h' } },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    dotenv.config({ quiet: true })
    return await run(readConfig(process.env), positionals.join(' '), values)
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    const isRefused = error instanceof RotationError || error instanceof ApiError
    const message = error instanceof ApiError ? error.devMessage : (error as Error).message
    process.stderr.write(`parley keys: ${message}\n${isUsage ? `\n${help}` : ''}`)
    if (isUsage) return 2
    return isRefused ? 1 : 3
  }
}

const scopes: Readonly<Record<string, KeyScope>> = { 'rotate api': 'fullAccess', 'rotate auth': 'authOnly' }

async function run(config: Config, command: string, values: Values): Promise<number> {
  const scope = scopes[command]
  if (scope === undefined && command !== 'status' && command !== 'rotate master') throw new UsageError('name a command')
  const allowed: ReadonlyArray<keyof Values> =
    command === 'status'
      ? []
      : scope === undefined
        ? ['key-file', 'finish', 'abandon', 'force']
        : ['app', 'key', 'ends-in', 'end']
  const other = (Object.keys(values) as Array<keyof Values>).find((name) => !allowed.includes(name))
  if (other !== undefined) throw new UsageError(`--${other} is not for this command`)
  const endsIn = values['ends-in'] === undefined ? undefined : readTime(values['ends-in'])
  if (values.end === true && (endsIn !== undefined || values.key !== undefined))
    throw new UsageError('--end stands alone')
  if (values.finish === true && values.abandon === true) throw new UsageError('--finish or --abandon')
  const store = await openStore(config)
  try {
    if (command === 'status') return await showStatus(store)
    if (scope === undefined) {
      return await rotateMaster(store, { ...values, keyFile: values['key-file'] })
    }
    const name = (values.app ?? config.appId).toLowerCase()
    const app = await store.apps.find(name)
    if (app === undefined) throw new RotationError(`there is no app ${name}`)
    if (values.end === true) return await end(store, app, scope)
    return await rotate(store, app, scope, { named: values.key, endsIn })
  } finally {
    await store.database.close()
  }
}

/** @returns seconds */
function readTime(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count === undefined) throw new UsageError('--ends-in takes a time such as 30m, 24h or 7d')
  return Number(count) * { m: 60, h: 3_600, d: 86_400 }[unit as 'm' | 'h' | 'd']
}

async function rotate(
  store: CommandStore,
  app: App,
  scope: KeyScope,
  { named, endsIn }: { readonly named: string | undefined; readonly endsIn: number | undefined },
): Promise<number> {
  const { config, dataDir } = store
  const setting = scope === 'fullAccess' ? 'PARLEY_API_KEY' : 'PARLEY_AUTH_KEY'
  const given = scope === 'fullAccess' ? config.apiKey : config.authKey
  const file = keysFileOf(dataDir)
  const inFile = (await readKeysFile(file))?.[setting]?.toLowerCase()
  const ofDeployment = app.name === config.appId ? (given ?? inFile) : undefined
  const old = choose(await selectHeldKeys(store, app.appId), { scope, named, ofDeployment })
  const endsAt = endsIn === undefined ? null : Math.floor(Date.now() / 1000) + endsIn
  const made = await replaceKey(store, app.appId, old, endsAt)
  if (made === undefined) throw new RotationError(`the key ${old.fingerprint} was replaced or deleted meanwhile`)
  const say = (line: string) => process.stdout.write(`${line}\n`)
  say(made.apiKey)
  const command = `parley keys rotate ${scope === 'fullAccess' ? 'api' : 'auth'} --end${
    app.name === config.appId ? '' : ` --app ${app.name}`
  }`
  const until = endsAt === null ? '' : ` until ${new Date(endsAt * 1000).toISOString()}, or`
  process.stderr.write(
    `The old key (${old.fingerprint}, ${old.name}) goes on working${until} until you end it: ${command}\n`,
  )
  if (app.name === config.appId && inFile === old.apiKey) {
    await changeKeysFile(file, { [setting]: made.apiKey })
    process.stderr.write(`${file} has the new key.\n`)
  }
  if (app.name === config.appId && given === old.apiKey) {
    process.stderr.write(`Set ${setting} to the new key where the service is started.\n`)
  }
  return 0
}

/** The key that is to be replaced. */
function choose(
  held: readonly HeldKey[],
  { scope, named, ofDeployment }: Record<'named' | 'ofDeployment', string | undefined> & { readonly scope: KeyScope },
): HeldKey {
  const present = held.filter((key) => key.scope === scope && key.replacedAt === null)
  const list = present.map(({ fingerprint, name }) => `  ${fingerprint}  ${name}\n`).join('')
  if (named !== undefined) {
    const wanted = named.toLowerCase()
    const found = present.filter(({ apiKey, fingerprint }) => apiKey === wanted || fingerprint === wanted)
    if (found.length === 1) return found[0] as HeldKey
    throw new RotationError(
      `there is no ${scope} key ${/^[0-9a-f]{8}$/.test(wanted) ? wanted : 'like this'}; there are\n${list}`,
    )
  }
  const own = present.find(({ apiKey }) => apiKey === ofDeployment)
  if (own !== undefined) return own
  if (present.length === 1) return present[0] as HeldKey
  if (present.length === 0) throw new RotationError(`the app has no ${scope} key that was not replaced`)
  throw new RotationError(`say which of these is to be replaced, by --key:\n${list}`)
}

async function end(store: CommandStore, app: App, scope: KeyScope): Promise<number> {
  const ended = await endReplacedKeys(store, app.appId, scope)
  if (ended.length === 0) throw new RotationError(`the app has no ${scope} key that was replaced`)
  for (const fingerprint of ended) process.stdout.write(`${fingerprint} opens nothing any more\n`)
  return 0
}

async function showStatus({ database, secrets }: CommandStore): Promise<number> {
  const say = (line: string) => process.stdout.write(`${line}\n`)
  const state = await readMasterState(database)
  for (const master of state.masters) {
    const isNewest = master === state.newest
    const since = isNewest && state.changedAt !== undefined ? `, since ${state.changedAt}` : ''
    say(
      `master key ${master}: ${isNewest ? 'the present one' : 'the one before; it opens everything, too, until --finish'}${since}`,
    )
  }
  const old = await countOld(database, sealedColumns, secrets)
  say(`secrets are sealed with version ${state.currentSeal}; ${old} are still under an older one`)
  for (const { machine, pid, source, master } of await readHolders(database)) {
    say(`process ${pid} on ${machine} has master key ${master} from ${source}`)
  }
  return 0
}
