import pg from 'pg'
import type { Query } from './channel.ts'
import { types } from './connection.ts'

/** What `pg` has on a connection and in a query, as far as it is needed here: the driver's own, beyond its types. */
export interface Wire {
  /** Named statements that the database knows by now. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>
  readonly stream: { cork(): void; uncork(): void; destroy(error: Error): void }
  execute(portal: { portal: string; rows: undefined }): void
  sync(): void
}

interface DriverQuery {
  name: string | undefined
  values: unknown[] | undefined
  _result: DriverResult
  _results: DriverResult
  _accumulateRows: boolean
  submit(wire: Wire): Error | null
  handleRowDescription(message: { readonly fields: readonly Field[] }): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: Wire): void
  handleError(error: Error, wire: Wire): void
  handleReadyForQuery(wire: Wire): void
}

interface DriverResult {
  fields: readonly Field[]
  _parsers: ReadonlyArray<(text: string) => unknown>
}

/** A column of a result. */
interface Field {
  readonly dataTypeID: number
}

type Callback = (error: Error | null, result: pg.QueryResult) => void
type RowMode = Query['rowMode']

export const DriverQuery = pg.Query as unknown as new (
  text: string,
  values?: undefined,
  callback?: Callback,
) => DriverQuery
const DriverResult = pg.Result as unknown as new (rowMode: RowMode, types: pg.CustomTypesConfig) => DriverResult

/**
 * A query whose members are set. The driver copies what it is given by the descriptors of its properties, which took 2 % of
 * the service where it mostly answered pages.
 */
export class Asked extends DriverQuery {
  readonly #hasNames: boolean

  constructor({ name, text, values, rowMode }: Query, callback: Callback) {
    super(text, undefined, callback)
    this.name = name
    this.values = values
    this._result = new DriverResult(rowMode, types)
    this._results = this._result
    this.#hasNames = rowMode !== 'array'
  }

  /** Where rows are lists, no object with the names of the columns is made, which cost another 2 %. */
  override handleRowDescription(message: { readonly fields: readonly Field[] }): void {
    if (this.#hasNames) {
      super.handleRowDescription(message)
      return
    }
    this._result.fields = message.fields
    this._result._parsers = message.fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text'))
    this._accumulateRows = true
  }
}

/** As `client.query`. */
export function ask(client: pg.ClientBase, query: Query): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const asked = new Asked(query, (error, result) => (error === null ? resolve(result) : reject(error)))
    client.query(asked as unknown as pg.Submittable)
  })
}
