import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { LRUCache } from 'lru-cache'
import { beginningOf, readRetryAfter } from '../outbound/http.ts'

export interface ApnsRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ApnsAnswer {
  readonly status: number
  readonly text: string
  readonly retryAfter: number | undefined
}

/** Whom a session leads to, and who sends over it. */
export interface ApnsPeer {
  readonly origin: string
  /** The team and its key: APNs takes the tokens of one developer account only over one connection. */
  readonly account: string
}

/** HTTP/2 sessions, one for each account and origin, opened when needed and replaced when the server ends them. */
export interface ApnsConnections {
  /**
   * @param timeoutMs for the answer, however often the request goes to a new session
   * @throws Error where there is no answer: whether it arrived is not known then
   */
  post(peer: ApnsPeer, request: ApnsRequest, timeoutMs: number): Promise<ApnsAnswer>
  close(): Promise<void>
}

const idleMs = 600_000
/** Of accounts that pushed last; the one that is unused for the longest is closed for another. */
const mostSessions = 500
const excerptBytes = 512
/** How often a request that was never looked at goes to a new session. */
const mostTries = 3

/** The server ended the session before it looked at this one: it may be sent again as it is. */
class NotProcessed extends Error {}

/** There was no answer in time: the connection may be dead without a word. */
class TimedOut extends Error {}

/**
 * @param ca certificates that are trusted, as PEM; undefined: those of the system
 * @param most sessions that are kept open
 */
export function createApnsConnections(ca: string | undefined, most = mostSessions): ApnsConnections {
  /** Those that are no longer used, until their last requests are over. */
  const leaving = new Set<ClientHttp2Session>()
  const leave = (session: ClientHttp2Session) => {
    if (session.destroyed) return
    leaving.add(session)
    session.close()
  }
  const sessions = new LRUCache<string, ClientHttp2Session>({
    max: most,
    dispose: (session, _, why) => {
      if (why === 'evict') leave(session)
    },
  })

  const forget = (name: string, session: ClientHttp2Session) => {
    if (sessions.peek(name) === session) sessions.delete(name)
  }
  const retire = (name: string, session: ClientHttp2Session) => {
    forget(name, session)
    leave(session)
  }
  const sessionOf = (name: string, origin: string): ClientHttp2Session => {
    const open = sessions.get(name)
    if (open !== undefined && !open.closed && !open.destroyed) return open
    const session = connect(origin, { ...(ca !== undefined && { ca }) })
    session.unref()
    // Errors reach the requests that are under way.
    session.on('error', () => forget(name, session))
    session.on('close', () => {
      forget(name, session)
      leaving.delete(session)
    })
    session.on('goaway', () => retire(name, session))
    session.setTimeout(idleMs, () => session.close())
    sessions.set(name, session)
    return session
  }

  return {
    async post({ origin, account }, request, timeoutMs) {
      const name = `${origin} ${account}`
      const endsAt = performance.now() + timeoutMs
      for (let tries = 1; ; tries++) {
        const session = sessionOf(name, origin)
        try {
          return await send(session, request, endsAt - performance.now())
        } catch (error) {
          if (error instanceof TimedOut) retire(name, session)
          if (!(error instanceof NotProcessed) || tries >= mostTries) throw error
        }
      }
    },
    async close() {
      for (const session of [...sessions.values(), ...leaving]) session.destroy()
      sessions.clear()
    },
  }
}

function send(
  session: ClientHttp2Session,
  { path, headers, body }: ApnsRequest,
  timeoutMs: number,
): Promise<ApnsAnswer> {
  return new Promise((resolve, reject) => {
    const stream = open(session, { ':method': 'POST', ':path': path, 'content-type': 'application/json', ...headers })
    let status = 0
    let retryAfter: number | undefined
    const chunks: Buffer[] = []
    let length = 0
    // Of the whole answer: one that trickles in would never be idle.
    const timer = setTimeout(
      () => {
        stream.close(constants.NGHTTP2_CANCEL)
        reject(new TimedOut('APNs did not answer in time'))
      },
      Math.max(1, timeoutMs),
    )
    stream.on('response', (answer) => {
      status = Number(answer[':status'])
      retryAfter = readRetryAfter(answer['retry-after'])
    })
    stream.on('data', (chunk: Buffer) => {
      if (length < excerptBytes) chunks.push(chunk)
      length += chunk.length
    })
    stream.on('error', (error) => reject(isRefused(stream.rstCode) ? new NotProcessed(error.message) : error))
    stream.on('close', () => {
      clearTimeout(timer)
      if (status !== 0) resolve({ status, text: beginningOf(chunks, excerptBytes), retryAfter })
      else if (isRefused(stream.rstCode)) reject(new NotProcessed('the connection was closed before the request'))
      else reject(new Error('the connection was closed without an answer'))
    })
    stream.end(body)
  })
}

/** A session may have ended since it was looked at. */
function open(session: ClientHttp2Session, headers: Record<string, string>): ClientHttp2Stream {
  try {
    return session.request(headers)
  } catch (error) {
    const { code } = error as { code?: string }
    const hasEnded = code === 'ERR_HTTP2_GOAWAY_SESSION' || code === 'ERR_HTTP2_INVALID_SESSION'
    throw hasEnded ? new NotProcessed((error as Error).message) : error
  }
}

/** Streams above the last one that the server names as it ends a session are refused by our own client. */
function isRefused(code: number): boolean {
  return code === constants.NGHTTP2_REFUSED_STREAM
}
