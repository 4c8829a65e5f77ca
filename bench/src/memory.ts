import { residentMemory } from './processes.ts'

export interface MemoryReport {
  /** Bytes resident: when the service had started, the most it ever had, and at the end. */
  readonly atStart: number
  readonly highest: number
  readonly atEnd: number
}

/** Watches a process's resident memory from now on. */
export function watchMemory(pid: number): () => MemoryReport | undefined {
  const start = residentMemory(pid)
  return () => {
    const end = residentMemory(pid)
    return start && end && { atStart: start.now, highest: end.highest, atEnd: end.now }
  }
}
