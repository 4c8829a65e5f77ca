import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Account, canReach } from './account.ts'
import { errorCode } from './errors.ts'

/** PostgreSQL adds `/.s.PGSQL.5432` and a NUL; the system takes 108 bytes. */
const longestFolder = 93

export interface SocketFolder {
  path: string
  /** Removes what was made outside of the data folder. */
  remove(): void
}

/**
 * Makes the private folder for the server's unix socket: `run` in the database's home. Where that path is too long, or its file
 * system has no sockets (folders shared with a virtual machine), a folder under the system's temporary one, and `run` links to it.
 */
export async function makeSocketFolder(home: string, account: Account | undefined): Promise<SocketFolder> {
  const run = join(home, 'run')
  const old = lstatSync(run, { throwIfNoEntry: false })
  if (old?.isSymbolicLink()) removeLinked(run, account)
  if (Buffer.byteLength(run) <= longestFolder) {
    mkdirSync(run, { recursive: true })
    makePrivate(run, account)
    if (await takesSockets(run)) return { path: run, remove: () => {} }
  }
  rmSync(run, { recursive: true, force: true })
  const folder = mkdtempSync(join(temporaryFolder(account), 'parley-'))
  makePrivate(folder, account)
  symlinkSync(folder, run)
  return { path: folder, remove: () => removeLinked(run, account) }
}

function makePrivate(folder: string, account: Account | undefined): void {
  chmodSync(folder, 0o700)
  if (account) chownSync(folder, account.uid, account.gid)
}

/** Removes the link and, if it is ours and private, the folder: after a crash, somebody else may have put something in its place. */
function removeLinked(link: string, account: Account | undefined): void {
  const folder = readlinkSync(link)
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  const owner = account?.uid ?? process.getuid?.()
  if (stats?.isDirectory() && stats.uid === owner && (stats.mode & 0o777) === 0o700)
    rmSync(folder, { recursive: true, force: true })
  rmSync(link, { force: true })
}

function temporaryFolder(account: Account | undefined): string {
  const folder = realpathSync(tmpdir())
  const fits = Buffer.byteLength(join(folder, 'parley-123456')) <= longestFolder
  return fits && (account === undefined || canReach(folder, account)) ? folder : '/tmp'
}

function takesSockets(folder: string): Promise<boolean> {
  const path = join(folder, `.try-${randomBytes(3).toString('hex')}`)
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => {
      if (['ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error) ?? '')) resolve(false)
      else reject(error)
    })
    server.listen(path, () => server.close(() => resolve(true)))
  })
}
