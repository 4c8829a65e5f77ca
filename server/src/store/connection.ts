import pg from 'pg'

export type ConnectionSettings = pg.ClientConfig

/**
 * How long an attempt to connect may take, on a busy machine too. It is no measure of whether the database is there: the
 * monitor finds that out sooner, and cuts whoever waits.
 */
const connectTimeoutMs = 5_000

/** How long a transaction may stand still, its locks held, before the database ends it. None of ours waits for a client. */
const idleTransactionMs = 5_000

/**
 * The database lets go of a process whose machine or network is gone, and of its locks, within half a minute. By itself
 * it would hold on to it for two hours.
 */
const vigilance = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/**
 * Lists are short pages out of large tables, by index. The database's own estimates are those of a spinning disk, on which
 * it would rather read a whole table than look into it a thousand times; and compiling such a query takes longer than
 * running it; so does starting workers to share it.
 */
const planning = '-c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0'

/** `bigint` columns hold times, ids and counters below 2^53: plain numbers. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8) return Number
    if (oid === int8Array) return (text: string) => text.slice(1, -1).split(',').filter(Boolean).map(Number)
    return pg.types.getTypeParser(oid, format as 'text')
  }) as typeof pg.types.getTypeParser,
}
const int8Array = 1016

/** Settings of every connection that the service opens, pooled, shared or listening. */
export function clientSettings(connection: ConnectionSettings, applicationName: string): pg.ClientConfig {
  return {
    ...connection,
    types,
    application_name: applicationName,
    options: `${vigilance} ${planning}`,
    idle_in_transaction_session_timeout: idleTransactionMs,
    connectionTimeoutMillis: connection.connectionTimeoutMillis ?? connectTimeoutMs,
    keepAlive: true,
    // The system's two hours are too long for connections that are mostly silent (LISTEN) and cut off without a word.
    keepAliveInitialDelayMillis: 10_000,
  }
}

/**
 * A pool of connections. Whoever waits for one waits as long as the others take: that they are busy, behind a lock, does
 * not mean that the database is away. Only connecting itself has its time.
 * @param lockTimeoutMs how long a statement waits for a lock; 0 for as long as it takes
 */
export function createPool(
  connection: ConnectionSettings,
  applicationName: string,
  max: number,
  connectTimeoutMillis = connection.connectionTimeoutMillis ?? connectTimeoutMs,
  lockTimeoutMs = 0,
): pg.Pool {
  const common = clientSettings(connection, applicationName)
  const settings = {
    ...common,
    connectionTimeoutMillis: connectTimeoutMillis,
    // Not as a parameter of its own, which a pooler in between may refuse.
    ...(lockTimeoutMs > 0 && { options: `${common.options} -c lock_timeout=${lockTimeoutMs}` }),
  }
  // What the pool hands on has its own, unlimited, time, and hides the password.
  class PoolClient extends pg.Client {
    constructor() {
      super(settings)
    }
  }
  return new pg.Pool({ ...settings, max, connectionTimeoutMillis: 0, Client: PoolClient })
}

/** The connection was cut, or nothing was sent, because the database does not answer. */
export class DatabaseAwayError extends Error {
  constructor() {
    super('the database does not answer')
    this.name = 'DatabaseAwayError'
  }
}

/** The connection to which something belonged that cannot be had from another, such as a lock, is gone. */
export class ConnectionLostError extends Error {
  constructor() {
    super('the connection that held the lock is gone')
    this.name = 'ConnectionLostError'
  }
}

/**
 * Cuts a connection, in whatever state it is, so that whoever waits on it hears of it now. `end()` would wait for the
 * database, which may hang.
 */
export function cutConnection(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(error: Error): void } } }
  connection.stream.destroy(new DatabaseAwayError())
}

/**
 * Is this the failure of a database that is away (stopped, restarting, full, cut off), not of the statement?
 * What was sent may then have been carried out or not.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseAwayError || error instanceof ConnectionLostError) return true
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') {
    // connection exceptions, out of resources (disk, memory, connections), operator intervention (shutdown, crash),
    // read-only: a standby that is about to take over; and the end of a transaction whose process stood still
    if (/^(08(?!P01)|53|57P|58|25006|25P03)/.test(code)) return true
    if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENETUNREACH)/.test(code)) return true
    // Files have these, too: of a database they are only where its socket could not be opened.
    if (/^(ENOENT|EAGAIN|EMFILE|ENFILE)$/.test(code)) return (error as { syscall?: unknown }).syscall === 'connect'
  }
  return /^(Connection terminated|Client has encountered a connection error|timeout expired|Client was closed|Connection ended|timeout exceeded when trying to connect|Cannot use a pool)/.test(
    error.message,
  )
}

/** Was the statement ended before it was done: by its time limit, or because somebody asked for it? */
export function isCanceled(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '57014'
}

/** Was a lock not to be had within the time that it may be waited for? Nothing was done. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '55P03'
}

/** Was it refused because the role may not do it? */
export function isNotPermitted(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '42501'
}

/** Did it fail because something before it in its transaction had failed? */
export function isOfAborted(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '25P02'
}

/** Did it rely on a statement that was to be prepared before it, and was not? */
export function isUnprepared(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '26000'
}

/** Deadlock, serialization failure, outdated statement: the same transaction may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return code === '40P01' || code === '40001' || isOutdated(error)
}

/**
 * A prepared statement gives other columns since the tables were changed, by a newer version that has just migrated them.
 * On this connection it will fail for ever; on another it is prepared anew.
 */
export function isOutdated(error: unknown): boolean {
  if (!(error instanceof Error) || (error as { code?: unknown }).code !== '0A000') return false
  return error.message === 'cached plan must not change result type'
}
