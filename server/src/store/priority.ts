import { readdirSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type pg from 'pg'

/**
 * As `nice` counts: 0 is what everybody has, 19 the least. A process with 5 gets a third of what one with 0 gets beside it; but where Linux
 * groups processes by sessions (`autogroup`) only beside those of its own session, and each process of PostgreSQL is one.
 */
const niceness = 5

/**
 * Lets a process of this machine have less of the processor than the others, where somebody else wants it.
 * @returns whether the system allowed that; else it goes on as before
 */
export function lowerPriority(processId: number, to = niceness): boolean {
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
  if (isHere && processID !== null) lowerPriority(processID, to)
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
 * @returns whether it does
 */
export function lowerThreadPriority(to = niceness): boolean {
  try {
    const [, thread] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    return thread !== undefined && lowerPriority(Number(thread), to)
  } catch {
    return false
  }
}

function threadsOf(processId: number): number[] {
  if (process.platform !== 'linux') return [processId]
  try {
    return readdirSync(`/proc/${processId}/task`).map(Number)
  } catch {
    // Where there is no /proc, the first thread makes those that come later give way.
    return [processId]
  }
}
