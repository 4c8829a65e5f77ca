import { randomBytes } from 'node:crypto'
import { chown, copyFile, link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'dotenv'
import type { Config } from './config/index.ts'
import { createReader } from './config/secrets.ts'

/** The keys of a deployment: the default app's two API keys, and the master key that seals what is secret. */
export interface DeploymentKeys {
  readonly apiKey: string
  /** Absent where the deployment has none (`PARLEY_AUTH_KEY=off`). */
  readonly authKey: string | undefined
  readonly masterKey: string
  /** Where the keys are kept that the environment does not give; mode 0600. */
  readonly file: string
  /** The file was made now: this is the first start in this data folder. */
  readonly isNew: boolean
}

/**
 * Keys come from the environment, else from the file `keys.env` of the data folder, else they are created once and kept there.
 * A master key that is given is not kept: whoever gets hold of the data folder shall not have it.
 * @param mustExist the file has to be there already
 * @throws Error when the file is there but does not hold what it should, rather than making other keys
 */
export async function loadKeys(
  config: Config,
  dataDir: string,
  { mustExist = false }: { mustExist?: boolean } = {},
): Promise<DeploymentKeys> {
  const file = keysFileOf(dataDir)
  const kept = await readKeysFile(file)
  if (kept === undefined && mustExist) throw new Error(`there is no ${file}; set DATA_DIR or PARLEY_MASTER_KEY`)
  const withAuthKey = config.authKey !== 'off'
  const made = {
    PARLEY_API_KEY: config.apiKey ?? createKey(),
    ...(withAuthKey && { PARLEY_AUTH_KEY: config.authKey ?? createKey() }),
    PARLEY_MASTER_KEY: config.masterKey ?? randomBytes(32).toString('hex'),
  }
  const { PARLEY_MASTER_KEY, ...others } = made
  const isNew = kept === undefined && (await keep(file, config.masterKey === undefined ? made : others))
  const held: Partial<typeof made> = isNew ? made : (kept ?? (await readKeysFile(file)) ?? {})
  const pick = (name: keyof typeof made, given: string | undefined, pattern: RegExp) => {
    const key = given ?? held[name]
    if (key === undefined || !pattern.test(key))
      throw new Error(
        `${file} holds no valid ${name}. Set ${name} as it was before, or restore the file from its backup.`,
      )
    return key.toLowerCase()
  }
  return {
    apiKey: pick('PARLEY_API_KEY', config.apiKey, /^[0-9a-f]{40}$/i),
    authKey:
      withAuthKey && (config.authKey ?? held.PARLEY_AUTH_KEY) !== undefined
        ? pick('PARLEY_AUTH_KEY', config.authKey, /^[0-9a-f]{40}$/i)
        : undefined,
    masterKey: pick('PARLEY_MASTER_KEY', config.masterKey, /^[0-9a-f]{64}$/i),
    file,
    isNew,
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Where the master key of a process is read, and read again while it runs: the variable, the file that it names, else the file
 * of keys. What a variable says does not change.
 */
export function masterKeySource(environment: Environment, file: string) {
  const isGiven = (name: string) => Boolean(environment[name]?.trim())
  const named = environment.PARLEY_MASTER_KEY_FILE?.trim() || undefined
  const inFile = async () => (await readKeysFile(file))?.PARLEY_MASTER_KEY
  const isInFile = !isGiven('PARLEY_MASTER_KEY') && named === undefined
  return {
    name: isGiven('PARLEY_MASTER_KEY') ? 'PARLEY_MASTER_KEY' : (named ?? file),
    isInFile,
    /** @returns undefined where there is none that is valid */
    async read(): Promise<string | undefined> {
      const key = isInFile ? await inFile() : createReader(environment, [])('PARLEY_MASTER_KEY')
      return key !== undefined && /^[0-9a-f]{64}$/i.test(key) ? key.toLowerCase() : undefined
    },
  }
}

/** Where the keys of a data folder are. */
export function keysFileOf(dataDir: string): string {
  return path.join(dataDir, 'keys.env')
}

/** Keeps the file of keys as it is now, beside itself. @returns where */
export async function copyKeysFile(file: string, name: string): Promise<string> {
  const copy = `${file}.before-${name}`
  // The copy has the mode of the file.
  await copyFile(file, copy)
  return copy
}

/** Puts other keys into the file of keys, in one step: whoever reads it finds the ones or the others. */
export async function changeKeysFile(file: string, changes: Readonly<Record<string, string>>): Promise<void> {
  const held = (await readKeysFile(file)) ?? {}
  const draft = await writeDraft(file, { ...held, ...changes })
  await keepOwner(file, draft)
  await rename(draft, file)
  await syncFolder(path.dirname(file))
}

/** A new API key: 40 hexadecimal characters. */
export function createKey(): string {
  return randomBytes(20).toString('hex')
}

/** Takes back keys that were made now and turned out to open nothing, so that they are not taken for those of the database. */
export async function discardNewKeys({ file, isNew }: DeploymentKeys): Promise<void> {
  if (isNew) await rm(file, { force: true })
}

export async function readKeysFile(file: string): Promise<Record<string, string> | undefined> {
  try {
    return parse(await readFile(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Writes the file so that it is there whole, also after a power failure, or not at all: without the master key nothing in
 * the database opens. @returns false when another process was first
 */
async function keep(file: string, keys: Record<string, string>): Promise<boolean> {
  const draft = await writeDraft(file, keys)
  try {
    await link(draft, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    // File systems without links.
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(path.dirname(file))
  return true
}

async function writeDraft(file: string, keys: Readonly<Record<string, string>>): Promise<string> {
  const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
  const draft = `${file}.${process.pid}.new`
  const handle = await open(draft, 'w', 0o600)
  try {
    await handle.writeFile(lines.join(''))
    await handle.sync()
  } finally {
    await handle.close()
  }
  return draft
}

/** What root writes, the user of the service must be able to read as before. */
async function keepOwner(file: string, draft: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const before = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (before !== undefined) await chown(draft, before.uid, before.gid)
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
