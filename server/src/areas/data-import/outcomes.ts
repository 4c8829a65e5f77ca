import { type ErrorBody, type ErrorCode, type ErrorDetail, errors } from '@parley/contract'

/** What became of one record. */
export type Outcome<Entity> = Success<Entity> | Failure

export interface Success<Entity> {
  readonly success: true
  readonly data: Entity
}

export interface Failure {
  readonly success: false
  readonly error: ErrorBody['error']
}

export function stored<Entity>(data: Entity): Success<Entity> {
  return { success: true, data }
}

/** The refusal of one record; thrown it would end the request. */
export function refuse(code: ErrorCode, devMessage: string, details?: ErrorDetail[]): Failure {
  const { message } = errors[code]
  return { success: false, error: { code, message, devMessage, source: 'chat-api', ...(details && { details }) } }
}
