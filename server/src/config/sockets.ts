/** Bounds of the sockets; each has an environment variable, see docs/configuration.md. */
export interface SocketSettings {
  /** Within which the first frame must come. */
  readonly authTimeoutMs: number
  /** Without a sign of life from the client, after which its socket is closed. */
  readonly idleTimeoutMs: number
  /** Bytes that may wait for one client before it counts as too slow. */
  readonly bufferBytes: number
  /** Bytes of one frame from a client. */
  readonly frameBytes: number
  /** Frames a second from one client, in the long run; four times as many at once. */
  readonly framesPerSecond: number
  /** Sockets of one user in this process; one more closes the oldest. */
  readonly perUser: number
  /** Sockets a second that are let in while the process is busy; more while it has time. */
  readonly loginsPerSecond: number
  /** Over which a stopping service asks its sockets to connect again. */
  readonly drainMs: number
}

/** Reads the settings; what is wrong with them is added to `problems`. */
export function readSocketSettings(value: (name: string) => string | undefined, problems: string[]): SocketSettings {
  const number = (name: string, fallback: number, from: number, to: number): number => {
    const text = value(name)
    if (text === undefined) return fallback
    const given = Number(text)
    if (/^\d+(\.\d+)?$/.test(text) && given >= from && given <= to) return given
    problems.push(`${name} must be a number from ${from} to ${to}; it is "${text}"`)
    return fallback
  }
  return {
    authTimeoutMs: number('SOCKET_AUTH_SECONDS', 10, 0.1, 300) * 1000,
    idleTimeoutMs: number('SOCKET_IDLE_SECONDS', 60, 0.5, 3600) * 1000,
    bufferBytes: Math.floor(number('SOCKET_BUFFER_BYTES', 1024 * 1024, 16 * 1024, 64 * 1024 * 1024)),
    frameBytes: Math.floor(number('SOCKET_FRAME_BYTES', 16 * 1024, 1024, 1024 * 1024)),
    framesPerSecond: number('SOCKET_FRAMES_PER_SECOND', 30, 1, 10_000),
    perUser: Math.floor(number('SOCKETS_PER_USER', 20, 1, 10_000)),
    loginsPerSecond: number('SOCKET_LOGINS_PER_SECOND', 40, 1, 10_000),
    drainMs: number('SOCKET_DRAIN_SECONDS', 3, 0, 6) * 1000,
  }
}
