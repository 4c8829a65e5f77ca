import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../log.ts'

/** The Redis or Valkey that the processes of one deployment share. */
export interface RedisSettings {
  /** `redis://` or `rediss://` with user, password, host, port and database. */
  readonly url: string
  /** Begins every name that is used there, so that deployments can share one. */
  readonly prefix: string
}

/**
 * Two connections to Redis. Whatever is asked of them fails at once while it does not answer, so that nothing here waits
 * for it: it is a companion, and everything that must not be lost is in PostgreSQL.
 */
export interface RedisLink {
  /** For commands. */
  readonly commands: Redis
  /** For listening; it can do nothing else. */
  readonly listener: Redis
  /** Of this deployment alone: two that were given the same prefix by mistake have different master keys. */
  name(part: string): string
  /** The connection for commands is open. */
  readonly isUp: boolean
  /** Since when it has not been open, in epoch milliseconds; undefined while it is. */
  readonly downSince: number | undefined
  close(): void
}

const connectTimeoutMs = 2_000
/** An answer that takes longer counts as none. */
const commandTimeoutMs = 1_000
/** Something comes every second on either connection while Redis lives. */
const silenceMs = 5_000
const maxRetryMs = 1_000

/** @param deployment tells this deployment from others, the same in all its processes */
export function openRedis({ url, prefix }: RedisSettings, deployment: string, log: Log): RedisLink {
  const commands = new Redis(url, optionsOf('parley commands'))
  const listener = new Redis(url, optionsOf('parley listener'))
  for (const client of [commands, listener]) watch(client, log)
  let downSince: number | undefined = Date.now()
  commands.on('ready', () => {
    downSince = undefined
  })
  commands.on('close', () => {
    downSince ??= Date.now()
  })
  return {
    commands,
    listener,
    name: (part) => `${prefix}:${deployment}:${part}`,
    get isUp() {
      return commands.status === 'ready'
    },
    get downSince() {
      return downSince
    },
    close() {
      for (const client of [commands, listener]) {
        // That it ends is no news now.
        client.removeAllListeners('close')
        client.disconnect()
      }
    },
  }
}

function optionsOf(connectionName: string) {
  return {
    connectionName,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: silenceMs,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 10), maxRetryMs) * (0.75 + Math.random() / 4),
  } satisfies RedisOptions
}

/** Says once when it goes and once when it comes; the attempts between say nothing new. */
function watch(client: Redis, log: Log): void {
  const { connectionName } = client.options
  let isSaid = false
  client.on('error', (error: Error) => {
    if (isSaid) return
    isSaid = true
    log.warn({ cause: error.message || (error as { code?: string }).code, connectionName }, 'Redis is unavailable')
  })
  client.on('close', () => {
    if (isSaid) return
    isSaid = true
    log.warn({ connectionName }, 'the connection to Redis ended')
  })
  client.on('ready', () => {
    if (isSaid) log.info({ connectionName }, 'Redis is available again')
    isSaid = false
  })
}
