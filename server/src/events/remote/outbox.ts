import type { Redis } from 'ioredis'
import type { BusEvent } from '../types.ts'
import type { Seal } from './seal.ts'
import { encodeEvent, encodePacket, type Packet } from './wire.ts'

/** What this process publishes to the others. */
export interface Outbox {
  /** Goes out with whatever else is published in this turn of the event loop; nobody waits for it. */
  add(appId: number, event: BusEvent): void
  /** A sign of life, with the number of the last batch: whoever has not got that one has missed something. */
  beat(): void
  /** Sends what waits, if it can be sent, and says goodbye. */
  close(): Promise<void>
}

export interface OutboxParts {
  readonly redis: Redis
  readonly channel: string
  /** Name of this process. */
  readonly node: string
  /** Shows the others that a packet comes from this deployment. */
  readonly seal: Pick<Seal, 'close'>
  readonly onSent: (events: number) => void
  readonly onDropped: (events: number) => void
}

/** Characters of one packet; an event alone may be larger. */
const packetLength = 128 * 1024
/** Characters that wait for Redis; beyond, the oldest are dropped, and the others hear that something is missing. */
const maxWaiting = 16 * 1024 * 1024
/** After Redis is back, until the others listen again too. */
const quietMs = 1_500

interface Batch {
  readonly text: string
  readonly events: number
}

export function createOutbox({ redis, channel, node, seal, onSent, onDropped }: OutboxParts): Outbox {
  let gathered: string[] = []
  /** Not known to have arrived, in order. */
  const waiting = new Set<Batch>()
  let waitingLength = 0
  let lastNumber = 0
  let isFlowing = redis.status === 'ready'
  let resuming: NodeJS.Timeout | undefined

  const packetOf = (kind: Packet['kind'], number: number, body = '') =>
    seal.close(encodePacket({ node, kind, number, body }))

  const flush = () => {
    const events = gathered
    gathered = []
    for (let from = 0; from < events.length; ) {
      let to = from
      for (let length = 0; to < events.length && (to === from || length < packetLength); to++) {
        length += (events[to] as string).length
      }
      pack(events.slice(from, to))
      from = to
    }
  }

  const pack = (events: readonly string[]) => {
    const body = events.join(',')
    const batch = { text: packetOf('events', ++lastNumber, body), events: events.length }
    waiting.add(batch)
    waitingLength += batch.text.length
    for (const oldest of waiting) {
      if (waitingLength <= maxWaiting) break
      forget(oldest)
      onDropped(oldest.events)
    }
    if (isFlowing) void send(batch)
  }

  const forget = (batch: Batch) => {
    if (waiting.delete(batch)) waitingLength -= batch.text.length
  }

  /** What failed may have arrived: it is sent again under the same number, and taken once. */
  const send = async (batch: Batch) => {
    try {
      await redis.publish(channel, batch.text)
      forget(batch)
      onSent(batch.events)
    } catch {
      pause()
    }
  }

  const pause = () => {
    isFlowing = false
    if (redis.status === 'ready') resumeSoon()
  }
  const resumeSoon = () => {
    clearTimeout(resuming)
    resuming = setTimeout(resume, quietMs).unref()
  }
  const resume = () => {
    if (redis.status !== 'ready') return
    isFlowing = true
    for (const batch of waiting) void send(batch)
  }
  const onReady = () => (waiting.size === 0 && lastNumber === 0 ? resume() : resumeSoon())
  redis.on('ready', onReady)
  redis.on('close', pause)

  return {
    add(appId, event) {
      // Of no use any more when it comes late.
      if (!isFlowing && 'signal' in event) return
      if (gathered.length === 0) setImmediate(flush)
      gathered.push(encodeEvent(appId, event))
    },
    beat() {
      if (!isFlowing) return
      redis.publish(channel, packetOf('beat', lastNumber)).catch(pause)
    },
    async close() {
      flush()
      clearTimeout(resuming)
      redis.off('ready', onReady)
      redis.off('close', pause)
      if (redis.status !== 'ready') return
      if (!isFlowing) resume()
      // In order on one connection: when this one has arrived, all have.
      await redis.publish(channel, packetOf('bye', lastNumber)).catch(() => 0)
    },
  }
}
