import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { programIn } from './binaries.ts'
import { commandFor, type Launcher } from './commands.ts'
import { DataDirInUseError, errorCode } from './errors.ts'
import type { EmbeddedLog } from './log.ts'
import {
  findServersOf,
  isServerOf,
  pidExists,
  programOf,
  readStat,
  type ServerProcess,
  signalIfThere,
} from './processes.ts'

const run = promisify(execFile)

/**
 * How long a server may take to stop on SIGINT, in milliseconds, before it gets SIGQUIT, which costs a recovery at the next
 * start and no data. It takes 20; but a server that is asked while it recovers from the crash of one of its processes waits for
 * ever (seen with 18.4).
 */
export const fastStopPatience = 4_000

/** How long an ended server may stay in the process table because its parent does not ask for it. */
const zombiePatience = 5_000

/**
 * Makes way for a new server in a cluster whose lock we hold: ends what a service that was killed has left running, and removes
 * files that would make PostgreSQL believe that it still runs.
 *
 * @throws DataDirInUseError when a server that we cannot see, in another container, still answers
 */
export async function clearLeftovers(cluster: string, socketFile: string | undefined, log: EmbeddedLog): Promise<void> {
  await endServers(cluster, log)
  if (socketFile !== undefined && (await answers(socketFile))) {
    throw new DataDirInUseError(
      `The database in ${cluster} is in use by a PostgreSQL server that this process cannot see, probably that of another ` +
        'container. Stop it, or set DATA_DIR to another folder.',
    )
  }
  await removeMisleading(join(cluster, 'postmaster.pid'), cluster, log)
  if (socketFile !== undefined) await removeMisleading(`${socketFile}.lock`, cluster, log)
}

/** Windows has no signals, and its processes cannot be asked for their folder: pg_ctl does both. False when no server was stopped. */
export async function stopWithPgCtl(launcher: Launcher, binaries: string, cluster: string): Promise<boolean> {
  if (!existsSync(join(cluster, 'postmaster.pid'))) return false
  const { file, args, options } = commandFor(launcher, programIn(binaries, 'pg_ctl'), [
    'stop',
    '-D',
    cluster,
    '-m',
    'fast',
    '-w',
  ])
  return run(file, args, options).then(
    () => true,
    () => false,
  )
}

/**
 * A whole server ends by SIGINT to its first process. Backends without one, because it was killed, get SIGTERM; one that is busy
 * in a long computation may not look at that, and SIGKILL does no harm: the next start recovers anyway.
 */
async function endServers(cluster: string, log: EmbeddedLog): Promise<void> {
  const steps: { signal: NodeJS.Signals; patience: number }[] = [
    { signal: 'SIGINT', patience: fastStopPatience },
    { signal: 'SIGQUIT', patience: 10_000 },
    { signal: 'SIGKILL', patience: 10_000 },
  ]
  for (const { signal, patience } of steps) {
    const found = findServersOf(cluster)
    if (found.length === 0) return
    const first = firstOf(found, cluster)
    log.warn(
      { pids: found.map(({ pid }) => pid), signal },
      'ending a PostgreSQL server that an earlier run has left behind',
    )
    if (first !== undefined) {
      // Killing the first process alone would only leave its backends without one.
      for (const { pid } of signal === 'SIGKILL' ? found : [first]) signalIfThere(pid, signal)
      if (await waitUntilGone(cluster, patience)) return
    } else {
      for (const { pid } of found) signalIfThere(pid, 'SIGTERM')
      if (await waitUntilGone(cluster, 1_000)) return
      for (const { pid } of findServersOf(cluster)) signalIfThere(pid, 'SIGKILL')
      if (await waitUntilGone(cluster, patience)) return
    }
  }
  const pids = findServersOf(cluster).map(({ pid }) => pid)
  if (pids.length > 0)
    throw new Error(
      `PostgreSQL processes of an earlier run still work in ${cluster} and cannot be ended: ${pids.join(', ')}`,
    )
}

/** The postmaster among a cluster's processes: the one that the others are children of, or that its pid file names. */
function firstOf(found: ServerProcess[], cluster: string): ServerProcess | undefined {
  const named = readPid(join(cluster, 'postmaster.pid'))
  return found.find(({ pid }) => pid === named || found.some(({ parent }) => parent === pid))
}

async function waitUntilGone(cluster: string, patience: number): Promise<boolean> {
  const deadline = Date.now() + patience
  while (findServersOf(cluster).length > 0) {
    if (Date.now() > deadline) return false
    await sleep(10)
  }
  return true
}

/**
 * Removes a pid file (all of PostgreSQL's have the pid in their first line) that would keep PostgreSQL from starting although no
 * server is there: it is empty after a power cut, or its pid has gone to another program, as in a restarted container.
 * What names a dead process or somebody else's is left alone, since PostgreSQL sees through that itself.
 */
async function removeMisleading(file: string, cluster: string, log: EmbeddedLog): Promise<void> {
  if (!existsSync(file)) return
  const pid = readPid(file)
  if (pid !== undefined) {
    if (!(await isTakenByOther(pid, cluster))) return
    log.warn({ file, pid }, 'removing a stale lock file of PostgreSQL: its process is not PostgreSQL')
  } else {
    log.warn({ file }, 'removing an incomplete lock file of PostgreSQL')
  }
  rmSync(file, { force: true })
}

/** Whether a process that has this pid keeps PostgreSQL from starting without being a server of this cluster. */
async function isTakenByOther(pid: number, cluster: string): Promise<boolean> {
  // An ended server that its parent has not asked for yet: usually gone within a second or two.
  const deadline = Date.now() + zombiePatience
  while (readStat(pid)?.state === 'Z') {
    if (Date.now() > deadline) return true
    await sleep(20)
  }
  if (!pidExists(pid)) return false
  return programOf(pid) !== undefined && !isServerOf(pid, cluster)
}

/** Undefined when there is no such file or no pid in it. A minus stands for a server in single-user mode. */
function readPid(file: string): number | undefined {
  if (!existsSync(file)) return undefined
  const pid = Math.abs(Number.parseInt(readFileSync(file, 'utf8'), 10))
  return pid > 0 ? pid : undefined
}

/** Whether somebody listens on a unix socket. A full queue (EAGAIN) means yes, too. */
function answers(socketFile: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketFile)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => resolve(errorCode(error) === 'EAGAIN'))
  })
}
