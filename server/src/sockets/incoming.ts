import type { WebSocket } from 'ws'
import type { Context } from '../context.ts'
import { toApiError } from '../protocol/errors.ts'
import type { Connection } from './connection.ts'
import { readFrame, textOf, typeOf } from './frames.ts'
import type { SocketMetrics } from './metrics.ts'
import { createMissingGroups } from './missing-groups.ts'
import { receive } from './receive.ts'
import type { Sessions } from './sessions.ts'
import type { SignalPace } from './signal-pace.ts'
import { createSignals } from './signals.ts'

/** What clients send: the first frame logs in, the others are worked off one after the other. */
export interface Incoming {
  onMessage(connection: Connection, data: WebSocket.RawData, isBinary: boolean): void
  onPong(connection: Connection): void
}

export interface IncomingParts {
  readonly context: Context
  readonly sessions: Sessions
  readonly metrics: SocketMetrics
  readonly pace: SignalPace
  readonly onLoggedIn: (connection: Connection) => void
}

/** Frames that may come before the answer to the first one. */
const maxEarlyFrames = 16
const maxInFlight = 64

export function createIncoming({ context, sessions, metrics, pace, onLoggedIn }: IncomingParts): Incoming {
  const missing = createMissingGroups()
  const signals = createSignals(context, missing, pace)
  const onText = (connection: Connection, text: string) => {
    if (connection.state === 'authenticating') {
      connection.early ??= []
      if (connection.early.push(text) > maxEarlyFrames) connection.close('tooFast')
      return
    }
    const frame = readFrame(text)
    if (frame === undefined) {
      connection.close('notJson')
      return
    }
    metrics.frames.inc({ type: typeOf(frame) })
    if (frame.action === 'ping') connection.sendFrame({ action: 'pong' })
    else if (connection.state === 'ready') enqueue(connection, frame)
    else if (frame.type === 'auth') void logIn(connection, frame)
    else connection.close('notAuthenticated')
  }

  const logIn = async (connection: Connection, frame: Record<string, unknown>) => {
    const isIn = await sessions.logIn(connection, frame)
    if (!isIn) return
    onLoggedIn(connection)
    const early = connection.early ?? []
    connection.early = undefined
    for (const text of early) if (!isClosing(connection)) onText(connection, text)
  }

  /** One after the other, as they came: a read before a delivery would leave the delivery unpublished. */
  const enqueue = (connection: Connection, frame: Record<string, unknown>) => {
    if (++connection.inFlight > maxInFlight) connection.close('tooFast')
    connection.work = connection.work?.then(() => work(connection, frame)) ?? work(connection, frame)
  }

  const work = async (connection: Connection, frame: Record<string, unknown>) => {
    try {
      const { closedFor, login } = connection
      if (login === undefined || closedFor === 'sessionEnded' || closedFor === 'paused') return
      await receive({ context, signals, missing }, login, frame)
    } catch (error) {
      const { status, code, message, devMessage } = toApiError(error, context.log, 'socket')
      const type = typeof frame.type === 'string' ? { frame: frame.type.slice(0, 50) } : {}
      connection.sendFrame({ type: 'error', body: { code, message, devMessage, ...type } })
      // That the database is away, or a group too busy, is not for the client to mend.
      if (status < 500 && status !== 429 && !connection.allowsFailure()) connection.close('tooFast')
    } finally {
      if (--connection.inFlight === 0) connection.work = undefined
    }
  }

  return {
    onMessage(connection, data, isBinary) {
      if (connection.state === 'closing') return
      hear(connection)
      if (isBinary) connection.close('binary')
      else if (!connection.allows()) connection.close('tooFast')
      else onText(connection, textOf(data))
    },
    onPong(connection) {
      if (connection.state === 'ready') hear(connection)
    },
  }
}

/** The client is there. */
function hear(connection: Connection): void {
  if (connection.state === 'ready') connection.since = performance.now()
  connection.isPinged = false
}

function isClosing({ state }: Connection): boolean {
  return state === 'closing'
}
