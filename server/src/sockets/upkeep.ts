import { setTimeout as delay } from 'node:timers/promises'
import type { SocketClose } from '@parley/contract'
import type { SocketSettings } from '../config/sockets.ts'
import type { Connection } from './connection.ts'

/** How long a client may take to answer a close. */
const closeTimeoutMs = 5_000
/** Between two sockets that are closed in turn, unless there are too many for that. */
const drainPaceMs = 2
const slotMs = 20

/**
 * Looks after one connection, every second: asks the silent ones whether they are there, ends those that are not.
 * @param patienceMs within which a first frame must come
 */
export function checkConnection(connection: Connection, settings: SocketSettings, patienceMs: number): void {
  const silent = performance.now() - connection.since
  switch (connection.state) {
    case 'closing':
      if (silent > closeTimeoutMs) connection.ws.terminate()
      return
    case 'ready':
      if (Date.now() >= expiryOf(connection)) connection.close('sessionEnded')
      else if (silent > settings.idleTimeoutMs) connection.close('idle')
      else if (silent > settings.idleTimeoutMs / 2 && !connection.isPinged) {
        connection.isPinged = true
        connection.ws.ping()
      }
      return
    default:
      // Whoever has sent a frame waits for the database, and is not hurried.
      if (silent > (connection.state === 'new' ? patienceMs : settings.authTimeoutMs)) connection.close('authTimeout')
  }
}

/** Epoch milliseconds at which the token of a connection ends by itself. */
function expiryOf({ login }: Connection): number {
  return (login?.token.jwt?.expiresAt ?? Number.POSITIVE_INFINITY) * 1000
}

/** Closes connections evenly over some time, so that their clients do not all connect again at once. */
export async function closeOverTime(
  connections: readonly Connection[],
  reason: SocketClose,
  longestMs: number,
): Promise<void> {
  const slots = Math.ceil(Math.min(longestMs, connections.length * drainPaceMs) / slotMs)
  const perSlot = Math.ceil(connections.length / Math.max(1, slots))
  for (let i = 0; i < connections.length; i += perSlot) {
    for (const connection of connections.slice(i, i + perSlot)) connection.close(reason)
    if (i + perSlot < connections.length) await delay(slotMs)
  }
}
