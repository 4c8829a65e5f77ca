import { constants } from 'node:fs'
import { access, chown, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../config/index.ts'
import { stagingOf } from '../media/create.ts'

/**
 * The folder for what is on its way to a bucket of backups: that of the service. The system's temporary folder is often in memory, and small.
 * @returns undefined where this user may not write there, or none is named and no service has its data here
 */
export async function findStaging(
  config: Pick<Config, 'mediaStagingDir'>,
  dataDir: string,
): Promise<string | undefined> {
  const folder = path.resolve(stagingOf(config, path.join(dataDir, 'media')))
  try {
    const owner = await stat(dataDir).catch(() => undefined)
    if (owner === undefined && config.mediaStagingDir === undefined) return undefined
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (made !== undefined && owner !== undefined && process.getuid?.() === 0) {
      // What root makes here, the user of the service must be able to use.
      for (let each = folder; each.length >= made.length; each = path.dirname(each)) {
        await chown(each, owner.uid, owner.gid)
      }
    }
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return folder
  } catch {
    return undefined
  }
}
