import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { createCache } from '../cache.ts'
import type { Config } from '../config/index.ts'

type Settings = Pick<Config, 'trustProxy' | 'publicUrl' | 'adminAllow'>

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
  /** IP address of the client, as far as proxies are trusted; undefined if the connection is gone already. */
  clientOf(request: IncomingMessage): string | undefined
  /**
   * That address as far as limits count it: an IPv4 address, or the /64 network of an IPv6 address. Undefined for
   * loopback and private addresses: behind them may be many clients, as behind a proxy that TRUST_PROXY does not name.
   */
  limitedOf(request: IncomingMessage): string | undefined
  /** Whether the client is in a network that may call the admin API (`ADMIN_ALLOW`). */
  isAdmin(request: IncomingMessage): boolean
}

export function createAddresses({ trustProxy, publicUrl, adminAllow }: Settings): Addresses {
  const isTrusted = compileTrust(trustProxy)
  const mayAdminister = compileTrust(adminAllow ?? true)
  const forwarded = ({ socket, headers }: IncomingMessage, name: string) =>
    isTrusted(socket.remoteAddress) ? entriesOf(headers[name]).at(-1) || undefined : undefined
  const networks = createCache<string, { network: string | undefined }>({ max: maxNetworks })
  const networkOf = (address: string) => {
    const known = networks.get(address)
    if (known !== undefined) return known.network
    const network = limitedNetwork(address)
    networks.set(address, { network })
    return network
  }

  const hostOf = (request: IncomingMessage) => forwarded(request, 'x-forwarded-host') ?? request.headers.host ?? ''
  const isOverTls = (request: IncomingMessage) => {
    const scheme = forwarded(request, 'x-forwarded-proto')
    return scheme === undefined ? 'encrypted' in request.socket : scheme.toLowerCase() === 'https'
  }
  const clientOf = ({ socket, headers }: IncomingMessage) => {
    let client = socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '')
    // Each proxy adds the address that it was asked from. Where any is trusted, only the nearest is: else clients could
    // name any address.
    const hops = trustProxy === true ? 1 : Number.POSITIVE_INFINITY
    const entries = trustProxy === false ? [] : entriesOf(headers['x-forwarded-for'])
    for (let hop = 0; hop < hops && isTrusted(client); hop++) {
      const next = readAddress(entries.pop())
      if (next === undefined) break
      client = next
    }
    return client
  }
  const publicHost = publicUrl && new URL(publicUrl).host
  return {
    hostOf,
    isOverTls,
    publicHostOf: (request) => publicHost ?? hostOf(request),
    publicUrlOf: (request) => publicUrl ?? `${isOverTls(request) ? 'https' : 'http'}://${hostOf(request)}`,
    clientOf,
    limitedOf(request) {
      const client = clientOf(request)
      const isProxy = trustProxy !== true && isTrusted(client)
      return client === undefined || isProxy ? undefined : networkOf(client)
    },
    isAdmin: (request) => mayAdminister(clientOf(request)),
  }
}

/** Nearly every request names the host of the one before. */
let lastHost: string | undefined

/** Could this be the host of an address, with its port or without? */
export function isHost(text: string): boolean {
  if (text === lastHost) return true
  if (!/^[^\s/?#@\\]+$/.test(text) || !URL.canParse(`https://${text}`)) return false
  lastHost = text
  return true
}

/** The nearest proxy wrote the last entry; those before it are what it was sent. */
function entriesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join() : header
  return text === undefined ? [] : text.split(',').map((entry) => entry.trim())
}

/** An address in the one way in which it is written; undefined for what is none. Some proxies write a port behind it. */
function readAddress(text: string | undefined): string | undefined {
  const bare = text?.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
  return bare !== undefined && ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : undefined
}

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Addresses whose networks are kept. */
const maxNetworks = 10_000

function limitedNetwork(text: string): string | undefined {
  const address = ipaddr.process(text)
  if (unlimitedRanges.includes(address.range())) return undefined
  if (address.kind() === 'ipv4') return address.toString()
  const { parts } = address as ipaddr.IPv6
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

const unlimitedRanges: readonly string[] = [
  'loopback',
  'private',
  'linkLocal',
  'uniqueLocal',
  'carrierGradeNat',
  'unspecified',
]

function compileTrust(trustProxy: Settings['trustProxy']): (peer: string | undefined) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy
  const ranges = trustProxy.flatMap((range) => namedRanges[range] ?? [range]).map(parseRange)
  return (peer) => {
    if (peer === undefined) return false
    const address = ipaddr.process(peer)
    return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  }
}

function parseRange(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (range.includes('/')) return ipaddr.parseCIDR(range)
  const network = ipaddr.parse(range)
  return [network, network.kind() === 'ipv4' ? 32 : 128]
}
