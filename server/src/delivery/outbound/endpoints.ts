/**
 * A sort of endpoint that is delivered to: webhooks, or providers of notifications. Each has a row that says who delivers to
 * it and how that goes, and deliveries that wait. Texts are SQL.
 */
export interface Endpoints {
  /** Table of the endpoints, with the columns `key` and `enabled`, and the name that `columns` knows it by. */
  readonly table: string
  readonly as: string
  /** What whoever delivers has to know of one; `apps` is `a`. */
  readonly columns: string
  /** Table that says how delivering goes. */
  readonly states: string
  readonly deliveries: string
  /** The column of those two tables that names the endpoint. */
  readonly name: string
  /** Which deliveries `d` wait for a time of their own, as the index has it by which they are found. */
  readonly scheduled: string
  /** Which deliveries `d` have waited for nothing since they were made, where an index of their own has these. */
  readonly untried?: string
  /** For how long an endpoint is left alone at most, in milliseconds. */
  readonly longestPauseMs: number
  /** How long an attempt takes at most: it must be over before somebody else may begin one. */
  readonly attemptMs: number
  /** Adds a job for each row `(app_id, name, run_at)` of a table expression. */
  addJobs(from: string): string
}

/** One endpoint. */
export interface EndpointKey {
  readonly appId: number
  readonly endpoint: number
}
