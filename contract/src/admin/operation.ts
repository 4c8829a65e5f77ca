import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from '../errors.ts'
import type { OperatorRight } from './rights.ts'

/** Areas of the admin API: the tags of its OpenAPI document. */
export type AdminArea =
  | 'Signing in'
  | 'Account'
  | 'Operators'
  | 'Apps'
  | 'Import'
  | 'Health'
  | 'Emulators'
  | 'Audit log'

/**
 * Who may call an operation: an operator who has a right, `signedIn` any operator, `anybody` without signing in. With a right
 * that is one for each app, the operation names the app in its path.
 */
export type AdminAccess = OperatorRight | 'signedIn' | 'anybody'

/**
 * One operation of the admin API, declared once as data, like those of the public contract (operation.ts). It is for operators of
 * the deployment, and takes neither API keys nor auth tokens of users.
 */
export interface AdminOperation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  readonly id: string
  readonly area: AdminArea
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below `/admin/v1`, parameters in braces. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly access: AdminAccess
  /** It is not open to personal tokens of operators: only to those who signed in. */
  readonly sessionOnly?: boolean
  /** Path parameters: exactly those named in `path`. */
  readonly params: Params
  readonly query: Query
  /** Bytes that its body can have, where that is not the usual. */
  readonly bodyLimit?: number
  /** JSON body; absent if the operation takes none. */
  readonly body?: Body
  /** The whole JSON response, including the envelope. */
  readonly answer: Answer
  /** Error codes of this operation, besides those that every operation of the admin API can return. */
  readonly errors: readonly ErrorCode[]
}

export type AdminParamsOf<O extends AdminOperation> = Static<O['params']>
export type AdminQueryOf<O extends AdminOperation> = Static<O['query']>
export type AdminBodyOf<O extends AdminOperation> = O extends { body: infer Body extends TSchema }
  ? Static<Body>
  : undefined
export type AdminAnswerOf<O extends AdminOperation> = Static<O['answer']>

/** Declares an operation of the admin API. Only fixes its type, as `defineOperation` does. */
export function defineAdminOperation<const O extends AdminOperation>(operation: O): O {
  return operation
}
