import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@parley/contract'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/** What an error of Node's HTTP parser means to whoever sent that; anything else is a 400. */
const refusals: Record<string, { status: number; devMessage: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, devMessage: 'The request did not arrive in time.' },
  HPE_HEADER_OVERFLOW: { status: 431, devMessage: 'The URL and the headers are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, devMessage: 'The chunk extensions are too large.' },
}
const notHttp = { status: 400, devMessage: 'This is not valid HTTP.' }

/**
 * Answers what never becomes a request (not HTTP, headers too large, too slow) in the shape of every other error, then
 * closes the connection. For the event `clientError`.
 */
export function answerMalformed(
  { log, metrics }: { log: Log; metrics: Metrics },
  requestId: string,
  error: Error & { code?: string },
  socket: Socket & { _httpMessage?: ServerResponse },
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { status, devMessage } = refusals[error.code ?? ''] ?? notHttp
  // An answer that is under way cannot be taken back; a second one behind it would be read as part of it.
  if (socket.writable && socket._httpMessage?.headersSent !== true) {
    const body = JSON.stringify(new ApiError('ERR_BAD_REQUEST', devMessage).toBody())
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroySoon()
  metrics.requests.observe({ operation: 'malformed', status }, 0)
  log.info({ operation: 'malformed', status, requestId, cause: error.code }, 'request')
}

/** An `Expect` that is not understood is passed over; Node would answer a bare 417. `100-continue` works as ever. */
export function passOverExpectations(server: Server): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response)
  })
}
