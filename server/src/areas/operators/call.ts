import type { AdminAnswerOf, AdminBodyOf, AdminOperation, AdminParamsOf, AdminQueryOf } from '@parley/contract'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Operator } from './accounts.ts'
import type { Origin } from './sessions.ts'

/** One request to the admin API, validated, with everything a handler may look at. */
export interface AdminCall<O extends AdminOperation> {
  /** Who is signed in; only where anybody may call is there nobody. */
  readonly operator: O['access'] extends 'anybody' ? undefined : Operator
  /** The app that the path names, where it does; one that the operator has to do with. */
  readonly app: O['params'] extends { properties: { appId: unknown } } ? App : undefined
  readonly params: AdminParamsOf<O>
  readonly query: AdminQueryOf<O>
  readonly body: AdminBodyOf<O>
  readonly from: Origin
  /** The client's address as far as limits count it. */
  readonly client: string | undefined
  /** The same, but whatever it is: not to be kept. */
  readonly address: string | undefined
  /** Scheme, host and port of the page that calls, as the browser has them. */
  readonly origin: string
  /** The cookie of a session. */
  readonly cookie: Cookie
  /** The cookie of a sign-in that goes by the page of a provider. */
  readonly signInCookie: Cookie
}

/** A cookie that no script can read, and that no page of another origin has the browser send. */
export interface Cookie {
  get(): string | undefined
  /** @param seconds for how long; left out: until the browser is closed */
  set(value: string, seconds?: number): void
  clear(): void
}

/** An operation of the admin API with the code that answers it. */
export interface AdminRoute {
  readonly operation: AdminOperation
  readonly handle: (call: AdminCall<AdminOperation>, context: Context) => Promise<unknown>
}

/** Binds a handler to a declared operation, as `serve` does. */
export function serveAdmin<const O extends AdminOperation>(
  operation: O,
  handle: (call: AdminCall<O>, context: Context) => Promise<AdminAnswerOf<O>>,
): AdminRoute {
  return { operation, handle: handle as unknown as AdminRoute['handle'] }
}
