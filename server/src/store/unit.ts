import pg from 'pg'
import type { Query } from './channel.ts'
import { types } from './connection.ts'

/** What `pg` has on a connection and in a query, as far as it is needed here: the driver's own, beyond its types. */
interface Wire {
  /** Named statements that the database knows by now. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>
  readonly stream: { cork(): void; uncork(): void; destroy(error: Error): void }
  execute(portal: { portal: string; rows: undefined }): void
  sync(): void
}

interface DriverQuery {
  submit(wire: Wire): Error | null
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: Wire): void
  handleError(error: Error, wire: Wire): void
  handleReadyForQuery(wire: Wire): void
}

type Callback = (error: Error | null, result: pg.QueryResult) => void

const DriverQuery = pg.Query as unknown as new (config: object, values?: undefined, callback?: Callback) => DriverQuery

/** One statement of a unit. It does not end with a synchronization, as the driver's own would. */
class Step extends DriverQuery {
  /** Why it was not sent: a value that cannot be put into a message. */
  unsent: Error | undefined

  _getRows(wire: Wire): void {
    wire.execute({ portal: '', rows: undefined })
  }
  override handleError(error: Error, wire: Wire): void {
    this.unsent = error
    super.handleError(error, wire)
  }
}

/**
 * Stands for its statements in the driver's queue, and hands on to each what the database says to it. In pipeline mode the
 * driver takes nothing but queries of its own kind.
 */
class Unit extends DriverQuery {
  readonly #steps: readonly Step[]
  readonly #settle: (error?: Error) => void
  #at = 0

  constructor(steps: readonly Step[], settle: (error?: Error) => void) {
    super({ text: '' })
    this.#steps = steps
    this.#settle = settle
  }

  override submit(wire: Wire): Error | null {
    wire.stream.cork()
    try {
      for (const step of this.#steps) {
        const error = step.submit(wire) ?? step.unsent
        if (error !== undefined) {
          // The driver has ended the unit at this statement, and what came before it would be stored: nothing leaves.
          wire.stream.destroy(error)
          return null
        }
      }
      wire.sync()
    } finally {
      wire.stream.uncork()
    }
    return null
  }
  override handleRowDescription(message: unknown): void {
    this.#steps[this.#at]?.handleRowDescription(message)
  }
  override handleDataRow(message: unknown): void {
    this.#steps[this.#at]?.handleDataRow(message)
  }
  override handleCommandComplete(message: unknown, wire: Wire): void {
    this.#steps[this.#at++]?.handleCommandComplete(message, wire)
  }
  override handleError(error: Error): void {
    this.#settle(error)
  }
  override handleReadyForQuery(wire: Wire): void {
    for (const step of this.#steps) step.handleReadyForQuery(wire)
    this.#settle()
  }
}

/** Can these run as a unit? Only named statements that the connection has run before. */
export function isUnit(client: pg.Client, queries: readonly Query[]): boolean {
  const { parsedStatements } = wireOf(client)
  return queries.every(({ name, text }) => name !== undefined && parsedStatements[name] === text)
}

/**
 * Runs statements as one transaction that the protocol itself begins and ends: what comes before one synchronization is
 * stored as a whole or not at all. Each statement has a snapshot of its own, as after `begin`. The database answers once:
 * for a few dozen rows that saves a fifth of what the driver does.
 * @returns the result of each statement, committed
 */
export function runUnit(client: pg.Client, queries: readonly Query[]): Promise<pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    const results: pg.QueryResult[] = []
    let unreadable: Error | null = null
    const steps = queries.map(
      (query, i) =>
        new Step({ ...query, types }, undefined, (error, result) => {
          unreadable ??= error
          results[i] = result
        }),
    )
    const unit = new Unit(steps, (error) => {
      const failure = error ?? unreadable
      if (failure === null) resolve(results)
      else reject(failure)
    })
    client.query(unit as unknown as pg.Submittable)
  })
}

function wireOf(client: pg.Client): Wire {
  return (client as unknown as { connection: Wire }).connection
}
