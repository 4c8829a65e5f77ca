import type { LRUCache } from 'lru-cache'
import { createCache } from '../../../cache.ts'
import { publishRisen } from '../../../chat/conversations/group-receipts.ts'
import { createEntityCache, type EntityCache } from '../../../chat/messages/entity-cache.ts'
import { isHeld } from '../../../chat/messages/traits.ts'
import { partsOf } from '../../../chat/naming.ts'
import type { Usage } from '../../../chat/usage/usage.ts'
import { createScopePermissions, type ScopePermissions } from '../../../chat/writing/denied-scopes.ts'
import type { Events } from '../../../events/index.ts'
import type { Metrics } from '../../../metrics.ts'
import { type Channel, type Query, withChannel } from '../../../store/channel.ts'
import { type Coalescer, createCoalescer } from '../../../store/coalesce.ts'
import { isConnectionFailure, isRetryable } from '../../../store/connection.ts'
import type { Database } from '../../../store/database.ts'
import { createHeldApart, hurry, patienceMs, settingsOfPatience } from '../../../store/held.ts'
import type { Secrets } from '../../../store/secrets.ts'
import { tracedChannel } from '../../../store/traced.ts'
import { ended, type Tracing } from '../../../tracing/tracing.ts'
import { createImportWriter, type ImportWriter } from '../import/writer.ts'
import { createPublishOrder, type PublishOrder } from '../publish-order.ts'
import { batchQueries, writtenRows } from './batch.ts'
import { heldQuery } from './conversations.ts'
import { type NewMessageRow, nameOf, type WrittenRow } from './row.ts'

/** Writes what is sent, coalesced: while one batch is being written, the next collects. */
export interface MessageWriter {
  /**
   * Checks and stores one message, durably. Concurrent calls share transactions.
   * A row with neither id nor refusal has a muid that is stored already.
   */
  write(row: NewMessageRow): Promise<WrittenRow>
  /** Resolves when nothing is waiting or being written. */
  drain(): Promise<void>
  /** The permissions of the scopes of groups. */
  readonly permissions: ScopePermissions
  /** Senders and receivers as answers show them. */
  readonly entities: EntityCache
  /** Publishes what was written in the order in which it was. */
  readonly order: PublishOrder
  /** Writes what is imported. */
  readonly imports: ImportWriter
}

const maxBatch = 128
const maxInFlight = 2
/** Milliseconds; several times what a batch takes. */
const patience = 25
/** What a batch costs the database in any case is little beside so many messages. */
const enough = 16
const maxAttempts = 4

/**
 * The batch statement joins a few dozen rows with the tables by key. Without statistics, or with stale ones, the planner
 * might scan instead; and planning it anew each time would cost more than running it.
 */
export const writerSettings = `
  set plan_cache_mode = force_generic_plan;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  set enable_seqscan = off;
  set jit = off`

export interface MessageWriterParts {
  readonly database: Database
  readonly secrets: Secrets
  readonly metrics: Metrics
  readonly events: Events
  readonly usage: Usage
  readonly tracing: Tracing | undefined
}

export function createMessageWriter(parts: MessageWriterParts): MessageWriter {
  const { database, secrets, metrics, events, usage, tracing } = parts
  const channels = Array.from({ length: maxInFlight }, (_, i) =>
    database.openChannel(`parley writer ${i}`, settingsOfPatience(patienceMs, writerSettings)),
  )
  const knownConversations = createCache<string, true>({ max: 100_000 })
  const isDivisible = (error: unknown) => !isConnectionFailure(error)
  const onBatch = (size: number) => metrics.batches.observe({ writer: 'send' }, size)

  const held = createHeldApart<NewMessageRow, WrittenRow>({
    ...{ database, name: 'parley writer apart', settings: writerSettings, maxBatch, isDivisible, onBatch },
    appOf: ({ appId }) => appId,
    nameOf: conversationName,
    resume: (rows) => sends.resume(rows),
    async write(channel, rows, { isHurried, isApart }) {
      const written = await writeBatch(channel, events, knownConversations, rows, { isHurried, createsAll: isApart })
      for (const [i, row] of rows.entries()) if (isSent(row, written[i])) usage.sent(row.appId)
      return written
    },
    async findHeld(channel, rows) {
      const { rows: found } = await channel.query(heldQuery(rows))
      return found.map(({ place }) => place - 1)
    },
  })
  const sends: Coalescer<NewMessageRow, WrittenRow> = createCoalescer({
    maxBatch,
    maxInFlight,
    patience,
    enough,
    write: async (rows) => {
      const span = tracing?.gather('write batch', rows, {
        attributes: { 'messaging.batch.message_count': rows.length },
      })
      if (span === undefined) return withChannel(channels, (channel) => held.write(channel, rows))
      const write = (channel: Channel) => held.write(tracedChannel(channel, span), rows)
      const written = await ended(span, () => withChannel(channels, write))
      for (const row of rows) row.span?.link(span)
      return written
    },
    isDivisible,
    onBatch,
  })
  const imports = createImportWriter(database, secrets, metrics)
  return {
    write(row) {
      const { span } = row
      return span === undefined ? sends.submit(row) : ended(span, () => sends.submit(row))
    },
    async drain() {
      await Promise.all([sends.drain().then(held.drain), imports.drain()])
    },
    permissions: createScopePermissions(database),
    entities: createEntityCache(database),
    order: createPublishOrder(events.bus),
    imports,
  }
}

