import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'dotenv'
import type { Config } from './config.ts'

/** The keys of a deployment: the default app's two API keys, and the master key that seals what is secret. */
export interface DeploymentKeys {
  readonly apiKey: string
  readonly authKey: string
  readonly masterKey: string
  /** Where the keys are kept that the environment does not give; mode 0600. */
  readonly file: string
  /** The file was made now: this is the first start in this data folder. */
  readonly isNew: boolean
}

/**
 * Keys come from the environment, else from the file `keys.env` of the data folder, else they are made once and kept there.
 * @throws Error when the file is there but does not hold what it should, rather than making other keys
 */
export async function loadKeys(config: Config, dataDir: string): Promise<DeploymentKeys> {
  const file = path.join(dataDir, 'keys.env')
  const kept = await readKept(file)
  const made = kept ?? {
    PARLEY_API_KEY: config.apiKey ?? randomBytes(20).toString('hex'),
    PARLEY_AUTH_KEY: config.authKey ?? randomBytes(20).toString('hex'),
    PARLEY_MASTER_KEY: config.masterKey ?? randomBytes(32).toString('hex'),
  }
  if (kept === undefined) await keep(file, made)
  const pick = (name: keyof typeof made, given: string | undefined, pattern: RegExp) => {
    const key = given ?? made[name]
    if (key === undefined || !pattern.test(key))
      throw new Error(`${file} holds no valid ${name}. Restore it from a backup.`)
    return key.toLowerCase()
  }
  return {
    apiKey: pick('PARLEY_API_KEY', config.apiKey, /^[0-9a-f]{40}$/i),
    authKey: pick('PARLEY_AUTH_KEY', config.authKey, /^[0-9a-f]{40}$/i),
    masterKey: pick('PARLEY_MASTER_KEY', config.masterKey, /^[0-9a-f]{64}$/i),
    file,
    isNew: kept === undefined,
  }
}

async function readKept(file: string): Promise<Record<string, string> | undefined> {
  try {
    return parse(await readFile(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function keep(file: string, keys: Record<string, string>): Promise<void> {
  const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(`${file}.new`, lines.join(''), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
