import type pg from 'pg'
import { cutConnection } from './connection.ts'
import type { Database, Queryable } from './database.ts'
import { statement } from './statement.ts'

/** Notifies every process that something kept in memory has changed, by LISTEN and NOTIFY. Never used for messages. */
export interface Invalidation {
  /** Calls `drop` with the key that changed, or with undefined when anything may have (the line was cut). */
  onChange(topic: string, drop: (key: string | undefined) => void): void
  /** Announces a change; inside a transaction, once it commits. */
  announce(on: Queryable, topic: string, key: string): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

const notify = statement(`select pg_notify('parley_changes', $1)`)
const retryMs = 500

/** @param name of its connection; by the usual one, processes of the service are counted (process/others.ts) */
export function createInvalidation(database: Database, name = 'parley changes'): Invalidation {
  const handlers = new Map<string, Array<(key: string | undefined) => void>>()
  let client: pg.Client | undefined
  let stopped = false
  let retry: NodeJS.Timeout | undefined

  const dropEverything = () => {
    for (const drops of handlers.values()) for (const drop of drops) drop(undefined)
  }
  const listen = async () => {
    if (stopped) return
    const listener = database.createClient(name)
    client = listener
    let lost = false
    const onLost = () => {
      if (lost) return
      lost = true
      // Where it failed without breaking, it is of no use and must not stay open.
      cutConnection(listener)
      dropEverything()
      if (!stopped) retry = setTimeout(() => void listen(), retryMs).unref()
    }
    listener.on('error', onLost)
    listener.on('end', onLost)
    listener.on('notification', ({ payload = '' }) => {
      const separator = payload.indexOf(':')
      for (const drop of handlers.get(payload.slice(0, separator)) ?? []) drop(payload.slice(separator + 1))
    })
    try {
      await listener.connect()
      await listener.query('listen parley_changes')
      dropEverything()
    } catch {
      onLost()
    }
  }

  return {
    onChange(topic, drop) {
      handlers.set(topic, [...(handlers.get(topic) ?? []), drop])
    },
    async announce(on, topic, key) {
      await on.query(notify, [`${topic}:${key}`])
    },
    start: listen,
    async stop() {
      stopped = true
      clearTimeout(retry)
      // Nothing is under way on it, and a database that hangs would not let go.
      if (client !== undefined) cutConnection(client)
    },
  }
}
