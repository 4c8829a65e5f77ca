import { digest } from './digest.ts'
import type { Outgoing } from './records.ts'

export interface PartitionOptions {
  /** Partitions, each with at most one batch under way. */
  readonly count: number
  readonly batchRecords: number
  readonly batchBytes: number
  /** Bytes of records that may wait over all partitions before `add` asks the reader to pause. */
  readonly bufferBytes: number
  /** Sends one batch. What it throws ends all partitions. */
  readonly send: (batch: readonly Outgoing[]) => Promise<void>
  /** Ends all partitions as soon as the batches under way are through; what waits is not sent. */
  readonly signal: AbortSignal
}

export interface Partitions {
  /** Puts a record at the end of its partition. A promise asks the caller to wait for room. */
  add(record: Outgoing): Promise<void> | undefined
  /** True once a batch failed for good: nothing more will be sent. */
  readonly failed: boolean
  /** Waits until everything added is sent, or the partitions have ended. @throws what `send` threw. */
  finish(): Promise<void>
}

interface Partition {
  /** By sequence, the one that has waited longest first. */
  readonly waiting: Map<string, Outgoing[]>
  count: number
  bytes: number
  wake: () => void
}

/** What a record costs beside its text, roughly: object, list entry, strings. */
const overhead = 300

/**
 * Spreads records over partitions that send in parallel. Records of one sequence share a partition and keep their order there,
 * since a partition sends its next batch only when the one before is answered. Those that wait go together: a conversation
 * costs the service as much for one message as for ten.
 */
export function openPartitions(options: PartitionOptions): Partitions {
  const partitions: Partition[] = Array.from({ length: options.count }, () => ({
    ...{ waiting: new Map(), count: 0, bytes: 0 },
    wake: () => undefined,
  }))
  let buffered = 0
  let ended = false
  let failure: { readonly error: unknown } | undefined
  let makeRoom: (() => void) | undefined

  const hasEnded = () => failure !== undefined || options.signal.aborted
  const wakeAll = () => {
    for (const partition of partitions) partition.wake()
  }
  const endWaiting = () => {
    makeRoom?.()
    makeRoom = undefined
    wakeAll()
  }
  options.signal.addEventListener('abort', endWaiting)

  /** Batches are sent full, unless no more comes, or the reader is waiting for other partitions to get on. */
  const isDue = (partition: Partition) =>
    partition.count >= options.batchRecords ||
    partition.bytes >= options.batchBytes ||
    (partition.count > 0 && (ended || makeRoom !== undefined))

  const run = async (partition: Partition) => {
    while (!hasEnded()) {
      if (isDue(partition)) {
        const batch = takeBatch(partition, options)
        try {
          await options.send(batch)
        } catch (error) {
          failure ??= { error }
          endWaiting()
        }
        buffered -= batch.reduce((sum, record) => sum + record.bytes + overhead, 0)
        if (buffered < options.bufferBytes / 2) {
          makeRoom?.()
          makeRoom = undefined
        }
      } else if (ended) return
      else await new Promise<void>((resolve) => Object.assign(partition, { wake: resolve }))
    }
  }
  const running = partitions.map(run)

  return {
    add(record) {
      const partition = partitions[digest(record.sequence)[1] % partitions.length]!
      const sequence = partition.waiting.get(record.sequence)
      if (sequence === undefined) partition.waiting.set(record.sequence, [record])
      else sequence.push(record)
      partition.count += 1
      partition.bytes += record.bytes
      buffered += record.bytes + overhead
      if (isDue(partition)) partition.wake()
      if (buffered < options.bufferBytes || hasEnded()) return undefined
      const room = new Promise<void>((resolve) => {
        makeRoom = resolve
      })
      wakeAll()
      return room
    },
    get failed() {
      return failure !== undefined
    },
    async finish() {
      ended = true
      wakeAll()
      await Promise.all(running)
      options.signal.removeEventListener('abort', endWaiting)
      if (failure !== undefined) throw failure.error
    },
  }
}

/**
 * Takes what fits into one request, sequence by sequence. A repeated id waits for the next one: the answers to a request
 * go by id.
 */
function takeBatch(partition: Partition, { batchRecords, batchBytes }: PartitionOptions): Outgoing[] {
  const batch: Outgoing[] = []
  const keys = new Set<string>()
  let bytes = 0
  const fits = (record: Outgoing) =>
    // One byte for the comma between two records.
    batch.length < batchRecords &&
    (batch.length === 0 || bytes + record.bytes + 1 <= batchBytes) &&
    !keys.has(record.key)

  for (const [sequence, records] of partition.waiting) {
    let taken = 0
    for (const record of records) {
      if (!fits(record)) break
      batch.push(record)
      keys.add(record.key)
      bytes += record.bytes + 1
      taken += 1
    }
    if (taken < records.length) {
      // It keeps its place.
      partition.waiting.set(sequence, records.slice(taken))
      break
    }
    partition.waiting.delete(sequence)
  }
  partition.count -= batch.length
  partition.bytes -= bytes - batch.length
  return batch
}
