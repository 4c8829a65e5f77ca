/**
 * Client of Parley: `createServerClient` for back ends with an API key, `createUserClient` for front ends with an auth token,
 * `createOperatorClient` for those who look after the service.
 */
export type { Call, CallAny, Input, Key, Result } from './call.ts'
export type * from './contract.ts'
export { ConnectionError, type Flaw, ParleyError } from './errors.ts'
export type { Count, Extras, Sent, ToMany } from './extras.ts'
export type { Attachment, Uploadable, UploadOptions } from './files.ts'
export type * from './live/interface.ts'
export {
  type AdminInput,
  type AdminResult,
  type AppClient,
  type CallAdmin,
  createOperatorClient,
  type OperatorClient,
  type OperatorOptions,
} from './operator.ts'
export type { Listing } from './pages.ts'
export type { Fetch, FetchAnswer, FetchInit, Signal } from './platform.ts'
export { createServerClient, type ServerClient, type ServerOptions } from './server.ts'
export type { CallOptions, TransportOptions } from './transport.ts'
export { createUserClient, type UserClient, type UserOptions } from './user.ts'

// The live face comes last, so that all tables of calls are side by side in a bundle: they are much alike, and compressed together.

export { createLiveClient, type LiveClient } from './live/index.ts'
