import type { FileStore } from '../media/storage.ts'
import { removeBackup } from './backup.ts'
import { readFileList } from './files.ts'
import { backupsFolder, filesFolder, listBackups, readManifest, timeOf } from './format.ts'

/**
 * What was begun so long ago and has no manifest will not be finished, and what nobody wrote to for so long will not arrive: the process was
 * killed. No other backup of the same database runs now (one-at-a-time.ts), and a destination is for one database.
 */
const abandonedAfterMs = 86_400_000

/**
 * Removes all backups of a destination but the newest ones, then the files of messages that none of those names, and what was never
 * finished. Nobody else may make a backup there meanwhile.
 * @returns ids of those that were removed
 */
export async function pruneBackups(destination: FileStore, keep: number): Promise<string[]> {
  const ids = await listBackups(destination)
  const over = ids.slice(0, -keep)
  for (const id of over) await removeBackup(destination, id)
  await removeAbandoned(destination, new Set(ids))
  for (const folder of [backupsFolder, filesFolder]) await destination.tidyBelow(folder, Date.now() - abandonedAfterMs)
  if (over.length > 0) await removeUnusedFiles(destination, ids.slice(-keep))
  return over
}

async function removeUnusedFiles(destination: FileStore, ids: readonly string[]): Promise<void> {
  const used = new Set<string>()
  for (const id of ids)
    for await (const { path } of readFileList(destination, await readManifest(destination, id))) used.add(path)
  for (const name of await destination.list(filesFolder)) {
    if (!used.has(name.slice(filesFolder.length))) await destination.remove(name)
  }
}

async function removeAbandoned(destination: FileStore, finished: ReadonlySet<string>): Promise<void> {
  const ids = new Set((await destination.list(backupsFolder)).map((name) => name.split('/')[1] as string))
  for (const id of ids) {
    const time = timeOf(id)
    if (!finished.has(id) && time !== undefined && time < Date.now() - abandonedAfterMs)
      await removeBackup(destination, id)
  }
}
