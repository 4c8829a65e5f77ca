import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, socketPaths } from '@parley/contract'
import ipaddr from 'ipaddr.js'
import type { Config } from '../config/index.ts'
import { apiNotFound, databaseAway } from '../protocol/errors.ts'

type Settings = Pick<Config, 'requireHttps' | 'trustProxy' | 'corsOrigins'>

/** @throws ApiError for a path on which no socket opens, plain HTTP where HTTPS is required, an origin that may not call */
export function checkUpgrade(request: IncomingMessage, config: Settings): void {
  const path = (request.url ?? '/').split('?')[0] as string
  const trimmed = path.length > 2 ? path.replace(/\/$/, '') : path
  if (!(socketPaths as readonly string[]).includes(trimmed)) {
    throw apiNotFound({ method: request.method ?? 'GET', url: path })
  }
  if (config.requireHttps && !cameOverTls(request, config)) {
    throw new ApiError('ERR_BAD_REQUEST', 'This service only accepts HTTPS (REQUIRE_HTTPS is set).')
  }
  const { origin } = request.headers
  if (origin !== undefined && !config.corsOrigins.includes('*') && !config.corsOrigins.includes(origin)) {
    throw new ApiError(
      'AUTH_ERR_NO_ACCESS',
      `Pages from ${origin.slice(0, 200)} are not allowed to use this service (CORS_ORIGINS).`,
    )
  }
}

/** Host as the client itself used it; that of a proxy's header where the proxy is believed. */
export function hostOf(request: IncomingMessage, config: Settings): string {
  const forwarded = isTrusted(request, config) ? firstOf(request.headers['x-forwarded-host']) : undefined
  return forwarded ?? request.headers.host ?? ''
}

function cameOverTls(request: IncomingMessage, config: Settings): boolean {
  if ('encrypted' in request.socket) return true
  return isTrusted(request, config) && firstOf(request.headers['x-forwarded-proto'])?.toLowerCase() === 'https'
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header
  return text?.split(',')[0]?.trim() || undefined
}

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** As Fastify reads TRUST_PROXY for the other requests. */
function isTrusted({ socket }: IncomingMessage, { trustProxy }: Settings): boolean {
  if (typeof trustProxy === 'boolean') return trustProxy
  if (socket.remoteAddress === undefined) return false
  const address = ipaddr.process(socket.remoteAddress)
  return trustProxy
    .flatMap((range) => namedRanges[range] ?? [range])
    .some((range) => {
      const [network, bits] = range.includes('/') ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), undefined]
      return network.kind() === address.kind() && address.match(network, bits ?? (network.kind() === 'ipv4' ? 32 : 128))
    })
}

/** 503: the service is stopping, or more sockets are being opened than it can look after. */
export const tryLater = databaseAway

/** Answers what does not become a socket, in the shape of every other error. */
export function refuseUpgrade(stream: Duplex | Socket, error: ApiError): void {
  const body = JSON.stringify(error.toBody())
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(error.status === 503 ? ['Retry-After: 2'] : []),
    'Connection: close',
  ]
  stream.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => stream.destroy())
}
