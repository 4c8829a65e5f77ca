import { spawnSync } from 'node:child_process'
import { existsSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EmbeddedLog } from './log.ts'

/** The unprivileged user that PostgreSQL runs as when this process is root, which PostgreSQL refuses to run as. */
export interface Account {
  uid: number
  gid: number
}

const accountName = 'parley'
const nologin = '/usr/sbin/nologin'

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * The account for a data folder, made if need be. A cluster stays with the user who owns it, so that somebody who ran Parley as
 * themselves can still do so after it ran once as root. Undefined when this process is not root: then it is that user itself.
 */
export function chooseAccount(dataDir: string, log: EmbeddedLog): Account | undefined {
  if (!runsAsRoot()) return undefined
  const account = ownerOfCluster(dataDir) ?? lookUp(accountName) ?? create(log) ?? lookUp('nobody')
  if (account !== undefined) return account
  throw new Error(
    'PostgreSQL refuses to run as root, and there is neither a user "parley" (nor could it be made) nor a user "nobody": ' +
      'create one, run Parley as an ordinary user, or set DATABASE_URL.',
  )
}

/** As chooseAccount, but changes nothing: where the account is still to be made, one that owns nothing stands for it. */
export function foreseeAccount(dataDir: string): Account {
  return ownerOfCluster(dataDir) ?? lookUp(accountName) ?? { uid: -1, gid: -1 }
}

/** Whether an account may pass through a folder and everything above it. Folders that do not exist are taken as passable. */
export function canReach(folder: string, account: Account): boolean {
  const parent = dirname(folder)
  if (parent !== folder && !canReach(parent, account)) return false
  return !existsSync(folder) || (statSync(folder).mode & passBit(statSync(folder), account)) !== 0
}

/** The permission bit that decides whether the account may pass through a folder. */
export function passBit(folder: Stats, account: Account): number {
  if (folder.uid === account.uid) return 0o100
  return folder.gid === account.gid ? 0o010 : 0o001
}

function ownerOfCluster(dataDir: string): Account | undefined {
  const cluster = join(dataDir, 'postgres')
  if (!existsSync(cluster)) return undefined
  const { uid, gid } = statSync(cluster)
  return uid === 0 ? undefined : { uid, gid }
}

/** Asks `id` rather than /etc/passwd, because users may come from elsewhere. */
function lookUp(name: string): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((option) => {
    const answer = spawnSync('id', [option, name], { encoding: 'utf8' })
    return answer.status === 0 ? Number(answer.stdout) >>> 0 : undefined
  })
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { uid, gid }
}

function create(log: EmbeddedLog): Account | undefined {
  const program = ['/usr/sbin/useradd', '/sbin/useradd'].find((path) => existsSync(path))
  if (program === undefined) return undefined
  const options = ['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', nologin]
  let complaint = ''
  // Once more for a group of that name without the user, and for another process that is making the same user now.
  for (const extra of [[], ['--gid', accountName], []]) {
    const answer = spawnSync(program, [...options, ...extra, accountName], { encoding: 'utf8' })
    const account = lookUp(accountName)
    if (account !== undefined) {
      log.info(`created the system user "${accountName}", because PostgreSQL refuses to run as root`)
      return account
    }
    complaint = answer.stderr?.trim() ?? ''
  }
  log.warn(`could not create the system user "${accountName}" (${complaint}); PostgreSQL runs as "nobody"`)
  return undefined
}
