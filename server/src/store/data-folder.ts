import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { EmbeddedPostgres } from './embedded/index.ts'

export { resolveDataDir } from './embedded/index.ts'

/** In the data folder while the service runs: the address of its embedded database, for `psql` and `parley doctor`. */
export const databaseUrlFile = 'database-url'

/** Writes the address of the embedded database down, readable by its owner only. */
export async function publishDatabaseUrl(dataDir: string, { connection }: EmbeddedPostgres): Promise<void> {
  const { host, port, user, password, database } = connection
  const query = new URLSearchParams({ host, port: String(port) })
  const url = `postgresql://${user}:${encodeURIComponent(password)}@/${database}?${query}`
  await writeFile(path.join(dataDir, databaseUrlFile), `${url}\n`, { mode: 0o600 })
}

export async function withdrawDatabaseUrl(dataDir: string): Promise<void> {
  await rm(path.join(dataDir, databaseUrlFile), { force: true })
}
