import { type CallAny, createCall, createFace, type Face } from './call.ts'
import { type Extras, withExtras } from './extras.ts'
import { serverAreas } from './server-areas.ts'
import { createTransport, idsOf, type TransportOptions } from './transport.ts'

export interface ServerOptions extends TransportOptions {
  /** A fullAccess key: it stays on your servers. */
  readonly apiKey: string
  /** uid of the user who acts in all calls; without it the app itself acts. */
  readonly onBehalfOf?: string
}

/** What a back end calls, by area: `parley.users.create({ uid: 'alice', name: 'Alice' })`. */
export type ServerClient = Face<typeof serverAreas> &
  Extras & {
    /** Any operation by its method and path. */
    readonly call: CallAny
    /** The same client, acting on behalf of a user: all rules hold for them. */
    as(uid: string): ServerClient
  }

/** A client for back ends, with an API key. */
export function createServerClient(options: ServerOptions): ServerClient {
  const headers = {
    apikey: options.apiKey,
    ...(options.onBehalfOf !== undefined && { onBehalfOf: options.onBehalfOf }),
  }
  const send = createTransport(options, { headers: async () => headers, renew: async () => false })
  const call = createCall(send, idsOf(options))
  return {
    ...withExtras(createFace(serverAreas, call), call, options),
    call,
    as: (uid) => createServerClient({ ...options, onBehalfOf: uid }),
  }
}
