import { createHash } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { type Account, canReach, foreseeAccount, passBit, runsAsRoot } from './account.ts'
import type { EmbeddedLog } from './log.ts'

/** Where things live that belong to this machine rather than to a folder of the user's choice. */
export const stateFolder = '/var/lib/parley'

/**
 * Where data goes. DATA_DIR wins and is made absolute; else it is `<cwd>/data`; for root, where PostgreSQL's user could not
 * reach that folder (below root's home, for example), `/var/lib/parley`.
 *
 * `explicit` tells whether the folder was asked for.
 */
export function resolveDataDir(requested: string | undefined, cwd: string): { dataDir: string; explicit: boolean } {
  if (requested !== undefined && requested.trim() !== '') return { dataDir: resolve(cwd, requested), explicit: true }
  const beside = resolve(cwd, 'data')
  const stays =
    !runsAsRoot() || existsSync(join(beside, 'postgres')) || canReach(realpathSync(cwd), foreseeAccount(beside))
  return { dataDir: stays ? beside : stateFolder, explicit: false }
}

/** Makes the data folder with those above it, passable for others whatever the umask, and answers its real path. */
export function makeDataDir(dataDir: string): string {
  makePassable(dataDir)
  return realpathSync(dataDir)
}

/** Makes a folder and those above it that are missing. Existing ones stay as they are. */
export function makePassable(folder: string): void {
  if (existsSync(folder)) return
  makePassable(dirname(folder))
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
}

/**
 * The folder that holds the cluster, its password and its socket: the data folder, or, where the account of PostgreSQL cannot
 * reach that, one of its own below /var/lib/parley/clusters.
 *
 * `<dataDir>/postgres` is then a link to the cluster. The link and not the path decides which cluster belongs to the folder, so
 * that a data folder can be moved, and one that was deleted and made again does not wake up with the old data.
 */
export function chooseHome(
  dataDir: string,
  account: Account | undefined,
  log: EmbeddedLog,
  state = stateFolder,
): string {
  const cluster = join(dataDir, 'postgres')
  const linked = readLinkInto(cluster, join(state, 'clusters'))
  if (linked !== undefined) {
    if (existsSync(linked)) return linked
    throw new Error(
      `The database of ${dataDir} was kept in ${linked}, which is gone. To begin with an empty one, delete ${cluster}.`,
    )
  }
  if (account === undefined || letPass(dataDir, account)) return dataDir
  if (existsSync(cluster)) {
    throw new Error(
      `${cluster} holds a database, but the user that PostgreSQL runs as (uid ${account.uid}) may not pass through the folders ` +
        'above it: allow that (chmod o+x), move the data folder elsewhere, or run Parley as an ordinary user.',
    )
  }
  const home = freeHome(dataDir, join(state, 'clusters'))
  makePassable(home)
  symlinkSync(join(home, 'postgres'), cluster)
  log.info(
    `the user of PostgreSQL cannot reach ${dataDir}: the database is kept in ${home}, with a link to it in ${dataDir}`,
  )
  return home
}

/** Lets the account through the data folder itself (`mktemp -d` makes it 0700). False when a folder above it is closed. */
function letPass(dataDir: string, account: Account): boolean {
  if (!canReach(dirname(dataDir), account)) return false
  const stats = statSync(dataDir)
  const bit = passBit(stats, account)
  if ((stats.mode & bit) === 0) chmodSync(dataDir, (stats.mode & 0o7777) | bit)
  return (statSync(dataDir).mode & bit) !== 0
}

function readLinkInto(link: string, folder: string): string | undefined {
  if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined
  const target = readlinkSync(link)
  const home = dirname(target)
  return isAbsolute(target) && basename(target) === 'postgres' && dirname(home) === folder ? home : undefined
}

/** Named after the data folder's path; numbered if another data folder with that path has left its data there. */
function freeHome(dataDir: string, clusters: string): string {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  for (let number = 1; ; number++) {
    const home = join(clusters, number === 1 ? name : `${name}-${number}`)
    if (!existsSync(join(home, 'postgres'))) return home
  }
}
