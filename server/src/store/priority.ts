import { setPriority } from 'node:os'
import type pg from 'pg'

/** As `nice` counts: 0 is what everybody has, 19 the least. A process with 5 gets a third of what one with 0 gets beside it. */
const niceness = 5

/**
 * Lets a process of this machine have less of the processor than the others, where somebody else wants it.
 * @returns whether the system allowed that; else it goes on as before
 */
export function lowerPriority(processId: number, to = niceness): boolean {
  try {
    setPriority(processId, to)
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
