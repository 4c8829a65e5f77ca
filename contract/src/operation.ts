import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

/** Areas of the contract, named as in its documentation; they become the tags of the OpenAPI document. */
export type Area =
  | 'API Keys'
  | 'Auth Tokens'
  | 'Banned Users'
  | 'Blocked Users'
  | 'Conversations'
  | 'Data Import'
  | 'Friends'
  | 'Group Members'
  | 'Groups'
  | 'Messages'
  | 'Metrics'
  | 'Moderation'
  | 'Notifications'
  | 'RBAC'
  | 'Restrict Features'
  | 'Roles'
  | 'Users'
  | 'Webhooks'

/**
 * Who may call an operation. A fullAccess API key may call all of them; `authOnly` opens one to authOnly keys,
 * `user` to front ends that come with a user's token instead of a key.
 */
export interface Access {
  readonly authOnly?: boolean
  readonly user?: boolean
}

/**
 * What the header `onBehalfOf` (uid of the acting user, beside an API key) means to an operation:
 * `required` (400 without it), `optional` (without it the app itself acts), `ignored`.
 */
export type OnBehalfOf = 'required' | 'optional' | 'ignored'

/** The group of requests that a rate limit counts together. */
export type RateLimitClass = 'core' | 'standard' | 'import'

/** What is counted for each acting user besides. */
export type UserRateLimit = 'sendPerUser' | 'markUnreadPerUser'

/**
 * One operation of the contract, declared once as data. Route, validation, serialisation, OpenAPI entry, permission
 * class and the conformance test all come from it; nothing describes the API a second time.
 */
export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  /** Operation id of the public contract, e.g. `send-message`. */
  readonly id: string
  readonly area: Area
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below `/v3`, parameters in braces: `/groups/{guid}/members`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly access: Access
  readonly onBehalfOf: OnBehalfOf
  /** Path parameters; every one named in `path`. */
  readonly params: Params
  readonly query: Query
  /** Request headers of the operation's own, beside those of every request. */
  readonly headers?: TObject
  /** JSON body; absent where the operation takes none. An absent or empty body counts as `{}`. */
  readonly body?: Body
  /** The whole JSON answer, envelope included: `{data, meta?, cursor?}`. */
  readonly answer: Answer
  /** Error codes that this operation adds to those that every operation can give. */
  readonly errors: readonly ErrorCode[]
  readonly rateLimit: RateLimitClass
  readonly userRateLimit?: UserRateLimit
  /** Also takes `multipart/form-data`: the fields as body, with files up to 100 MB. */
  readonly takesFiles?: boolean
  /** Largest accepted body in bytes; 1 MB where nothing is said. */
  readonly bodyLimit?: number
}

export type ParamsOf<O extends Operation> = Static<O['params']>
export type QueryOf<O extends Operation> = Static<O['query']>
export type HeadersOf<O extends Operation> = O extends { headers: infer Headers extends TObject }
  ? Static<Headers>
  : Record<string, never>
export type BodyOf<O extends Operation> = O extends { body: infer Body extends TSchema } ? Static<Body> : undefined
export type AnswerOf<O extends Operation> = Static<O['answer']>

/** Declares an operation; only pins the type, so that handlers get typed input and must give a typed answer. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation
}
