import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../config/index.ts'
import { databaseUrlFile, resolveDataDir } from '../store/data-folder.ts'

/**
 * The database that commands work on: that of DATABASE_URL, else the embedded one of a running service.
 * @throws Error saying what to do where there is none
 */
export async function findDatabase(config: Config): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  const file = path.join(dataDir, databaseUrlFile)
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch {
    throw new Error(
      `no service is running on ${dataDir} (there is no ${file}). Start it, or set DATA_DIR or DATABASE_URL as the service has it.`,
    )
  }
}
