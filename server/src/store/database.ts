import pg from 'pg'
import { type Channel, createChannel } from './channel.ts'
import { type ConnectionSettings, clientSettings, cutConnection, isLockTimeout } from './connection.ts'
import { isInDoubt } from './doubt.ts'
import { settingsOfPatience } from './held.ts'
import { createLookups, isLookup } from './lookups.ts'
import { lowerDatabaseProcess } from './priority.ts'
import { ofService, type Reader } from './reader.ts'
import { createReads, type ReadKind, type ReadLoad, type Reads } from './reads.ts'
import { compileFragment, type Fragment, type Statement, statement } from './statement.ts'
import { createSuspension } from './suspension.ts'
import { openTransactions, type PoolLoad } from './transactions.ts'

/** Whatever answers queries: the database itself (each query its own transaction) or one transaction. */
export interface Queryable {
  /** Runs a fixed statement with its parameters and gives its rows. */
  query<Row>(statement: Statement, values?: unknown[]): Promise<Row[]>
  /** Runs a composed statement and gives its rows. */
  run<Row>(fragment: Fragment<Row>): Promise<Row[]>
}

export interface Transaction extends Queryable {
  /** Runs a composed statement. @returns its command, such as `DELETE`, and how many rows it was done to */
  affect(fragment: Fragment): Promise<{ readonly command: string; readonly rows: number }>
  /** What is to be done once the transaction is committed (drop caches, publish events). Not done when it fails. */
  afterCommit(action: () => void): void
  /** What is to be done when it fails: it may be some time before it is tried again. */
  afterFailure(action: () => void): void
}

/** PostgreSQL, as the areas see it. What is composed (`run`) is a list: it has a time limit, and waits for its turn. */
export interface Database extends Queryable {
  /** On whose behalf it is asked. */
  readonly reader: Reader
  /** The same database, asked on behalf of a reader. */
  readAs(reader: Reader): Database
  /** Connections of their own for another kind of reads that may take long. */
  openReads(kind: ReadKind): Reads
  /**
   * Runs `work` in a transaction on a connection of its own; rolled back when `work` throws. Deadlocks are tried again, and so is
   * what somebody else has locked for long, apart from all others. So `work` must not have effects outside the database before it
   * returns (see `afterCommit`).
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /**
   * The same for work that may take seconds once it has its locks (see `takeTime`): few run at once, of one app and of one user
   * fewer, so that connections are left for what others change.
   */
  longTransaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
  /**
   * A connection of its own for a writer of batches; `setup` runs on each new connection.
   * @param givesWay nobody waits for what is asked there: it gets less of the processor, where the database is this service's own
   * @param isSilent nobody is notified of what is written there
   */
  openChannel(name: string, setup?: string, givesWay?: boolean, isSilent?: boolean): Channel
  /**
   * Calls whenever something may have been stored of which nobody was notified: the connection was lost before the database
   * said so.
   */
  onDoubt(listener: () => void): void
  /** A client that is not shared, e.g. to LISTEN; the caller connects and ends it. */
  createClient(name: string): pg.Client
  /** Asks the database whether it answers, also while suspended. */
  ping(): Promise<void>
  /**
   * The database does not answer: cuts every connection and refuses at once whatever is asked from now on, so that
   * nobody waits with it. To be repeated as long as it does not answer.
   */
  suspend(): void
  /** The database answers again. */
  resume(): void
  readonly pool: PoolLoad
  readonly lists: ReadLoad
  close(): Promise<void>
}

const lookupReaders = 2
/** One that is carried out on each connection, and one that the database finds when it is done with that. */
const lookupsAtOnce = 2 * lookupReaders
/**
 * Fixed statements look up rows by key: one plan fits all parameters, and choosing it anew for each array of ids takes
 * longer than the look-up. Composed ones are lists, whose plans may depend on what is asked. None takes nearly as long as
 * its limit, which is there so that nobody waits behind one for ever.
 */
const lookupSettings = `set plan_cache_mode = force_generic_plan; set statement_timeout = '15s'`
const changers = 2
/**
 * What changes rows by their keys goes beside the look-ups, many statements on one connection, and hardly ever waits for anybody. What
 * would wait for longer than this, in milliseconds, begins anew among the transactions, where nobody is behind it.
 */
const changePatienceMs = 25
const longLists = 8
/** Most lists take a few milliseconds. */
const quickListMs = 100
const closePatienceMs = 2_000
const ping = statement('select 1')
const cancel = statement('select pg_cancel_backend($1)')

export interface DatabaseOptions {
  /** How long a list may take, in milliseconds; 0 for as long as it takes. */
  readonly listTimeoutMs?: number
  /** It runs on this machine, as a child of this service: what runs long gives way to all else. */
  readonly giveWay?: boolean
}

