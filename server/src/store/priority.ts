import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { promisify } from 'node:util'
import type pg from 'pg'

/** As `nice` counts: 0 is what everybody has, 19 the least. A process with 5 gets a third of what one with 0 gets beside it. */
const niceness = 5
/** Linux lets those without special rights change one session in 100 ms, whoever asks. */
const sessionPauseMs = 120
const sessionTries = 20

/**
 * Lets a process of this machine have less of the processor than the others, where somebody else wants it.
 * @returns whether the system allowed that; else it goes on as before
 */
function lowerPriority(processId: number, to = niceness): boolean {
  try {
    // Whoever started it may have told it to give way more.
    if (getPriority(processId) < to) setPriority(processId, to)
    return true
  } catch {
    // Over already, or not ours to say: some systems run the database as another user.
    return false
  }
}

/**
 * Lets a process of the database on this machine have less of the processor than the others, where somebody else wants it. Many kernels share
 * processors among sessions first (`autogroup`), and each process of PostgreSQL is one: there, a priority means nothing unless its session has it, too.
 * @returns whether the system allowed the process to have it; its session may get it a little later
 */
export function lowerDatabaseProcess(processId: number, to = niceness): boolean {
  if (!lowerPriority(processId, to)) return false
  lowerSession(processId, to, sessionTries)
  return true
}

function lowerSession(processId: number, to: number, tries: number): void {
  try {
    const file = `/proc/${processId}/autogroup`
    const [, now = String(to)] = /nice (-?\d+)/.exec(readFileSync(file, 'utf8')) ?? []
    if (Number(now) < to && isSessionOfItsOwn(processId)) writeFileSync(file, String(to))
  } catch (error) {
    const isLater = (error as NodeJS.ErrnoException).code === 'EAGAIN' && tries > 1
    if (isLater) setTimeout(lowerSession, sessionPauseMs, processId, to, tries - 1).unref()
    // Else there are no such groups, the process is over, or it is not ours to say: its own priority is all there is.
  }
}

/** Others in its session would give way, too. */
function isSessionOfItsOwn(processId: number): boolean {
  const [, , , session] = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return Number(session) === processId
}

/**
 * Lets the database's process of a connection give way to the others, where it is on this machine: on another one, or of another
 * user, it is not ours to slow down.
 */
export function lowerPriorityOf(client: pg.Client, to = niceness): void {
  const { processID, connection } = client as unknown as {
    processID: number | null
    connection: { stream: { remoteAddress?: string } }
  }
  const address = connection.stream.remoteAddress
  const isHere = address === undefined || /^(::1|127\.|::ffff:127\.)/.test(address)
  if (isHere && processID !== null) lowerDatabaseProcess(processID, to)
}

/** What a command has that copies everything: it has time, and whoever serves people goes first. */
const ofCommands = 10

/**
 * Lets this process give way to the others, with all of its threads. On Linux a priority is that of one thread, and those that read files and pack
 * have begun long before the first line of a program runs.
 */
export function lowerOwnPriority(): void {
  for (const thread of threadsOf(process.pid)) lowerPriority(thread, ofCommands)
}

/**
 * Lets this thread give way to the others of its process, and to other processes, where the system knows priorities of threads (Linux).
 * @returns the number that the system knows it by, if it does
 */
export function lowerThreadPriority(to = niceness): number | undefined {
  try {
    const [, thread] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    return thread !== undefined && lowerPriority(Number(thread), to) ? Number(thread) : undefined
  } catch {
    return undefined
  }
}

/**
 * Lets a thread of this process run only while nobody else wants a processor (Linux's policy for idle times), or as all others again, with
 * the share that its priority gives it. Beside a lower priority, which shares in turns of some milliseconds, this one ends at
 * once when somebody else has something to do. Node.js has no call for it, but most systems a program.
 * @param thread as the system knows it
 * @returns whether it does
 */
export async function setIdleThread(thread: number, isIdle: boolean): Promise<boolean> {
  try {
    await promisify(execFile)('chrt', [isIdle ? '-i' : '-o', '-p', '0', String(thread)])
    return true
  } catch {
    return false
  }
}

/**
 * Whether a thread that runs in idle times only may be made one as all others again. Linux asks for a right, or for a limit of priorities that
 * allows it (`LimitNICE` of systemd, `ulimit -e`). Without, it would never run on a machine that is always busy.
 */
export function mayLeaveIdle(to = niceness): boolean {
  try {
    const [, capabilities = '0'] = /^CapEff:\s*([\da-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if ((BigInt(`0x${capabilities}`) & mayChangePriorities) !== 0n) return true
    const [, limit = '0'] = /^Max nice priority\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    // As the system counts it: from 1 for the least to 40.
    return Number(limit) >= 20 - to
  } catch {
    return false
  }
}

/** `CAP_SYS_NICE` among the rights of a process. */
const mayChangePriorities = 1n << 23n

function threadsOf(processId: number): number[] {
  if (process.platform !== 'linux') return [processId]
  try {
    return readdirSync(`/proc/${processId}/task`).map(Number)
  } catch {
    // Where there is no /proc, the first thread makes those that come later give way.
    return [processId]
  }
}
