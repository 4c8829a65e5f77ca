import type pg from 'pg'
import { createCache } from '../cache.ts'
import { type Channel, createChannel, type Query } from './channel.ts'
import { isCanceled, isUnprepared } from './connection.ts'
import { boundPrepared } from './prepared.ts'
import type { Reader } from './reader.ts'
import type { ReadsOptions } from './reads.ts'
import type { TimeUsed } from './time-used.ts'
import { createTurns, type Turns } from './turns.ts'

/**
 * Many at once on few connections, which takes much less of both sides than one at a time on many. One that takes longer than
 * a moment is ended by the database, so nobody waits behind another for longer.
 */
export interface QuickReads {
  /** @returns nothing when it is, or is likely to be, a long one */
  run(query: Query, reader: Reader): Promise<pg.QueryResult | undefined>
  readonly turns: Turns
  readonly channels: readonly Channel[]
}

const connections = 2
const limits = {
  ...{ atOnce: 24, atOncePerApp: 16, atOncePerKey: 12, atOncePerUser: 4 },
  ...{ waitingPerReader: 100, waitingPerApp: 500, waiting: 2000 },
}
/** Whoever asked for so many long ones within a while is taken to ask for such for the rest of it. */
const enoughLong = 3
const longWithinMs = 10_000
const maxReaders = 10_000
/** Whoever is paced, and has used more than this lately, lets others go first here: their lists may be dear, although none is long. */
const enoughUsedMs = 500

/** @param used is asked, and what is used here is added */
export function openQuickReads(options: ReadsOptions & { readonly quickMs: number }, used: TimeUsed): QuickReads {
  const { connection, name, timeoutMs, quickMs, setup } = options
  const turns = createTurns(name, limits, timeoutMs)
  const limited = `set statement_timeout = ${quickMs}${setup === undefined ? '' : `; ${setup}`}`
  const channels = Array.from({ length: connections }, (_, i) =>
    createChannel(connection, `parley quick ${name} ${i}`, limited),
  )
  const lines = channels.map((channel) => ({ channel: boundPrepared(channel), freeAt: 0 }))
  const long = createCache<string, number>({ max: maxReaders, ttl: longWithinMs, noUpdateTTL: true })
  let next = 0

  return {
    async run(query, reader) {
      const key = `${reader.appId} ${reader.uid ?? ''}`
      const asksForLong = () =>
        (long.get(key) ?? 0) >= enoughLong || (reader.isPaced === true && used.of(reader) > enoughUsedMs)
      const tryIt = async () => {
        if (asksForLong()) return undefined
        const line = lines[next++ % connections] as (typeof lines)[number]
        const askedAt = performance.now()
        try {
          return await line.channel.query(query)
        } catch (error) {
          // It was ended; or one before it was, while it prepared the same statement.
          if (!isCanceled(error) && !isUnprepared(error)) throw error
          long.set(key, (long.get(key) ?? 0) + 1)
          return undefined
        } finally {
          // It ran from when the one before it was over.
          const now = performance.now()
          if (reader.isPaced === true) used.add(reader, now - Math.max(askedAt, line.freeAt))
          line.freeAt = now
        }
      }
      return asksForLong() ? undefined : turns.run(reader, tryIt)
    },
    turns,
    channels,
  }
}
