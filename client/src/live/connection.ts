import { retryAfterOf, statusOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import type { CreateCell } from './cell.ts'
import { type Backoff, backoffOf, nextMinute, reactTo } from './closes.ts'
import { cancel, createStop, here, later, now, type Timer } from './here.ts'
import type { ConnectionState, LiveOptions, StopReason, View, WebSocketLike } from './interface.ts'
import { mayPass, type Port } from './port.ts'

// biome-ignore lint/suspicious/noExplicitAny: frames are checked by the service, and read where they are used
export type Frame = any

export interface Connection {
  readonly state: View<ConnectionState>
  connect(): void
  close(): void
  /** There is a connection, though what was missed may not have been fetched yet. */
  isOpen(): boolean
  /** Sends a frame, or nothing where there is no connection. */
  send(frame: object): void
  /** Looks at once whether the connection lives; tries again where it waits to. */
  wake(): void
}

export interface ConnectionParts {
  readonly port: Port
  readonly cell: CreateCell
  readonly options: LiveOptions
  readonly backoff: Backoff
  /** Fetches what was missed. The connection is live when it resolves; where it rejects, it begins again. */
  resync(signal: Signal): Promise<void>
  onFrame(frame: Frame): void
  /** @param sentAt when the ping was sent @param signal of the connection that it was sent over */
  onPong(sentAt: number, signal: Signal): void
}

/** From so many attempts on, waits are as long as they become. */
const unhurried = 30
/** No code of a close: nothing was heard for too long, or the connection could not be made. */
const silence = 1006

/** One socket that is kept open: heartbeat, waiting before another try, and a reaction to each way in which it ends. */
export function createConnection(parts: ConnectionParts): Connection {
  const { port, cell, options, backoff, resync, onFrame, onPong } = parts
  const { pingInterval = 25_000, pingTimeout = 10_000 } = options
  let state: ConnectionState = { status: 'idle' }
  let socket: WebSocketLike | undefined
  let run = createStop()
  let timer: Timer | undefined
  let deadline: Timer | undefined
  let attempts = 0
  let hasRenewed = false
  let token = ''
  let mustWait = false
  let pingedAt = 0
  const view = cell(() => state)

  const become = (next: ConnectionState) => {
    state = next
    view.changed()
  }

  const drop = () => {
    cancel(timer)
    cancel(deadline)
    timer = deadline = undefined
    run.abort()
    const old = socket
    socket = undefined
    if (old === undefined) return
    old.onopen = old.onmessage = old.onclose = null
    try {
      old.close()
    } catch {
      // It was not open yet.
    }
  }

  const stop = (reason: StopReason, error?: unknown) => {
    drop()
    become({ status: 'stopped', reason, error })
  }

  const wait = (ms: number, closeCode?: number) => {
    hasRenewed = false
    become({ status: 'waiting', retryAt: now() + ms, ...(closeCode !== undefined && { closeCode }) })
    timer = later(() => void open(), ms)
  }

  /** The connection has ended, or could not be made. */
  const lose = (closeCode: number, error?: unknown) => {
    drop()
    const reaction = reactTo(closeCode)
    mustWait = reaction === 'nextMinute'
    if (reaction === 'later') attempts = Math.max(attempts, unhurried)
    if (reaction === 'stop') stop('replaced')
    else if (mustWait) wait(nextMinute(), closeCode)
    else if (reaction === 'renew') void open(true, error)
    else wait(Math.max(backoffOf(attempts++, backoff), retryAfterOf(error)), closeCode)
  }

  const fail = (error: unknown) => {
    if (statusOf(error) === 401) lose(4401, error)
    else if (mayPass(error)) lose(silence, error)
    else stop('refused', error)
  }

  /** Whoever does not answer until then is gone, even if nobody says so. */
  const expectWithin = (ms: number) => {
    deadline ??= later(() => lose(silence), ms)
  }

  const ping = (within = pingTimeout) => {
    pingedAt = now()
    send({ action: 'ping', ack: 'true' })
    expectWithin(within)
  }

  const beat = () => {
    ping()
    timer = later(beat, pingInterval)
  }

  /** @param isRefused whether another token than the last one is needed, and why */
  const open = async (isRefused = false, refused?: unknown) => {
    cancel(timer)
    run.abort()
    run = createStop()
    const { signal } = run
    become({ status: 'connecting' })
    try {
      if (isRefused) {
        // Where the one that was asked for last is refused, too, asking once more is of no use.
        const isAgain = hasRenewed
        hasRenewed = true
        if ((isAgain || !(await port.renewToken(token))) && !signal.aborted) return stop('loggedOut', refused)
      }
      token = await port.token()
    } catch (error) {
      if (!signal.aborted) fail(error)
      return
    }
    if (signal.aborted) return
    const Socket = options.WebSocket ?? here.WebSocket
    let own: WebSocketLike
    try {
      if (Socket === undefined) throw new Error(noSocket)
      own = new Socket(`${port.url.replace(/^http/, 'ws')}/`)
    } catch (error) {
      return stop('refused', error)
    }
    socket = own
    let isIn = false
    let refusal: unknown
    expectWithin(pingTimeout)
    own.onerror = () => {}
    own.onclose = ({ code }) => {
      if (isIn) hasRenewed = false
      lose(code, refusal)
    }
    own.onopen = () => {
      const { deviceId, appId } = port
      const body = { auth: token, deviceId, presenceSubscription: options.presence ?? 'ALL_USERS' }
      send({ type: 'auth', deviceId, appId, body })
    }
    own.onmessage = ({ data }) => {
      const frame: Frame = JSON.parse(String(data))
      cancel(deadline)
      deadline = undefined
      if (isIn) {
        if (frame.action === 'pong') onPong(pingedAt, signal)
        else onFrame(frame)
        return
      }
      if (frame.type !== 'auth') return
      const { code, status } = frame.body
      if (code === '200') {
        isIn = true
        timer = later(beat, pingInterval)
        become({ status: 'syncing' })
        resync(signal).then(
          () => {
            if (signal.aborted) return
            attempts = 0
            become({ status: 'live' })
          },
          (error: unknown) => {
            if (!signal.aborted) fail(error)
          },
        )
        return
      }
      refusal = Object.assign(new Error(status), { code: status })
      if (code === '400') stop('refused', refusal)
      // Whether the app is paused or the service busy is said by the close that follows.
      else if (code === '503') expectWithin(pingTimeout)
      else lose(4000 + Number(code), refusal)
    }
  }

  const send = (frame: object) => {
    if (socket?.readyState === 1) socket.send(JSON.stringify(frame))
  }

  const wake = () => {
    if (state.status === 'waiting' && !mustWait) void open()
    else if (state.status === 'live') ping(Math.min(3000, pingTimeout))
  }

  return {
    state: view,
    connect() {
      if (state.status !== 'idle' && state.status !== 'stopped') return
      attempts = 0
      hasRenewed = false
      void open()
    },
    close() {
      drop()
      become({ status: 'idle' })
    },
    isOpen: () => state.status === 'live' || state.status === 'syncing',
    send,
    wake,
  }
}

const noSocket = 'there is no WebSocket here: pass the option WebSocket'
