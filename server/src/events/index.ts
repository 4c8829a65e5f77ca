import type { Database, Queryable, Transaction } from '../store/database.ts'
import type { Invalidation } from '../store/invalidation.ts'
import { type Bus, createBus } from './bus.ts'
import { createListening, type TriggerSource } from './listening.ts'
import { insertNote, type Note } from './notes.ts'
import { createRelay, type HorizonConsumer, type RelayOptions } from './relay.ts'
import { insertEvents } from './rows.ts'
import type { BusEvent, ChatEvent } from './types.ts'

/**
 * What happened, raised by the rule that did it: kept in the log where somebody waits for it (webhooks, `GET /events`),
 * and on the bus after commit (sockets). Where nobody does, an event costs a look into memory.
 */
export interface Events {
  /** What happens in this process, after commit. */
  readonly bus: Bus
  /** Triggers whose events are kept for an app: those of its webhooks, all of them while its events are pulled. */
  listens(appId: number): Promise<ReadonlySet<string>>
  /** Keeps events with the change that they are about, and puts them on the bus once it is committed. */
  raise(tx: Transaction, appId: number, events: readonly ChatEvent[]): Promise<void>
  /** Puts on the bus what is committed, or what goes on the bus only. */
  publish(appId: number, event: BusEvent): void
  /** Keeps events without putting them on the bus; for what is published by itself after commit. */
  record(on: Queryable, appId: number, events: readonly ChatEvent[]): Promise<void>
  /** Stores what is not an event of the contract for users who missed it, if any of the app pull their own events. */
  note(tx: Transaction, appId: number, note: Note): Promise<void>
  /** Adds a consumer for which events are stored; what it wants may change when `listenersTopic` says so. */
  keepFor(source: TriggerSource): void
  /** Forgets in this process what is listened for in an app, at once; others hear of it by `listenersTopic`. */
  forget(appId: number): void
  /** Adds a consumer of each stretch of the log, called in the transaction that moves the horizon past it, one process at a time. */
  onAdvance(consumer: HorizonConsumer): void
  start(): void
  stop(): Promise<void>
}

export function createEvents(database: Database, invalidation: Invalidation, options: RelayOptions): Events {
  const bus = createBus()
  const listening = createListening(database, invalidation)
  const relay = createRelay(database, options)

  const record = async (on: Queryable, appId: number, events: readonly ChatEvent[]) => {
    const triggers = await listening.of(appId)
    const kept = triggers.size === 0 ? [] : events.filter(({ trigger }) => triggers.has(trigger))
    await insertEvents(on, appId, kept)
    return kept.length
  }
  return {
    bus,
    listens: listening.of,
    async raise(tx, appId, events) {
      if (events.length === 0) return
      const kept = await record(tx, appId, events)
      if (kept > 0) tx.afterCommit(relay.wake)
      tx.afterCommit(() => {
        for (const event of events) bus.publish(appId, event)
      })
    },
    publish(appId, event) {
      if ('trigger' in event && listening.known(appId).has(event.trigger)) relay.wake()
      bus.publish(appId, event)
    },
    async record(on, appId, events) {
      await record(on, appId, events)
    },
    async note(tx, appId, note) {
      if (!(await listening.isFollowed(appId))) return
      await insertNote(tx, appId, note)
      tx.afterCommit(relay.wake)
    },
    keepFor: listening.addSource,
    forget: listening.forget,
    onAdvance: relay.onAdvance,
    start: relay.start,
    stop: relay.stop,
  }
}
