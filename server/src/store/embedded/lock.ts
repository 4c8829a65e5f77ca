import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DataDirInUseError, errorCode } from './errors.ts'
import { bootId, pidExists, pidNamespace, readStat, startOf } from './processes.ts'

export interface FolderLock {
  /** Gives the folder free; does nothing when the lock is no longer ours. */
  release(): void
}

/** Who holds the lock. The pid alone would not do: it is used again after a crash, a reboot or in a new container. */
interface Holder {
  id: string
  pid: number
  startedAt?: string | undefined
  boot?: string | undefined
  pidNamespace?: string | undefined
}

const lockName = 'parley.lock'

/**
 * Takes `parley.lock` in a folder, so that no two processes work in it at once. A lock whose holder is gone is taken over.
 *
 * A stale lock is never deleted to make room, since two newcomers doing so could each delete the other's fresh lock. The
 * right to follow the dead holder X is itself a file, `parley.lock.after-<X>`, and only one process can create it. Holders thus
 * form a chain from the lock file on, the last one counts, and once it is sure of its place it shortens the chain to itself.
 *
 * @throws DataDirInUseError when a live process holds it
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, lockName)
  const holder = describeSelf()
  const draft = `${path}.${holder.id}.draft`
  writeDurably(draft, `${JSON.stringify(holder)}\n`)
  try {
    for (let attempt = 0; !takePlace(path, draft, holder, folder); attempt++) {
      // Each round was lost to somebody else's progress, unless the file is one that can neither be read nor replaced.
      if (attempt > 1_000) throw new Error(`Cannot take the lock ${path}: delete that file if no Parley runs.`)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  removeLeftovers(path)
  return { release: () => release(path, holder.id) }
}

/** One try at becoming the holder. False when what was seen has changed meanwhile. */
function takePlace(path: string, draft: string, holder: Holder, folder: string): boolean {
  if (linkIfFree(draft, path)) return true
  const last = readChain(path).at(-1)
  if (last === undefined) return false
  if (isAlive(last)) throw inUse(folder, last)
  const claim = claimPath(path, last)
  if (!linkIfFree(draft, claim)) return false
  // If somebody shortened the chain while we looked at it, what we follow is no longer in it.
  const ours = readChain(path).at(-1)?.id === holder.id
  if (ours) renameSync(draft, path)
  rmSync(claim, { force: true })
  return ours
}

function describeSelf(): Holder {
  const id = randomBytes(8).toString('hex')
  return { id, pid: process.pid, startedAt: startOf(process.pid), boot: bootId(), pidNamespace: pidNamespace() }
}

/** The holders from the lock file on, each the successor of a dead one. Empty when there is no lock. */
function readChain(path: string): Holder[] {
  const chain: Holder[] = []
  for (let next = readHolder(path); next !== undefined; next = readHolder(claimPath(path, next))) chain.push(next)
  return chain
}

function claimPath(path: string, dead: Holder): string {
  return `${path}.after-${dead.id}`
}

/** Undefined when there is no such file. What cannot be read as a holder (a power cut leaves empty files) is a dead one. */
function readHolder(path: string): Holder | undefined {
  const text = readIfThere(path)
  if (text === undefined) return undefined
  const parsed = parseJson(text)
  if (isHolder(parsed)) return parsed
  return { id: `unreadable-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`, pid: 0 }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('pid' in value)) return false
  return typeof value.id === 'string' && /^[\w-]{1,64}$/.test(value.id) && Number.isInteger(value.pid)
}

function isAlive(holder: Holder): boolean {
  if (holder.pid <= 0) return false
  if (holder.boot !== bootId()) return false
  // Another container's processes cannot be seen from here. Whether its database still runs is found out at its socket.
  if (holder.pidNamespace !== pidNamespace()) return false
  if (!pidExists(holder.pid)) return false
  if (readStat(holder.pid)?.state === 'Z') return false
  const startedAt = startOf(holder.pid)
  return startedAt === undefined || holder.startedAt === undefined || startedAt === holder.startedAt
}

function inUse(folder: string, holder: Holder): DataDirInUseError {
  return new DataDirInUseError(
    `The data folder ${folder} is in use by process ${holder.pid}. Stop that process, or set DATA_DIR to another folder. ` +
      `(If process ${holder.pid} is not Parley, delete ${join(folder, lockName)}.)`,
  )
}

/** Creates `path` with the content of `draft`, whole from the first moment. False when it is there already. */
function linkIfFree(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Removes claims and drafts of processes that are gone, those of the chain just shortened included. */
function removeLeftovers(path: string): void {
  const prefix = `${basename(path)}.`
  for (const name of readdirSync(dirname(path)).filter((entry) => entry.startsWith(prefix))) {
    const leftover = join(dirname(path), name)
    const holder = readHolder(leftover)
    // A draft without content is one that is just being written.
    const unfinished = name.endsWith('.draft') && holder?.pid === 0
    if (holder !== undefined && !unfinished && !isAlive(holder)) rmSync(leftover, { force: true })
  }
}

function release(path: string, id: string): void {
  if (readHolder(path)?.id === id) rmSync(path, { force: true })
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o644)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
