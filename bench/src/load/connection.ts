import { connect } from 'node:net'

/** One keep-alive connection with one request under way at a time. */
export interface Connection {
  send(request: Buffer): void
  close(): void
}

export interface ConnectionEvents {
  open(): void
  /** The whole answer has arrived. @param body only when the status is 300 or above */
  answer(status: number, body: string): void
  broken(reason: string): void
}

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')
/** What any connection has received, until the next one is read: a buffer of its own for each would cost more than all else. */
const received = Buffer.allocUnsafe(256 * 1024)

/**
 * The least that a client of HTTP/1.1 can do, so that most of the machine is left to the service: it looks for the
 * status and the length, and counts bytes. Since only one answer is under way, a chunked one ends where the bytes do.
 */
export function openConnection(port: number, events: ConnectionEvents): Connection {
  const onRead = (length: number) => {
    take(received.subarray(0, length))
    return true
  }
  const onread = { buffer: received, callback: onRead }
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
  let head: Buffer | undefined
  let status = 0
  /** Bytes of the body that are still to come; undefined while the head is read or when the body is chunked. */
  let missing: number | undefined
  let chunked = false
  let kept: Buffer[] = []

  const finish = () => {
    const body = status < 300 ? '' : Buffer.concat(kept).toString('utf8')
    head = undefined
    missing = undefined
    chunked = false
    kept = []
    events.answer(status, body)
  }
  const takeBody = (bytes: Buffer) => {
    if (status >= 300) kept.push(Buffer.from(bytes))
    if (chunked) {
      if (bytes.subarray(-lastChunk.length).equals(lastChunk)) finish()
      return
    }
    missing = (missing ?? 0) - bytes.length
    if (missing <= 0) finish()
  }

  const take = (bytes: Buffer) => {
    if (missing !== undefined || chunked) {
      takeBody(bytes)
      return
    }
    const begun = head === undefined ? bytes : Buffer.concat([head, bytes])
    const end = begun.indexOf(headEnd)
    if (end < 0) {
      head = Buffer.from(begun)
      return
    }
    const text = begun.toString('latin1', 0, end)
    status = Number(text.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
    if (length === undefined) chunked = true
    else missing = Number(length)
    takeBody(begun.subarray(end + headEnd.length))
  }

  // Without it nobody hears of the end.
  socket.resume()
  socket.once('connect', events.open)
  socket.on('error', (error) => events.broken(error.message))
  socket.on('end', () => events.broken('the server closed the connection'))

  return {
    send: (request) => void socket.write(request),
    close: () => void socket.destroy(),
  }
}
