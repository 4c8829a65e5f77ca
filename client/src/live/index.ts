import { createCall, withQuery } from '../call.ts'
import { ConnectionError, ParleyError } from '../errors.ts'
import { createUpload } from '../files.ts'
import { createTransport, idsOf } from '../transport.ts'
import { createUserClient, credentialsOf, type UserClient, type UserOptions, userClientOf } from '../user.ts'
import type { Live, LiveOptions } from './interface.ts'
import { createLive } from './live.ts'
import type { Port, PortRequest } from './port.ts'
import { requireSame } from './session.ts'

/** A user's client with its live face. */
export type LiveClient = UserClient & { readonly live: Live }

/**
 * A client for front ends that keeps up to date what its user sees: `parley.live.connect()`, then
 * `parley.live.openConversation({ uid: 'bob' })`. It has all calls of `createUserClient` as well; what they do is shown, too.
 */
export function createLiveClient(options: UserOptions & LiveOptions): LiveClient {
  const newId = idsOf(options)
  // A device hears no echo of what it does itself, so each tab is one.
  const deviceId = options.deviceId ?? `parley-${newId()}`
  const { authToken } = options
  const { token, renew, headers } = credentialsOf(async () => {
    try {
      const token = typeof authToken === 'string' ? authToken : await authToken()
      const me = live.me.getSnapshot()
      // Whoever has logged in meanwhile may be another user. Nothing is sent with their token.
      if (me !== undefined) requireSame(me, await createUserClient({ ...options, authToken: token }).me.get())
      return token
    } catch (error) {
      // A function that could not get a token is as nobody who answers: it may a moment later. What the service has refused is a refusal.
      throw error instanceof ParleyError ? error : new ConnectionError('authToken gave no token', { cause: error })
    }
  })
  // What a call of the product does is not known here, so this device has to hear of it as all others.
  const call = createCall(createTransport(options, { headers, renew }), newId)
  const send = createTransport(options, {
    headers: async () => ({ ...(await headers()), resource: deviceId }),
    renew,
  })
  const port: Port = {
    url: options.url.replace(/\/+$/, ''),
    appId: options.appId,
    deviceId,
    call<T>(method: string, path: string, { query = {}, body, signal, isLast }: PortRequest = {}) {
      const request = { method, path: withQuery(path, Object.entries(query)), body, isLast }
      return send({ ...request, isRepeatable: method === 'GET' }, { signal }) as Promise<T>
    },
    upload: createUpload(createCall(send, newId), options.fetch),
    newMuid: newId,
    token,
    renewToken: (refused) => renew({ authToken: refused }),
  }
  const live = createLive(port, options)
  return { ...userClientOf(options, call), live }
}
