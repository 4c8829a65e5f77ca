import type { Duplex } from 'node:stream'
import { type PresenceSubscription, type SocketClose, socketCloses } from '@parley/contract'
import type { WebSocket } from 'ws'
import type { TokenOwner } from '../chat/credentials/tokens.ts'
import type { App } from '../chat/identity.ts'
import type { SocketSettings } from '../config/sockets.ts'
import { encodeFrame } from './frames.ts'
import type { ConnectionInfo } from './presence/store.ts'

/** So many seconds' worth of frames may come at once. */
const burst = 4
/** Frames of one socket that may fail within a second. */
const failuresPerSecond = 20

/** Whose presence a client receives, as far as the role of its user allows. */
export interface Watch {
  readonly kind: Exclude<PresenceSubscription, 'NONE'>
  readonly friendsOnly: boolean
  /** Users of these roles only; null: of any. */
  readonly roles: readonly string[] | null
}

/** Who came in by a socket. */
export interface Login {
  readonly app: App
  readonly uid: string
  /** What the client said of itself. Its device or tab is not notified of what it did itself. */
  readonly info: ConnectionInfo
  /** The socket closes when the token stops working. */
  readonly token: TokenOwner
  readonly watch: Watch | undefined
  /** Nothing in groups from users whom this one has blocked. */
  readonly hidesBlocked: boolean
}

/** What all sockets of a process share. */
export interface SocketHost {
  readonly settings: SocketSettings
  /** A socket is asked to close. */
  readonly onClosing: (reason: SocketClose) => void
}

/** What the request said that opened a socket. */
export type Origin = Pick<Connection, 'appName' | 'client' | 'address'>

/** One socket. It holds little, since there may be tens of thousands; time is kept for all of them by one sweep. */
export class Connection {
  readonly ws: WebSocket
  /** The app named by host or header; empty where neither does. */
  appName: string | undefined
  /** The client's address as far as limits count it; undefined where they do not. */
  readonly client: string | undefined
  /** The client's address, if it is to be kept; known until the login. */
  address: string | undefined
  login: Login | undefined
  state: 'new' | 'authenticating' | 'ready' | 'closing' = 'new'
  /** As `performance.now()` has it: when something was last heard; of a new one, when it opened; of a closing one, since when. */
  since = performance.now()
  isPinged = false
  /** Frames of its client that are being worked on, or wait for those before them. */
  inFlight = 0
  /** Resolves when those are done. */
  work: Promise<void> | undefined
  /** Why the service closed it, if it did. */
  closedFor: SocketClose | undefined
  /** Frames that came before the login was checked. */
  early: string[] | undefined
  private readonly host: SocketHost
  private readonly stream: Duplex
  private allowance: number
  private allowedAt = performance.now()
  private failures = 0
  private failingSince = 0

  constructor(host: SocketHost, ws: WebSocket, stream: Duplex, { appName, client, address }: Origin) {
    this.host = host
    this.ws = ws
    this.stream = stream
    this.appName = appName
    this.client = client
    this.address = address
    this.allowance = host.settings.framesPerSecond * burst
  }

  /** Sends frames as `encodeFrame` makes them. Who reads too slowly is notified of that, and of nothing more. */
  send(encoded: Buffer): void {
    if (this.state === 'closing' || !this.stream.writable) return
    // Straight to the stream: the frame is encoded once for all, and between frames of `ws`, which writes whole ones.
    this.stream.write(encoded)
    if (this.stream.writableLength > this.host.settings.bufferBytes) this.close('tooSlow')
  }

  sendFrame(frame: object): void {
    this.send(encodeFrame(frame))
  }

  /** Closes with a code; the sweep ends the connection should the client not answer. */
  close(reason: SocketClose): void {
    if (this.state === 'closing') return
    this.state = 'closing'
    this.closedFor = reason
    this.since = performance.now()
    this.host.onClosing(reason)
    this.ws.close(socketCloses[reason].code, reason)
  }

  /** Counts a frame that failed. @returns false when too many have within a second */
  allowsFailure(): boolean {
    const now = performance.now()
    if (now - this.failingSince >= 1000) {
      this.failures = 0
      this.failingSince = now
    }
    return ++this.failures <= failuresPerSecond
  }

  /** Takes a frame off what the client may send. @returns false when it has sent too many */
  allows(): boolean {
    const now = performance.now()
    const { framesPerSecond } = this.host.settings
    const most = framesPerSecond * burst
    this.allowance = Math.min(most, this.allowance + ((now - this.allowedAt) / 1000) * framesPerSecond)
    this.allowedAt = now
    if (this.allowance < 1) return false
    this.allowance -= 1
    return true
  }
}
