import type pg from 'pg'
import type { Query } from './channel.ts'
import { type ConnectionSettings, DatabaseAwayError } from './connection.ts'
import { openLongReads } from './long-reads.ts'
import { openQuickReads } from './quick-reads.ts'
import type { Reader } from './reader.ts'
import { createTimeUsed } from './time-used.ts'

/** A kind of reads that may take long, with connections and limits of its own. */
export interface ReadKind {
  /** What is read: `list`, `search`. */
  readonly name: string
  /** Connections, that is, how many long ones run at once. */
  readonly atOnce: number
  /** How long one may run, and how long it may wait for its turn, in milliseconds; 0 for as long as it takes. */
  readonly timeoutMs: number
  /** Most of them are over within so many milliseconds, and share connections as long as they are. */
  readonly quickMs?: number
  /** Statement to run on each new connection, e.g. planner settings. */
  readonly setup?: string
}

export interface ReadsOptions extends ReadKind {
  readonly connection: ConnectionSettings
  /** The database is a child of this service: its processes that run long reads get less of the processor than the others. */
  readonly giveWay: boolean
  /** Ends what a connection of the database runs. */
  readonly cancel: (processId: number) => Promise<void>
}

/** How much there is at the moment. */
export interface ReadLoad {
  readonly running: number
  readonly waiting: number
}

/** Reads that may take long. What cannot run at once waits in a fair queue. */
export interface Reads {
  /**
   * @throws ReadsFullError when too much waits already
   * @throws ReadTimeoutError when it waited or ran for too long
   * @throws ReadAbandonedError when the reader has gone
   */
  run(query: Query, reader: Reader): Promise<pg.QueryResult>
  readonly load: ReadLoad
  /** Cuts all connections, and refuses what waits. */
  reset(): void
  close(): Promise<void>
}

/**
 * A query is tried among the quick ones, unless its reader has lately asked for long ones or for many; when it turns out to be
 * long, it begins anew on a connection that runs nothing else.
 */
export function createReads(options: ReadsOptions): Reads {
  const used = createTimeUsed()
  const long = openLongReads(options, used)
  const { quickMs } = options
  const quick = quickMs === undefined ? undefined : openQuickReads({ ...options, quickMs }, used)
  const parts = quick === undefined ? [long] : [quick, long]
  return {
    async run(query, reader) {
      return (await quick?.run(query, reader)) ?? long.run(query, reader)
    },
    load: {
      get running() {
        return parts.reduce((sum, { turns }) => sum + turns.load.running, 0)
      },
      get waiting() {
        return parts.reduce((sum, { turns }) => sum + turns.load.waiting, 0)
      },
    },
    reset() {
      for (const { channels, turns } of parts) {
        for (const channel of channels) channel.reset()
        turns.refuse(new DatabaseAwayError())
      }
    },
    async close() {
      await Promise.all(parts.flatMap(({ channels }) => channels.map((channel) => channel.close())))
    },
  }
}
