import { createCall, withQuery } from '../call.ts'
import { ConnectionError, ParleyError } from '../errors.ts'
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
  // The live face asks the product's function again. Whoever makes a call of their own hears what it said.
  const sendAgain = createTransport(options, {
    headers: () => asSilence(credentials.headers),
    renew: (used) => asSilence(() => renew(used)),
  })
  const port: Port = {
    url: options.url.replace(/\/+$/, ''),
    appId: options.appId,
    deviceId,
    async call<T>(method: string, path: string, { query = {}, body, signal, isLast }: PortRequest = {}): Promise<T> {
      const request = {
        method,
        path: withQuery(path, Object.entries(query)),
        body,
        isRepeatable: method === 'GET',
        isLast,
      }
      return (await sendAgain(request, { signal })) as T
    },
    upload: createUpload(createCall(sendAgain, newId), options.fetch),
    newMuid: newId,
    token: () => asSilence(token),
    renewToken: (refused) => asSilence(() => renew({ authToken: refused })),
  }
  return { ...userClientOf(options, call), live: createLive(port, options) }
}

/** A function that could not get a token is as nobody who answers: it may a moment later. What the service has refused is a refusal. */
async function asSilence<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ParleyError) throw error
    throw new ConnectionError('authToken gave no token', { cause: error })
  }
}
