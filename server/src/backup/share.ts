import { availableParallelism } from 'node:os'

/** How much works at the same time. */
export interface Share {
  /** Tables that are read, each by a process of the database. */
  readonly readers: number
  /** Blocks of one table that are packed, each by a thread. */
  readonly packers: number
}

/**
 * What a backup at full pace takes of a machine: about half of it. Whoever sends a message meanwhile needs a processor at once, several times in
 * turn. A low priority is not enough for that: Linux shares out processors among sessions first, and each process of the database
 * is one. One reader with one packer take turns, so that together they keep one processor busy.
 */
export function shareOf(processors = availableParallelism()): Share {
  return { readers: processors < 4 ? 1 : 2, packers: processors < 8 ? 1 : 3 }
}
