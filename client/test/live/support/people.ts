import { WebSocket } from 'ws'
import { tokenOf } from '../../../../server/test/support/socket.ts'
import { until } from '../../../../server/test/support/until.ts'
import type { World } from '../../../../server/test/support/world.ts'
import {
  createLiveClient,
  type Live,
  type LiveOptions,
  type UserOptions,
  type WebSocketConstructor,
} from '../../../src/index.ts'

/** Of a browser's WebSocket it has all that is used. */
export const Socket = WebSocket as unknown as WebSocketConstructor

/** Where a client is a user: the app, and how tokens are made there. */
export type Place = Pick<World, 'url' | 'post'> & { readonly app: { readonly name: string } }

export type PersonOptions = LiveOptions & Partial<UserOptions>

/** The live face of a user, not connected yet. */
export async function liveOf(place: Place, uid: string, options: PersonOptions = {}): Promise<Live> {
  const authToken = options.authToken ?? (await tokenOf(place as World, uid))
  const patience = { backoff: { first: 20, most: 300 }, pingInterval: 1000, pingTimeout: 1000, timeout: 3000 }
  const { url, app } = place
  return createLiveClient({ url, appId: app.name, authToken, WebSocket: Socket, ...patience, ...options }).live
}

/** The same, connected and up to date. */
export async function connected(place: Place, uid: string, options: PersonOptions = {}): Promise<Live> {
  const live = await liveOf(place, uid, options)
  live.connect()
  await whenLive(live)
  return live
}

export async function whenLive(live: Live): Promise<void> {
  await until(() => live.connection.getSnapshot().status === 'live')
}
