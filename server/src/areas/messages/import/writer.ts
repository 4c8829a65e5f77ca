import { createCache } from '../../../cache.ts'
import type { Metrics } from '../../../metrics.ts'
import { withChannel } from '../../../store/channel.ts'
import { type Coalescer, createCoalescer } from '../../../store/coalesce.ts'
import { isRetryable } from '../../../store/connection.ts'
import type { Database, Transaction } from '../../../store/database.ts'
import { createHeldApart, patienceMs, settingsOfPatience } from '../../../store/held.ts'
import type { Secrets } from '../../../store/secrets.ts'
import type { KnownPairs } from './conversations.ts'
import { findHeldRequests } from './held.ts'
import type { ImportRow } from './row.ts'
import { type ImportResult, importSettings, writeImport, writeImportWithin } from './write.ts'

/** Writes what is imported, the records of several requests together. */
export interface ImportWriter {
  /**
   * Checks and stores the messages of one request, durably, in their order. They go into one transaction, so that their
   * order within a second and their threads do not depend on where a batch ends.
   * @returns what became of each, in order
   */
  write(rows: readonly ImportRow[]): Promise<ImportResult[]>
  /**
   * Checks and stores messages in a transaction that has made what they bring along, so that both are stored or neither is.
   * Must be the last that locks anything in it.
   */
  writeWithin(tx: Transaction, rows: readonly ImportRow[]): Promise<ImportResult[]>
  /** Resolves when nothing is waiting or being written. */
  drain(): Promise<void>
}

/** Messages in a batch of several requests. Most have far fewer; large ones go one by one, so that others can be read meanwhile. */
const maxBatch = 1000
/** While one reaches the disk and one is planned, the database works on a third. */
const maxInFlight = 3

interface Request {
  /** No two are in line for the same: each locks conversations and users of its own, and they come in any order. */
  readonly name: string
  readonly rows: readonly ImportRow[]
}

/** Imports wait no longer than sends do for what somebody has locked for long: a batch has requests of several apps. */
export function createImportWriter(database: Database, secrets: Secrets, metrics: Metrics): ImportWriter {
  const known: KnownPairs = createCache({ max: 100_000 })
  const channels = Array.from({ length: maxInFlight }, (_, i) =>
    database.openChannel(`parley importer ${i}`, settingsOfPatience(patienceMs, importSettings)),
  )
  /** Of batches that were divided: where the rest has to wait for somebody, they are stored already. */
  const stored = new WeakMap<ImportRow, ImportResult>()
  let next = 0
  // Rows are divided here, which keeps their order.
  const isDivisible = () => false
  const held = createHeldApart<Request, ImportResult[]>({
    ...{ database, name: 'parley importer apart', settings: importSettings, maxBatch: 1, isDivisible },
    appOf: ({ rows }) => rows[0]?.appId ?? 0,
    nameOf: ({ name }) => name,
    resume: (some) => requests.resume(some),
    findHeld: findHeldRequests,
    async write(channel, batch, { isHurried }) {
      const rows = batch.flatMap((request) => request.rows).filter((row) => !stored.has(row))
      metrics.batches.observe({ writer: 'import' }, rows.length)
      const write: Write = (some) => retryMeetings(() => writeImport(channel, secrets, known, some, isHurried))
      const results = new Map((await writeDivisibly(write, rows, stored)).map((result, i) => [rows[i], result]))
      return batch.map((request) => request.rows.map((row) => (stored.get(row) ?? results.get(row)) as ImportResult))
    },
  })
  const requests: Coalescer<Request, ImportResult[]> = createCoalescer({
    maxBatch,
    maxInFlight,
    weigh: ({ rows }) => rows.length,
    write: (batch) => withChannel(channels, (channel) => held.write(channel, batch)),
    isDivisible,
  })
  return {
    write: (rows) => requests.submit({ name: String(next++), rows }),
    writeWithin(tx, rows) {
      metrics.batches.observe({ writer: 'import' }, rows.length)
      return writeImportWithin(tx, secrets, known, rows)
    },
    drain: () => requests.drain().then(held.drain),
  }
}

/** Data that cannot be stored, a broken constraint, a limit of the database. */
export function isFaultOfData(error: unknown): boolean {
  return /^(22|23|54)/.test(String((error as { code?: unknown }).code))
}

type Write = (rows: readonly ImportRow[]) => Promise<ImportResult[]>

const uniqueViolation = '23505'
const maxAttempts = 4

/**
 * Writes rows; what fails as a whole is halved and tried again, so that one bad row never fails its neighbours.
 * @param parts what became of the rows of each part is noted here: another part may fail
 */
async function writeDivisibly(
  write: Write,
  rows: readonly ImportRow[],
  parts: WeakMap<ImportRow, ImportResult>,
): Promise<ImportResult[]> {
  const writePart = async (part: readonly ImportRow[]) => {
    const results = await writeDivisibly(write, part, parts)
    for (const [i, row] of part.entries()) parts.set(row, results[i] as ImportResult)
    return results
  }
  try {
    return await write(rows)
  } catch (error) {
    if (!isFaultOfData(error)) throw error
    if (rows.length > 1) {
      const half = Math.ceil(rows.length / 2)
      const before = await writePart(rows.slice(0, half))
      return [...before, ...(await writePart(rows.slice(half)))]
    }
    return rows.map(() => ({ refusal: 'ERR_EXCEPTION', cause: error }))
  }
}

/** Deadlocks are tried again, and muids that another batch stored after this one had looked for them. */
export async function retryMeetings<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      const isTaken = (error as { code?: unknown }).code === uniqueViolation
      if (!(isTaken || isRetryable(error)) || attempt === maxAttempts) throw error
    }
  }
}
