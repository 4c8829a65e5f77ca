import type { ApiError, ErrorBody } from '@parley/contract'
import type { ImportRefusal, ImportRow } from '../messages/index.ts'
import * as errors from './errors.ts'

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
  /** Of a message that is there already. */
  readonly id?: string
}

export function stored<Entity>(data: Entity): Success<Entity> {
  return { success: true, data }
}

/** The refusal of one record; if it were thrown, it would end the request. */
export function refuse(error: ApiError): Failure {
  return { success: false, ...error.toBody() }
}

/**
 * The refusal of a message.
 * @param holder the id of the message that has its muid
 */
export function refuseMessage(refusal: ImportRefusal, row: ImportRow, holder: number | undefined): Failure {
  const failure = refuse(errors.ofMessage(refusal, row))
  const isThere = refusal === 'ERR_IMPORT_MUID_ALREADY_EXISTS' && holder !== undefined
  return isThere ? { ...failure, id: String(holder) } : failure
}
