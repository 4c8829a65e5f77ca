import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import type { Config } from '../config/index.ts'
import { createLog } from '../log.ts'
import type { ConnectionSettings } from '../store/connection.ts'
import { databaseUrlFile, resolveDataDir } from '../store/data-folder.ts'
import { DataDirInUseError, startEmbeddedPostgres } from '../store/embedded/index.ts'

/** A database for a command, as long as the command runs. */
export interface Session {
  readonly connection: ConnectionSettings
  /** It is a child of the service or of this process, on this machine. */
  readonly isEmbedded: boolean
  /** As people are told which it is, without a password. */
  readonly name: string
  close(): Promise<void>
}

export const dataDirOf = (config: Config) => resolveDataDir(config.dataDir, process.cwd()).dataDir

/**
 * The database of the configuration: that of DATABASE_URL, else the embedded one, which is started where no service runs on it.
 * @param options.exclusive a service must not run on it
 */
export async function openSession(config: Config, { exclusive = false } = {}): Promise<Session> {
  if (config.databaseUrl !== undefined) return openExternal(config.databaseUrl)
  const dataDir = dataDirOf(config)
  requireEmbedded(dataDir)
  try {
    return await openEmbedded(dataDir)
  } catch (error) {
    if (exclusive || !(error instanceof DataDirInUseError)) throw error
    const url = (await readFile(path.join(dataDir, databaseUrlFile), 'utf8')).trim()
    return { connection: { connectionString: url }, isEmbedded: true, name: dataDir, close: async () => {} }
  }
}

export function openExternal(url: string): Session {
  return {
    connection: { connectionString: url },
    isEmbedded: false,
    name: nameOf(url),
    close: async () => {},
  }
}

function nameOf(url: string): string {
  if (URL.canParse(url)) {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  }
  // With a user and no host, as for a socket, it is an address to the driver only.
  const { host, database } = new pg.Client({ connectionString: url })
  return `${host}/${database}`
}

/** @throws Error where a data folder has no embedded database */
export function requireEmbedded(dataDir: string): void {
  if (!existsSync(path.join(dataDir, 'postgres'))) {
    throw new Error(`there is no embedded database in ${dataDir}; set DATA_DIR, or DATABASE_URL`)
  }
}

/** Starts the embedded database of a data folder, and makes one where there is none. */
export async function openEmbedded(dataDir: string, settings: Record<string, string> = {}): Promise<Session> {
  await mkdir(dataDir, { recursive: true })
  const postgres = await startEmbeddedPostgres({ dataDir, log: createLog('silent'), settings })
  return {
    connection: { ...postgres.connection, ssl: false },
    isEmbedded: true,
    name: dataDir,
    close: () => postgres.stop(),
  }
}