/** Opens the database; connections are made when they are needed. */
export function openDatabase(connection: ConnectionSettings, options: DatabaseOptions = {}): Database {
  const suspension = createSuspension()
  const pinger = createChannel(connection, 'parley monitor')
  const lookups = Array.from({ length: lookupReaders }, (_, i) =>
    createChannel(connection, `parley reader ${i}`, lookupSettings),
  )
  const changes = Array.from({ length: changers }, (_, i) =>
    createChannel(connection, `parley changer ${i}`, settingsOfPatience(changePatienceMs, lookupSettings)),
  )
  const channels: Channel[] = [...lookups, ...changes]
  const reads: Reads[] = []
  const doubting = new Set<() => void>()
  const notifyInDoubt = () => {
    for (const listener of doubting) listener()
  }
  const transactions = openTransactions(connection, suspension, notifyInDoubt)
  /** Open connections that listen. */
  const listeners = new Set<pg.ClientBase>()
  let next = 0
  let nextChange = 0

  const openReads = (kind: ReadKind): Reads => {
    const opened = createReads({
      ...kind,
      connection,
      giveWay: options.giveWay === true,
      // Over the connection on which nothing else ever waits.
      cancel: async (processId) => void (await pinger.query({ ...cancel, values: [processId] })),
    })
    reads.push(opened)
    return {
      ...opened,
      async run(query, reader) {
        suspension.check()
        return opened.run(query, reader)
      },
    }
  }
  const timeoutMs = options.listTimeoutMs ?? 0
  const lists = openReads({ name: 'list', atOnce: longLists, timeoutMs, quickMs: quickListMs })

  const lookup = () => {
    suspension.check()
    return lookups[next++ % lookups.length] as Channel
  }
  const cutAll = () => {
    for (const connections of [pinger, transactions, ...channels, ...reads]) connections.reset()
    for (const client of listeners) cutConnection(client)
  }

  const ask = async <Row>(statement: Statement, values: unknown[]) =>
    (await lookup().query({ ...statement, values })).rows as Row[]
  const together = createLookups(ask, lookupsAtOnce)
  const read = <Row>(reader: Reader, statement: Statement, values: unknown[] = []) =>
    isLookup(statement) ? together.ask<Row>(statement, values, reader) : ask<Row>(statement, values)
  const change = async <Row>(reader: Reader, statement: Statement, values: unknown[]) => {
    suspension.check()
    const channel = changes[nextChange++ % changes.length] as Channel
    try {
      return (await channel.query({ ...statement, values })).rows as Row[]
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      return transactions.run(reader, (tx) => tx.query<Row>(statement, values))
    }
  }

  const readAs = (reader: Reader): Database => ({
    ...database,
    reader,
    query: (statement, values = []) =>
      statement.locks === true ? change(reader, statement, values) : read(reader, statement, values),
    transaction: (work) => transactions.run(reader, work),
    longTransaction: (work) => transactions.runLong(reader, work),
    async run<Row>(fragment: Fragment<Row>) {
      return (await lists.run(compileFragment(fragment), reader)).rows as Row[]
    },
  })
  const database: Database = {
    reader: ofService,
    readAs,
    openReads,
    lists: lists.load,
    query<Row>(statement: Statement, values: unknown[] = []) {
      return statement.locks === true ? change<Row>(ofService, statement, values) : read(ofService, statement, values)
    },
    async run<Row>(fragment: Fragment<Row>) {
      return (await lists.run(compileFragment(fragment), ofService)).rows as Row[]
    },
    transaction: (work) => transactions.run(ofService, work),
    longTransaction: (work) => transactions.runLong(ofService, work),
    openChannel(name, setup, givesWay = false, isSilent = false) {
      const giveWay =
        givesWay && options.giveWay === true ? (processId: number) => void lowerDatabaseProcess(processId) : undefined
      const channel = createChannel(connection, name, setup, giveWay)
      channels.push(channel)
      return {
        ...channel,
        async query(query) {
          suspension.check()
          return channel.query(query)
        },
        async transaction(queries) {
          suspension.check()
          try {
            return await channel.transaction(queries)
          } catch (error) {
            if (!isSilent && isInDoubt(error)) notifyInDoubt()
            throw error
          }
        },
        async interact(work) {
          suspension.check()
          return channel.interact(work)
        },
      }
    },
    onDoubt: (listener) => void doubting.add(listener),
    createClient(name) {
      const client = new pg.Client(clientSettings(connection, name))
      listeners.add(client)
      client.once('end', () => listeners.delete(client))
      return client
    },
    async ping() {
      await pinger.query(ping)
    },
    suspend() {
      suspension.begin()
      cutAll()
    },
    resume: () => suspension.end(),
    pool: transactions.pool,
    async close() {
      // A connection ends once the database has let go of it, which one that hangs does not.
      const cutting = setTimeout(cutAll, suspension.isOn ? 0 : closePatienceMs)
      await Promise.all([pinger, transactions, ...channels, ...reads].map((connections) => connections.close()))
      clearTimeout(cutting)
    },
  }
  return database
}
