import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { type Binaries, programIn } from './binaries.ts'
import { commandFor, type Launcher } from './commands.ts'
import type { EmbeddedLog } from './log.ts'

export interface ClusterSetup {
  /** holds the cluster and its password */
  home: string
  binaries: Binaries
  launcher: Launcher
  log: EmbeddedLog
}

/** The name of the database, and of the superuser of the cluster. */
export const databaseName = 'parley'

const passwordFile = 'postgres-password'
const draftPrefix = 'postgres.initializing-'

/**
 * Makes the cluster `<home>/postgres` if there is none, else checks that these programs can work with it. No server may run in it.
 *
 * @returns the password of its user
 */
export async function prepareCluster(setup: ClusterSetup): Promise<{ cluster: string; password: string }> {
  const { home, binaries, launcher } = setup
  const cluster = join(home, 'postgres')
  removeDrafts(home)
  const known = readPassword(home)
  const password = known ?? randomBytes(24).toString('hex')

  if (!existsSync(cluster) || readdirSync(cluster).length === 0) {
    if (known === undefined) writePassword(home, password, launcher.account)
    await makeCluster(setup, cluster)
    return { cluster, password }
  }
  checkVersion(cluster, binaries.major)
  claimFiles(cluster, launcher.account)
  if (known === undefined) {
    setup.log.warn(`${join(home, passwordFile)} is missing: setting a new database password`)
    await resetPassword(setup, cluster, password)
    writePassword(home, password, launcher.account)
  }
  return { cluster, password }
}

/** Works in a folder of another name and renames that when all is done, so that an interrupted attempt leaves no half cluster. */
async function makeCluster(setup: ClusterSetup, cluster: string): Promise<void> {
  const { home, binaries, launcher, log } = setup
  const draft = join(home, `${draftPrefix}${randomBytes(6).toString('hex')}`)
  mkdirSync(draft)
  claimFiles(draft, launcher.account)
  const startedAt = Date.now()
  await runToEnd(setup, programIn(binaries.folder, 'initdb'), [
    ...['-D', draft],
    ...[`--username=${databaseName}`, `--pwfile=${join(home, passwordFile)}`, '--auth=scram-sha-256'],
    // The same on every machine, and not C alone: with that, letters outside of ASCII are no letters.
    ...['--locale=C', '--lc-ctype=C.UTF-8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8'],
  ])
  if (existsSync(cluster)) rmdirSync(cluster)
  renameSync(draft, cluster)
  syncFolder(home)
  log.info({ cluster, milliseconds: Date.now() - startedAt }, 'created a new PostgreSQL cluster')
}

function removeDrafts(home: string): void {
  for (const name of readdirSync(home).filter((entry) => entry.startsWith(draftPrefix))) {
    // An initdb whose parent was killed may still be writing its last file.
    rmSync(join(home, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
}

function checkVersion(cluster: string, major: number): void {
  const file = join(cluster, 'PG_VERSION')
  if (!existsSync(file)) {
    throw new Error(
      `${cluster} is not empty and not a PostgreSQL cluster: move it away, or set DATA_DIR to another folder.`,
    )
  }
  const found = readFileSync(file, 'utf8').trim()
  if (found === String(major)) return
  throw new Error(
    `The database in ${cluster} was made by PostgreSQL ${found}, and this version of Parley brings PostgreSQL ${major}, which cannot ` +
      `read it. Start the version of Parley that made it, dump the database with pg_dump, and load the dump with psql into a new data ` +
      `folder; or run a PostgreSQL ${found} server on that folder yourself and set DATABASE_URL.`,
  )
}

/** PostgreSQL insists on owning its folder and on its mode. Files copied or restored by root, or made for another user id, are mended. */
function claimFiles(cluster: string, account: Account | undefined): void {
  const stats = statSync(cluster)
  const self = account?.uid ?? process.getuid?.()
  if (account !== undefined && stats.uid !== account.uid) chownAll(cluster, account)
  else if (self !== undefined && stats.uid !== self) {
    throw new Error(
      `${cluster} belongs to user ${stats.uid}, and this process runs as user ${self}: run Parley as that user or as root.`,
    )
  }
  if (process.platform !== 'win32' && ![0o700, 0o750].includes(stats.mode & 0o777)) chmodSync(cluster, 0o700)
}

/** The folder itself last: by its owner the next start sees whether this one was ended before all was done. */
function chownAll(path: string, account: Account): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) chownAll(child, account)
    else lchownSync(child, account.uid, account.gid)
  }
  lchownSync(path, account.uid, account.gid)
}

function readPassword(home: string): string | undefined {
  const file = join(home, passwordFile)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() || undefined : undefined
}

function writePassword(home: string, password: string, account: Account | undefined): void {
  const path = join(home, passwordFile)
  rmSync(path, { force: true })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${password}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  // initdb reads it.
  if (account) chownSync(draft, account.uid, account.gid)
  renameSync(draft, path)
  syncFolder(home)
}

/** Single-user mode asks for no password. The password is hexadecimal, so it needs no quoting. */
async function resetPassword(setup: ClusterSetup, cluster: string, password: string): Promise<void> {
  const statement = `alter user ${databaseName} password '${password}'\n`
  await runToEnd(
    setup,
    programIn(setup.binaries.folder, 'postgres'),
    ['--single', '-D', cluster, 'postgres'],
    statement,
  )
}

/** @throws Error with the last lines of the program's output when it fails */
function runToEnd(setup: ClusterSetup, program: string, args: string[], input?: string): Promise<void> {
  const { file, args: all, options } = commandFor(setup.launcher, program, args)
  return new Promise((resolve, reject) => {
    const child = spawn(file, all, {
      ...options,
      detached: process.platform !== 'win32',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let output = ''
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8_000)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    // The program may end without reading: its exit code tells.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} failed (${signal ?? `exit code ${code}`}):\n${output.trim()}`))
    })
  })
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
