import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { basename } from 'node:path'
import { errorCode } from './errors.ts'

export interface ServerProcess {
  pid: number
  parent: number
}

interface ProcessStat {
  state: string
  parent: number
  /** clock ticks between boot and the start of the process: with the pid, it names one process for good */
  startedAt: string
}

const onLinux = process.platform === 'linux'

/** Reads /proc/PID/stat. Undefined when there is no such process, or no /proc. */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readProc(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The second field is the program's name in parentheses, and may itself hold blanks and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' }
}

/** Whether the pid is taken, be it by a zombie or by a process of somebody else. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** The moment a process started, in a form that can only be compared for equality. Undefined where it cannot be learnt. */
export function startOf(pid: number): string | undefined {
  if (onLinux) return readStat(pid)?.startedAt
  if (process.platform === 'win32') return undefined
  const answer = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return answer.stdout?.trim() || undefined
}

/** Names this run of the machine: pids and start times of an earlier boot say nothing about this one. */
export function bootId(): string | undefined {
  return readProc('/proc/sys/kernel/random/boot_id')?.trim()
}

/** Names the set of processes that this one can see: pids of another container say nothing here. */
export function pidNamespace(): string | undefined {
  return readLink('/proc/self/ns/pid')
}

/** The name of the program a process runs, without folder. Undefined when it is gone, a zombie, or not ours to see. */
export function programOf(pid: number): string | undefined {
  const path = readLink(`/proc/${pid}/exe`)
  // An upgrade replaces the file under a running process.
  return path === undefined ? undefined : basename(path.replace(/ \(deleted\)$/, ''))
}

/** Whether a process is a PostgreSQL server or backend at work in this cluster: each of them has the cluster as its working folder. */
export function isServerOf(pid: number, cluster: string): boolean {
  const folder = statIfThere(cluster)
  return folder !== undefined && worksIn(pid, folder)
}

/** Every PostgreSQL process at work in a cluster, whoever its parent is now. Always empty on Windows. */
export function findServersOf(cluster: string): ServerProcess[] {
  const folder = statIfThere(cluster)
  if (folder === undefined || process.platform === 'win32') return []
  if (!onLinux) return findServersByCommand(cluster)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => worksIn(pid, folder))
    .map((pid) => ({ pid, parent: readStat(pid)?.parent ?? 0 }))
}

/** Sends a signal to a process that may have ended by itself in the meantime. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}

function worksIn(pid: number, folder: Stats): boolean {
  if (programOf(pid) !== 'postgres') return false
  // Compared by inode: the path can read differently from inside another mount namespace.
  const cwd = statIfThere(`/proc/${pid}/cwd`)
  return cwd !== undefined && cwd.dev === folder.dev && cwd.ino === folder.ino
}

/** Without /proc, a server is known by the `-D <cluster>` it was started with, its backends by being its children. */
function findServersByCommand(cluster: string): ServerProcess[] {
  const answer = spawnSync('ps', ['-axo', 'pid=,ppid=,command='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const rows = (answer.stdout ?? '').split('\n').flatMap((line) => {
    const parts = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)
    return parts ? [{ pid: Number(parts[1]), parent: Number(parts[2]), command: parts[3] ?? '' }] : []
  })
  const servers = rows.filter((row) => row.command.includes(`/postgres -D ${cluster} `))
  const backends = rows.filter((row) => servers.some((server) => server.pid === row.parent))
  return [...servers, ...backends].map(({ pid, parent }) => ({ pid, parent }))
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    // Gone, or the folder of a process that is not ours to see.
    return undefined
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
