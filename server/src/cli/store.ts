import { createAppSettings } from '../chat/app-settings.ts'
import { createAppRegistry } from '../chat/apps.ts'
import { createAudit } from '../chat/audit/audit.ts'
import { createKeyRing } from '../chat/credentials/keys.ts'
import type { Config } from '../config/index.ts'
import { loadKeys } from '../keys-file.ts'
import { resolveDataDir } from '../store/data-folder.ts'
import { openSecrets } from '../store/data-keys.ts'
import { openDatabase } from '../store/database.ts'
import { createInvalidation } from '../store/invalidation.ts'
import { findDatabase } from './database.ts'

export type CommandStore = Awaited<ReturnType<typeof openStore>>

/** What commands work with that need the keys of a service. The caller closes the database. */
export async function openStore(config: Config) {
  const { dataDir } = resolveDataDir(config.dataDir, process.cwd())
  const database = openDatabase({ connectionString: await findDatabase(config) })
  try {
    const masterKey = config.masterKey ?? (await loadKeys(config, dataDir, { mustExist: true })).masterKey
    const secrets = await openSecrets(database, [masterKey])
    const invalidation = createInvalidation(database)
    const audit = createAudit(secrets, { caller: 'command' })
    return {
      ...{ config, dataDir, masterKey, database, secrets, invalidation, audit },
      apps: createAppRegistry(database, invalidation, audit),
      keys: createKeyRing(database, secrets, invalidation),
      settings: createAppSettings(database, invalidation, config.appDefaults),
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
