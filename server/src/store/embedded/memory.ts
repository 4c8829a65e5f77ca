import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

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

const prewarm = 'pg_prewarm'

/**
 * Has PostgreSQL note every five minutes, and when it stops, what it keeps in memory, and read that again after its next start, behind all
 * else. Else a restart is followed by minutes in which much has to be fetched.
 * @param binaries holds lib; nothing is set where the library is not among PostgreSQL's programs
 */
export function warmStart(binaries: string): Record<string, string> {
  const folders = [join(binaries, 'lib', 'postgresql'), join(binaries, 'lib')]
  const files = ['so', 'dylib', 'dll'].flatMap((ending) =>
    folders.map((folder) => join(folder, `${prewarm}.${ending}`)),
  )
  return files.some((file) => existsSync(file)) ? { shared_preload_libraries: prewarm } : {}
}
