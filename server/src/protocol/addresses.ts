import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import type { Config } from '../config/index.ts'

type Settings = Pick<Config, 'trustProxy' | 'publicUrl'>

/**
 * Where a request went, for REST and sockets alike: what the nearest proxy says of it where that proxy is believed
 * (`TRUST_PROXY`), else what the request says itself.
 */
export interface Addresses {
  /** Host and port as the client used them. */
  hostOf(request: IncomingMessage): string
  isOverTls(request: IncomingMessage): boolean
  /** What answers name: `PUBLIC_URL` where it is set, else where the request went. */
  publicHostOf(request: IncomingMessage): string
  /** The same with its scheme, such as `https://chat.example.com`. */
  publicUrlOf(request: IncomingMessage): string
}

export function createAddresses({ trustProxy, publicUrl }: Settings): Addresses {
  const isTrusted = compileTrust(trustProxy)
  const forwarded = (request: IncomingMessage, name: string) =>
    isTrusted(request) ? lastOf(request.headers[name]) : undefined

  const hostOf = (request: IncomingMessage) => forwarded(request, 'x-forwarded-host') ?? request.headers.host ?? ''
  const isOverTls = (request: IncomingMessage) => {
    const scheme = forwarded(request, 'x-forwarded-proto')
    return scheme === undefined ? 'encrypted' in request.socket : scheme.toLowerCase() === 'https'
  }
  const publicHost = publicUrl && new URL(publicUrl).host
  return {
    hostOf,
    isOverTls,
    publicHostOf: (request) => publicHost ?? hostOf(request),
    publicUrlOf: (request) => publicUrl ?? `${isOverTls(request) ? 'https' : 'http'}://${hostOf(request)}`,
  }
}

/** Could this be the host of an address, with its port or without? */
export function isHost(text: string): boolean {
  return /^[^\s/?#@\\]+$/.test(text) && URL.canParse(`https://${text}`)
}

/** The nearest proxy wrote the last entry; those before it are what it was sent. */
function lastOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.at(-1) : header
  return text?.split(',').at(-1)?.trim() || undefined
}

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

function compileTrust(trustProxy: Settings['trustProxy']): (request: IncomingMessage) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy
  const ranges = trustProxy.flatMap((range) => namedRanges[range] ?? [range]).map(parseRange)
  return ({ socket }) => {
    if (socket.remoteAddress === undefined) return false
    const address = ipaddr.process(socket.remoteAddress)
    return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  }
}

function parseRange(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (range.includes('/')) return ipaddr.parseCIDR(range)
  const network = ipaddr.parse(range)
  return [network, network.kind() === 'ipv4' ? 32 : 128]
}
