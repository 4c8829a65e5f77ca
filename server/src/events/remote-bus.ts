import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { Log } from '../log.ts'
import type { RedisLink } from '../store/redis.ts'
import type { Secrets } from '../store/secrets.ts'
import type { Bus } from './bus.ts'
import { createRemoteMetrics } from './remote/metrics.ts'
import { createOutbox } from './remote/outbox.ts'
import { createPeers } from './remote/peers.ts'
import { createResync } from './remote/resync.ts'
import { createSeal } from './remote/seal.ts'
import { decodeEvents, decodePacket, type Packet } from './remote/wire.ts'

/**
 * Joins the bus of this process with those of the others, by one channel of Redis. While Redis is away each process goes
 * on by itself; a short absence is made up for, a long one leaves gaps, which are noticed.
 */
export interface RemoteBus {
  /** Resolves once the others are heard, or after a moment without Redis. */
  start(): Promise<void>
  /** Publishes what has happened up to now, and parts from the others. */
  stop(): Promise<void>
}

export interface RemoteBusParts {
  readonly bus: Bus
  readonly redis: RedisLink
  readonly secrets: Pick<Secrets, 'digest'>
  readonly log: Log
  readonly registry: Registry
  /** Something may have been missed here: state that follows the events of others must be read again. */
  readonly onResync: () => Promise<void>
  /** Something was missed: who is connected here may lack it. Called after `onResync`. */
  readonly onMissed: () => Promise<void>
}

const beatMs = 1_000
/** This process hears its own signs of life; without one for so long, nobody is taken to be heard. */
const deafAfterMs = 3_000
const startPatienceMs = 3_000
/** Whoever forges packets must not fill the log with them. */
const sayForgedEveryMs = 60_000

export function createRemoteBus(parts: RemoteBusParts): RemoteBus {
  const { bus, redis, secrets, log, registry, onResync, onMissed } = parts
  const node = randomUUID()
  const seal = createSeal(secrets.digest('events between processes'))
  const channel = redis.name('events')
  const { listener } = redis
  const peers = createPeers()
  const metrics = createRemoteMetrics(registry, { isOpen: () => isOpen, peers: () => peers.count() })
  const resync = createResync({ log, metrics, onResync, onMissed })
  const outbox = createOutbox({
    ...{ redis: redis.commands, channel, node, seal },
    onSent: (events) => metrics.events.inc({ direction: 'sent' }, events),
    onDropped: (events) => metrics.events.inc({ direction: 'dropped' }, events),
  })
  let isOpen = false
  let openedAt = 0
  let hasSubscribed = false
  let heardAt = 0
  let forgedSaidAt = Number.NEGATIVE_INFINITY
  let beating: NodeJS.Timeout | undefined
  let unsubscribe = () => {}

  const subscribe = async () => {
    try {
      await listener.subscribe(channel)
      if (hasSubscribed) peers.reopened(heardAt)
      hasSubscribed = true
      outbox.beat()
    } catch {
      // The connection that failed is opened again, or found to be silent.
    }
  }

  const onMessage = (_channel: string, text: string) => {
    const opened = seal.open(text)
    const packet = opened === undefined ? undefined : decodePacket(opened)
    if (packet === undefined) return dropForged()
    if (packet.node === node) hearSelf()
    else hear(packet)
  }
  const dropForged = () => {
    metrics.forged.inc()
    const now = performance.now()
    if (now - forgedSaidAt < sayForgedEveryMs) return
    forgedSaidAt = now
    log.warn({ channel }, 'somebody else publishes on the channel of this deployment in Redis; it was dropped')
  }
  const hearSelf = () => {
    heardAt = performance.now()
    if (isOpen) return
    isOpen = true
    openedAt = heardAt
    log.info('connected to the other processes')
    // A process that was out of reach may have gone on: its next heartbeat shows whether something was missed.
    resync.begin(false)
  }
  const hear = (packet: Packet) => {
    const heard = peers.hear(packet)
    if (heard.hasMissed) {
      log.warn({ node: packet.node }, 'events from another process were missed')
      resync.begin(true)
    }
    if (!heard.isNew || packet.kind !== 'events') return
    let count = 0
    try {
      for (const [appId, event] of decodeEvents(packet.body)) {
        bus.receive(appId, event)
        count++
      }
    } catch (error) {
      log.warn(
        { cause: (error as Error).message, node: packet.node },
        'an event from another process could not be read',
      )
    }
    metrics.events.inc({ direction: 'received' }, count)
  }

  const beat = () => {
    outbox.beat()
    const now = performance.now()
    if (isOpen && now - heardAt > deafAfterMs) {
      isOpen = false
      log.warn(
        'no connection to the other processes: their events reach clients of this one late, or after a reconnect',
      )
    }
    if (peers.hasLost(isOpen ? openedAt : undefined)) {
      log.warn('another process has disappeared: its last events may have been missed')
      resync.begin(true)
    }
    if (!isOpen || peers.isOneSilent() || resync.isOwed) resync.again(now)
  }

  return {
    async start() {
      listener.on('message', onMessage)
      listener.on('ready', subscribe)
      unsubscribe = bus.subscribe((appId, event, isRemote) => {
        if (!isRemote) outbox.add(appId, event)
      })
      if (listener.status === 'ready') await subscribe()
      beating = setInterval(beat, beatMs).unref()
      const deadline = performance.now() + startPatienceMs
      while (!isOpen && performance.now() < deadline) {
        outbox.beat()
        await delay(20)
      }
      if (!isOpen) log.warn('Redis is unavailable; starting without events from other processes')
    },
    async stop() {
      unsubscribe()
      clearInterval(beating)
      listener.off('message', onMessage)
      listener.off('ready', subscribe)
      await outbox.close()
      await resync.finished()
    },
  }
}
