import type pg from 'pg'
import { type Channel, createChannel, type Query } from './channel.ts'
import { isCanceled } from './connection.ts'
import { boundPrepared } from './prepared.ts'
import { lowerDatabaseProcess } from './priority.ts'
import { ReadAbandonedError, type Reader, ReadTimeoutError } from './reader.ts'
import type { ReadsOptions } from './reads.ts'
import type { TimeUsed } from './time-used.ts'
import { createTurns, type Turns } from './turns.ts'

/** Each on a connection that runs nothing else meanwhile: so one can be ended without harm to another. */
export interface LongReads {
  run(query: Query, reader: Reader): Promise<pg.QueryResult>
  readonly turns: Turns
  readonly channels: readonly Channel[]
}

const atOncePerUser = 2
/** Connections that one app leaves to the others. */
const reserved = 2
const cancelAgainMs = 200
/**
 * Whoever is paced, and has used more than this lately, rests after each seven times as long as it took, but no longer than a
 * second. Since two run at once, that is a quarter of the time of one.
 */
const enoughUsedMs = 3_000
const restsTimes = 7
const longestRestMs = 1_000

/** @param used is asked, and what is used here is added */
export function openLongReads(
  { connection, giveWay, name, atOnce, timeoutMs, setup, cancel }: ReadsOptions,
  used: TimeUsed,
): LongReads {
  const limits = {
    atOnce,
    atOncePerApp: Math.max(1, atOnce - reserved),
    atOncePerKey: Math.max(1, Math.floor(atOnce / 2)),
    atOncePerUser: Math.min(atOncePerUser, atOnce),
    ...{ waitingPerReader: 100, waitingPerApp: 500, waiting: 2000 },
  }
  const turns = createTurns(name, limits, timeoutMs)
  const limited = `set statement_timeout = ${timeoutMs}${setup === undefined ? '' : `; ${setup}`}`
  const channels = Array.from({ length: atOnce }, (_, i) => createChannel(connection, `parley ${name} ${i}`, limited))
  /** The last one that was used comes first, so that no more are open than are needed. */
  const free = channels.map(boundPrepared).reverse()

  /** The processes of the database that give way already. */
  const givingWay = new WeakMap<Channel, number>()
  const letGiveWay = (channel: Channel) => {
    const processId = channel.processId()
    if (!giveWay || processId === undefined || givingWay.get(channel) === processId) return
    givingWay.set(channel, processId)
    lowerDatabaseProcess(processId)
  }

  const ask = async (channel: Channel, query: Query, { signal }: Reader) => {
    await channel.open()
    letGiveWay(channel)
    if (signal?.aborted === true) throw new ReadAbandonedError()
    let cancelling: Promise<void> | undefined
    let again: NodeJS.Timeout | undefined
    const cancelIt = () => {
      const processId = channel.processId()
      // Where it cannot be ended, it ends with its time.
      if (processId !== undefined) cancelling = cancel(processId).catch(() => {})
    }
    const stop = () => {
      cancelIt()
      // The database may have heard of it before it had read the query.
      again = setInterval(cancelIt, cancelAgainMs).unref()
    }
    signal?.addEventListener('abort', stop, { once: true })
    try {
      return await channel.query(query)
    } catch (error) {
      if (!isCanceled(error)) throw error
      throw again === undefined ? new ReadTimeoutError(name, timeoutMs) : new ReadAbandonedError()
    } finally {
      signal?.removeEventListener('abort', stop)
      clearInterval(again)
      // It may be on its way still, and must not meet the next one.
      await cancelling
    }
  }

  const restAfter = (reader: Reader, ms: number) => {
    if (reader.isPaced !== true) return 0
    used.add(reader, ms)
    return used.of(reader) > enoughUsedMs ? Math.min(longestRestMs, ms * restsTimes) : 0
  }

  return {
    run(query, reader) {
      let ms = 0
      const work = async () => {
        const channel = free.pop() as Channel
        const from = performance.now()
        try {
          return await ask(channel, query, reader)
        } finally {
          ms = performance.now() - from
          free.push(channel)
        }
      }
      return turns.run(reader, work, () => restAfter(reader, ms))
    },
    turns,
    channels,
  }
}
