import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError } from '@parley/contract'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Context } from '../context.ts'
import { limitExceeded } from '../limits/errors.ts'
import { namedApp } from '../protocol/caller.ts'
import { toApiError } from '../protocol/errors.ts'
import type { Admission } from './admission.ts'
import type { Origin } from './connection.ts'
import type { Unauthenticated } from './unauthenticated.ts'
import { checkUpgrade, refuseUpgrade, tryLater, watchForEnd } from './upgrade.ts'

/** Makes sockets of requests that ask for one. */
export interface Handshake {
  onUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void>
  /** Refuses those that wait, and all that come from now on. */
  close(): void
}

export interface HandshakeParts {
  readonly context: Context
  readonly admission: Admission
  /** Sockets count here from before they open: whoever takes them over takes them out. */
  readonly unauthenticated: Unauthenticated
  readonly onOpen: (ws: WebSocket, stream: Duplex, origin: Origin) => void
}

export function createHandshake({ context, admission, unauthenticated, onOpen }: HandshakeParts): Handshake {
  const { addresses, config, log } = context
  const wss = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: config.sockets.frameBytes,
    perMessageDeflate: false,
  })
  let isClosed = false

  const requireRoom = async (request: IncomingMessage, client: string | undefined) => {
    checkUpgrade(request, addresses, config)
    if (client !== undefined) {
      const standing = await context.limits.rateLimiter.take('address', client)
      if (standing?.isExceeded) throw limitExceeded(standing)
    }
    if (isClosed || !unauthenticated.hasRoomFor(client)) throw tryLater()
  }
  /** @throws 503 where it would wait for too long, or the service stops meanwhile */
  const takeTurn = async (stream: Duplex) => {
    const endWatch = watchForEnd(stream)
    await admission.enter(() => !stream.destroyed).finally(endWatch)
    if (isClosed) throw tryLater()
  }
  /** @returns whether it was a proper handshake; else it is answered so */
  const openSocket = (
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    client: string | undefined,
    onStreamError: () => void,
  ): boolean => {
    const address = config.keepsClientAddresses ? addresses.clientOf(request) : undefined
    const appName = namedApp(addresses.hostOf(request), request.headers)
    let isOpen = false
    wss.handleUpgrade(request, stream, head, (ws) => {
      isOpen = true
      stream.removeListener('error', onStreamError)
      onOpen(ws, stream, { appName, client, address })
    })
    return isOpen
  }

  return {
    async onUpgrade(request, stream, head) {
      const onStreamError = () => stream.destroy()
      stream.on('error', onStreamError)
      const client = addresses.limitedOf(request)
      let isOpen = false
      try {
        await requireRoom(request, client)
        unauthenticated.add(client)
        try {
          await takeTurn(stream)
          isOpen = !stream.destroyed && openSocket(request, stream, head, client, onStreamError)
        } finally {
          if (!isOpen) unauthenticated.remove(client)
        }
      } catch (error) {
        refuseUpgrade(stream, error instanceof ApiError ? error : toApiError(error, log, 'upgrade'))
      }
    },
    close() {
      isClosed = true
      admission.close()
    },
  }
}
