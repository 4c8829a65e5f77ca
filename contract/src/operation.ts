import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

/** Areas of the contract, with the names of its documentation. They are the tags of the OpenAPI document. */
export type Area =
  | 'API Keys'
  | 'Apps'
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
 * Who may call an operation. A fullAccess API key may call every operation; `authOnly` also admits authOnly keys,
 * `user` also front ends that send a user's auth token instead of a key.
 */
export interface Access {
  readonly authOnly?: boolean
  readonly user?: boolean
  /** The auth token is also accepted in the header `Authorization`, as front ends send the token of the socket. */
  readonly jwt?: boolean
}

/**
 * How an operation uses the header `onBehalfOf` (uid of the acting user, sent with an API key): `required` (400
 * without it), `optional` (without it the app itself acts) or `ignored`.
 */
export type OnBehalfOf = 'required' | 'optional' | 'ignored'

/** The group of requests that share one rate limit. */
export type RateLimitClass = 'core' | 'standard' | 'import'

/** Rate limits that also apply per acting user. */
export type UserRateLimit = 'sendPerUser' | 'markUnreadPerUser'

/**
 * The usual call of an operation. What is accepted may be wider: several forms of a request cannot say what each of them
 * requires, and an answer that depends on the request has no one type. The description must name the other forms. Requests
 * are validated and answers serialised by `body` and `answer`.
 */
export interface Plain {
  readonly body?: TSchema
  readonly answer?: TSchema
}

/**
 * One operation of the contract, declared once as data. Route, validation, serialisation, OpenAPI entry, permissions
 * and the conformance test are all derived from it; nothing else describes the API.
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
  /** Path parameters: exactly those named in `path`. */
  readonly params: Params
  readonly query: Query
  /** Request headers of this operation, besides those common to all. */
  readonly headers?: TObject
  /** JSON body; absent if the operation takes none. A missing or empty body counts as `{}`, unless `needsBody`. */
  readonly body?: Body
  /** A missing body is an error, even if none of its members is required. */
  readonly needsBody?: boolean
  /** The whole JSON response, including the envelope: `{data, meta?, cursor?}`. */
  readonly answer: Answer
  /** How the usual call looks, where `body` or `answer` also allow what few need. For documents and generated clients alone. */
  readonly plain?: Plain
  /** Error codes of this operation, besides those that every operation can return. */
  readonly errors: readonly ErrorCode[]
  readonly rateLimit: RateLimitClass
  readonly userRateLimit?: UserRateLimit
  /** Also accepts `multipart/form-data`: the body as fields, with files of up to 100 MB. */
  readonly takesFiles?: boolean
  /** Also accepts `multipart/form-data`, whose file is a text: the member `field` of the body, with so many bytes at most. */
  readonly readsFile?: { readonly field: string; readonly bytes: number }
  /** Largest accepted body in bytes; `limits.bodyBytes.json` by default. */
  readonly bodyLimit?: number
}

export type ParamsOf<O extends Operation> = Static<O['params']>
export type QueryOf<O extends Operation> = Static<O['query']>
export type HeadersOf<O extends Operation> = O extends { headers: infer Headers extends TObject }
  ? Static<Headers>
  : Record<string, never>
export type BodyOf<O extends Operation> = O extends { body: infer Body extends TSchema } ? Static<Body> : undefined
export type AnswerOf<O extends Operation> = Static<O['answer']>

/** Declares an operation. Only fixes its type, so that handlers get typed input and must return a typed result. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation
}
