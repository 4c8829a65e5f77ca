import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ApiError, badRequest, socketPaths } from '@parley/contract'
import type { Config } from '../config/index.ts'
import { databaseAway } from '../faults.ts'
import { TooManyRequests } from '../limits/errors.ts'
import { type Addresses, isHost } from '../protocol/addresses.ts'
import { apiNotFound, httpsRequired } from '../protocol/errors.ts'
import { originNotAllowed } from './errors.ts'

type Settings = Pick<Config, 'requireHttps' | 'corsOrigins'>

/** @throws ApiError for a path on which no socket opens, a host that is none, plain HTTP where HTTPS is required, an origin that may not call */
export function checkUpgrade(request: IncomingMessage, addresses: Addresses, config: Settings): void {
  const path = (request.url ?? '/').split('?')[0] as string
  const trimmed = path.length > 2 ? path.replace(/\/$/, '') : path
  if (!(socketPaths as readonly string[]).includes(trimmed)) {
    throw apiNotFound({ method: request.method ?? 'GET', url: path })
  }
  const host = addresses.hostOf(request)
  if (host !== '' && !isHost(host)) throw badRequest([{ path: 'headers/host', message: 'is not a valid host' }])
  if (config.requireHttps && !addresses.isOverTls(request)) {
    throw httpsRequired()
  }
  const { origin } = request.headers
  if (origin !== undefined && !config.corsOrigins.includes('*') && !config.corsOrigins.includes(origin)) {
    throw originNotAllowed(origin)
  }
}

/** 503: the service is stopping, or more sockets are being opened than it can look after. */
export const tryLater = databaseAway

function retryAfter(error: ApiError): string[] {
  if (error instanceof TooManyRequests) return [`Retry-After: ${error.retryAfterSeconds}`]
  return error.status === 503 ? ['Retry-After: 2'] : []
}

/**
 * Ends a stream that nobody reads yet when its client goes: nothing else would notice. What the client sends meanwhile stays unread.
 * @returns ends the watch
 */
export function watchForEnd(stream: Duplex): () => void {
  const look = () => {
    if (stream.readableLength === 0) stream.read()
  }
  const end = () => stream.destroy()
  stream.on('readable', look)
  stream.on('end', end)
  return () => {
    stream.removeListener('readable', look)
    stream.removeListener('end', end)
  }
}

/** Answers what does not become a socket, in the shape of every other error. */
export function refuseUpgrade(stream: Duplex | Socket, error: ApiError): void {
  const body = JSON.stringify(error.toBody())
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...retryAfter(error),
    'Connection: close',
  ]
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => stream.destroy())
}
