import { createCall } from '../call.ts'
import { createUpload } from '../files.ts'
import { createTransport, idsOf } from '../transport.ts'
import { credentialsOf, type UserClient, type UserOptions, userClientOf } from '../user.ts'
import type { Live, LiveOptions } from './interface.ts'
import { createLive } from './live.ts'
import type { Port, PortRequest } from './port.ts'

/** A user's client with its live face. */
export type LiveClient = UserClient & { readonly live: Live }

/**
 * A client for front ends that keeps up to date what its user sees: `parley.live.connect()`, then
 * `parley.live.openConversation({ uid: 'bob' })`. It has all calls of `createUserClient` as well.
 */
export function createLiveClient(options: UserOptions & LiveOptions): LiveClient {
  const newId = idsOf(options)
  // A device hears no echo of what it does itself, so each tab is one.
  const deviceId = options.deviceId ?? `parley-${newId()}`
  const { token, renew, headers } = credentialsOf(options.authToken)
  const credentials = { headers: async () => ({ ...(await headers()), resource: deviceId }), renew }
  const send = createTransport(options, credentials)
  const call = createCall(send, newId)
  const port: Port = {
    url: options.url.replace(/\/+$/, ''),
    appId: options.appId,
    deviceId,
    async call<T>(method: string, path: string, { query = {}, body, signal }: PortRequest = {}): Promise<T> {
      const asked = Object.entries(query).filter(([, value]) => value !== undefined)
      const search = asked.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')
      const request = {
        method,
        path: search === '' ? path : `${path}?${search}`,
        ...(body !== undefined && { body }),
        isRepeatable: method === 'GET',
      }
      return (await send(request, signal && { signal })) as T
    },
    upload: createUpload(call, options.fetch),
    newMuid: newId,
    token,
    renewToken: (refused) => renew({ authToken: refused }),
  }
  return { ...userClientOf(options, call), live: createLive(port, options) }
}
