import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Log } from '../log.ts'
import type { RedisLink } from '../store/redis.ts'
import type { Bus } from './bus.ts'
import { createOutbox } from './remote/outbox.ts'
import { createPeers } from './remote/peers.ts'
import { decodeEvents, decodePacket, type Packet } from './remote/wire.ts'

/**
 * Joins the bus of this process with those of the others, by one channel of Redis. While Redis is away each process goes
 * on by itself; a short absence is made up for, a long one leaves gaps, which are noticed.
 */
export interface RemoteBus {
  /** Resolves once the others are heard, or after a moment without Redis. */
  start(): Promise<void>
  /** Tells what has happened up to now, and parts from the others. */
  stop(): Promise<void>
}

export interface RemoteBusParts {
  readonly bus: Bus
  readonly redis: RedisLink
  readonly log: Log
  readonly registry: Registry
  /** Something may have been missed here: what is kept by what is told must be read anew. */
  readonly onResync: () => Promise<void>
  /** Something was missed: who is connected here may lack it. Called after `onResync`. */
  readonly onMissed: () => Promise<void>
}

const beatMs = 1_000
/** This process hears its own signs of life; without one for so long the line is in doubt. */
const deafAfterMs = 3_000
/** How often doubts are raised anew while nothing, or not everybody, is heard. */
const resyncEveryMs = 5_000
const startPatienceMs = 3_000

export function createRemoteBus({ bus, redis, log, registry, onResync, onMissed }: RemoteBusParts): RemoteBus {
  const node = randomUUID()
  const channel = redis.name('events')
  const { listener } = redis
  const peers = createPeers()
  const metrics = createRemoteMetrics(registry, { isOpen: () => isOpen, peers: () => peers.count() })
  const outbox = createOutbox({
    ...{ redis: redis.commands, channel, node },
    onSent: (events) => metrics.events.inc({ direction: 'sent' }, events),
    onDropped: (events) => metrics.events.inc({ direction: 'dropped' }, events),
  })
  let isOpen = false
  let hasSubscribed = false
  let heardAt = 0
  let resyncedAt = 0
  let hasMissed = false
  let resyncing: Promise<void> | undefined
  let beating: NodeJS.Timeout | undefined
  let unsubscribe = () => {}

  const resync = (missed: boolean) => {
    hasMissed ||= missed
    resyncing ??= runResync().finally(() => {
      resyncing = undefined
    })
  }
  const runResync = async () => {
    resyncedAt = Date.now()
    const missed = hasMissed
    hasMissed = false
    metrics.resyncs.inc({ missed: String(missed) })
    try {
      await onResync()
      if (missed) await onMissed()
    } catch (error) {
      // Tried again with a later beat.
      hasMissed ||= missed
      resyncedAt = 0
      log.warn({ cause: (error as Error).message }, 'missed events from other processes could not be made up for yet')
    }
  }

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
    const packet = decodePacket(text)
    if (packet === undefined) return
    if (packet.node === node) hearSelf()
    else hear(packet)
  }
  const hearSelf = () => {
    heardAt = Date.now()
    if (isOpen) return
    isOpen = true
    log.info('connected to the other processes')
    // A process that was out of reach may have gone on: its next heartbeat shows whether something was missed.
    resync(false)
  }
  const hear = (packet: Packet) => {
    const heard = peers.hear(packet)
    if (heard.hasMissed) {
      log.warn({ node: packet.node }, 'events from another process were missed')
      resync(true)
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
    const now = Date.now()
    if (isOpen && now - heardAt > deafAfterMs) {
      isOpen = false
      log.warn(
        'no connection to the other processes: their events reach clients of this one late, or after a reconnect',
      )
    }
    if (peers.hasLost()) {
      log.warn('a process has disappeared while Redis was unavailable: its last events may have been missed')
      resync(true)
    }
    const isUnsure = !isOpen || peers.isOneSilent() || hasMissed
    if (isUnsure && now - resyncedAt > resyncEveryMs) resync(false)
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
      const deadline = Date.now() + startPatienceMs
      while (!isOpen && Date.now() < deadline) {
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
      await resyncing
    },
  }
}

function createRemoteMetrics(registry: Registry, state: { isOpen: () => boolean; peers: () => number }) {
  new Gauge({
    name: 'parley_redis_up',
    help: '1 while the process hears what is told over Redis',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(state.isOpen() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'parley_remote_processes',
    help: 'Other processes connected over Redis',
    aggregator: 'min',
    registers: [registry],
    collect() {
      this.set(state.peers())
    },
  })
  return {
    events: new Counter({
      name: 'parley_remote_events_total',
      help: 'Events told to other processes, heard of them, and dropped because Redis was away for too long',
      labelNames: ['direction'],
      registers: [registry],
    }),
    resyncs: new Counter({
      name: 'parley_remote_resyncs_total',
      help: 'How often what is kept by what others tell was read anew, and whether something was missed',
      labelNames: ['missed'],
      registers: [registry],
    }),
  }
}