/** Whether a message was stored just now, for others to see. */
function isSent(row: NewMessageRow, written: WrittenRow | Error | undefined): boolean {
  if (written === undefined || written instanceof Error || row.category === 'action' || isHeld(row)) return false
  return written.refusal === null && written.id !== null
}

async function writeBatch(
  channel: Channel,
  events: Events,
  known: LRUCache<string, true>,
  rows: readonly NewMessageRow[],
  { isHurried, createsAll }: { readonly isHurried: boolean; readonly createsAll: boolean },
): Promise<Array<WrittenRow | Error>> {
  const written = new Map<NewMessageRow, WrittenRow | Error>()
  const { first, repeats } = foldRepeats(rows)
  const isNew = (row: NewMessageRow) =>
    row.kind === 'user' && (createsAll || known.get(conversationName(row)) === undefined)
  const strange = first.filter(isNew)
  const options = { create: strange.length > 0, now: Math.floor(Date.now() / 1000) }

  let pending = first
  for (let attempt = 1; ; attempt++) {
    let answered: WrittenRow[]
    try {
      const results = await runTransaction(channel, batchQueries(pending, options), isHurried)
      const { written: rows, risen } = writtenRows(pending, results, options)
      answered = rows
      publishRisen(events, risen, options.now)
    } catch (error) {
      // The rows of an earlier attempt are stored: the batch must not fail as a whole and be tried again with them.
      if (attempt === 1) throw error
      for (const row of pending) written.set(row, error as Error)
      break
    }
    for (const row of answered) written.set(pending[row.n] as NewMessageRow, row)
    // A pair thought known may be gone (a user deleted for good and made again): make its conversation and try again.
    pending = answered.filter((row) => row.refusal === 'NO_CONVERSATION').map((row) => pending[row.n] as NewMessageRow)
    if (pending.length === 0 || attempt === maxAttempts || options.create) break
    options.create = true
  }
  for (const row of strange) {
    const result = written.get(row) as WrittenRow | Error
    if (!(result instanceof Error) && result.refusal === null) known.set(conversationName(row), true)
  }
  for (const [repeat, original] of repeats) {
    const result = written.get(original) as WrittenRow | Error
    // Stored by its neighbour in this batch: like any repeated muid, it is answered with what is stored.
    written.set(repeat, result instanceof Error ? result : { ...result, id: null })
  }
  return rows.map((row) => written.get(row) as WrittenRow | Error)
}

/** Finds rows whose sender used the same muid for the same conversation earlier in this batch. */
function foldRepeats(rows: readonly NewMessageRow[]): {
  first: NewMessageRow[]
  repeats: Map<NewMessageRow, NewMessageRow>
} {
  const seen = new Map<string, NewMessageRow>()
  const repeats = new Map<NewMessageRow, NewMessageRow>()
  const first = rows.filter((row) => {
    if (row.muid === null) return true
    const key = `${row.appId} ${row.kind} ${row.sender} ${row.receiver} ${row.muid}`
    const original = seen.get(key)
    if (original === undefined) seen.set(key, row)
    else repeats.set(row, original)
    return original === undefined
  })
  return { first, repeats }
}

function conversationName(row: NewMessageRow): string {
  return nameOf(row, partsOf(row))
}

async function runTransaction(channel: Channel, queries: Query[], isHurried: boolean) {
  for (let attempt = 1; ; attempt++) {
    try {
      if (!isHurried) return await channel.transaction(queries)
      return (await channel.transaction([hurry, ...queries])).slice(1)
    } catch (error) {
      if (attempt === maxAttempts || !isRetryable(error)) throw error
    }
  }
}
