import { type CallAny, createCall, createFace, type Face } from './call.ts'
import type { AdminCalls } from './contract.ts'
import { serverAreas } from './server-areas.ts'
import { type CallOptions, createTransport, idsOf, type TransportOptions } from './transport.ts'

export interface OperatorOptions extends TransportOptions {
  /** A personal token of an operator; without it, the session of the browser that the page is in. */
  readonly token?: string
}

/** What an operator calls for an app, by area, as far as their rights go. */
export type AppClient = Face<typeof serverAreas> & {
  /** Any operation by its method and path. */
  readonly call: CallAny
}

export interface OperatorClient {
  /** An operation of the admin API: `call('GET /apps')`. */
  readonly call: CallAdmin
  app(appId: string): AppClient
}

type AdminKey = keyof AdminCalls
/** What goes into an operation of the admin API. */
export type AdminInput<K extends AdminKey> = AdminCalls[K]['input']
/** What a call of it gives: a page with its `meta`, or else what stands in `data`. */
export type AdminResult<K extends AdminKey> = 'meta' extends keyof AdminCalls[K]['answer']
  ? AdminCalls[K]['answer']
  : AdminCalls[K]['answer'] extends { data: infer Data }
    ? Data
    : AdminCalls[K]['answer']

export type CallAdmin = <K extends AdminKey>(
  key: K,
  ...rest: Record<string, never> extends AdminInput<K>
    ? [input?: AdminInput<K>, options?: CallOptions]
    : [input: AdminInput<K>, options?: CallOptions]
) => Promise<AdminResult<K>>

/** A client for those who look after the service, by its admin API. */
export function createOperatorClient({ token, appId: _, ...options }: OperatorOptions): OperatorClient {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const callBelow = (path: string) =>
    createCall(
      createTransport(options, { headers: async () => headers, renew: async () => false }, `/admin/v1${path}`),
      idsOf(options),
    )
  return {
    call: callBelow('') as unknown as CallAdmin,
    app(appId) {
      const call = callBelow(`/apps/${encodeURIComponent(appId)}`)
      return { ...createFace(serverAreas, call), call }
    },
  }
}
