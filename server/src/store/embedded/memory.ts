import { totalmem } from 'node:os'

const megabyte = 1024 * 1024

/** Bytes of memory that this process may use: those of the machine, or of its container where that has less. */
export function memoryOfMachine(): number {
  // 0, or more than there is, where nothing is set.
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

/**
 * How much of the tables PostgreSQL keeps in memory of its own, as the setting `shared_buffers`: what it has to fetch from the
 * system costs it several times as much. A sixteenth of the memory, since others use the machine too. It is taken as it is used.
 * @param memory in bytes
 */
export function sharedBuffers(memory: number): string {
  const sixteenth = Math.floor(memory / 16 / megabyte)
  return `${Math.min(1024, Math.max(128, sixteenth))}MB`
}
