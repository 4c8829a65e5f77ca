import type { ApiError, ErrorBody } from '@parley/contract'

/** The outcome for one record. */
export type Outcome<Entity> = Success<Entity> | Failure

export interface Success<Entity> {
  readonly success: true
  readonly data: Entity
  /** Members of the record that the import does not know. */
  readonly ignored?: readonly string[]
}

export interface Failure {
  readonly success: false
  readonly error: ErrorBody['error']
}

export function stored<Entity>(data: Entity): Success<Entity> {
  return { success: true, data }
}

/** The refusal of one record; if it were thrown, it would end the request. */
export function refuse(error: ApiError): Failure {
  return { success: false, ...error.toBody() }
}
