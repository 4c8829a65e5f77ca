import path from 'node:path'
import { createAppRegistry, type RegisteredApp } from '../../chat/apps.ts'
import { createAudit } from '../../chat/audit/audit.ts'
import { type Config, readConfig } from '../../config/index.ts'
import { loadKeys } from '../../keys-file.ts'
import { createMediaStorage } from '../../media/create.ts'
import { resolveDataDir } from '../../store/data-folder.ts'
import { openSecrets } from '../../store/data-keys.ts'
import { openDatabase } from '../../store/database.ts'
import { createInvalidation } from '../../store/invalidation.ts'
import { findDatabase } from '../database.ts'

/** A service's database, files and master key, as commands work on them beside it. */
export type Session = Awaited<ReturnType<typeof openSession>>

export async function openSession(env: Readonly<Record<string, string | undefined>>) {
  const config: Config = readConfig(env)
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  const connectionString = await findDatabase(config)
  const database = openDatabase({ connectionString })
  try {
    const masterKey = config.masterKey ?? (await loadKeys(config, dataDir, { mustExist: true })).masterKey
    const secrets = await openSecrets(database, [masterKey])
    const invalidation = createInvalidation(database)
    const audit = createAudit(secrets, { caller: 'command' })
    const apps = createAppRegistry(database, invalidation, audit)
    return {
      ...{ config, connectionString, database, secrets, invalidation, audit, apps },
      storage: createMediaStorage(config, path.join(dataDir, 'media')),
      async findApp(name: string | undefined): Promise<RegisteredApp | undefined> {
        return apps.find((name ?? config.appId).toLowerCase())
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
