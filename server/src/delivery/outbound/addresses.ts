import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createResolve, type Resolve } from './resolve.ts'

/** An address that requests must not go to, such as one of the own network. */
export class TargetRefused extends Error {
  constructor(host: string, address: string) {
    super(
      host === address
        ? `must not lead to ${address}, which is not public`
        : `must not lead to ${host}, which is ${address} and not public`,
    )
    this.name = 'TargetRefused'
  }
}

/** Blocks that ipaddr.js counts as ordinary and that lead elsewhere all the same, or nowhere. */
const refusedBlocks = [
  '192.0.0.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '240.0.0.0/4',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fec0::/10',
].map((block) => ipaddr.parseCIDR(block))

/**
 * Is this an address of the public internet? IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4,
 * Teredo) are refused or judged by the address that they carry.
 * @param text an IPv4 or IPv6 address, as a resolver gives it
 */
export function isPublic(text: string): boolean {
  const bare = text.replace(/^\[|\]$/g, '')
  // ipaddr.js also reads `0x7f.1`: whatever is no plain address is refused.
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return false
  // With a zone it is link-local.
  if (bare.includes('%')) return false
  const address = ipaddr.parse(bare)
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()) {
    return isPublic((address as ipaddr.IPv6).toIPv4Address().toString())
  }
  if (address.range() !== 'unicast') return false
  if (isIPv4Compatible(address)) return false
  return !refusedBlocks.some(([block, bits]) => block.kind() === address.kind() && address.match(block as never, bits))
}

/** `::a.b.c.d`, out of use; some systems still take it for the IPv4 address. */
function isIPv4Compatible(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.kind() === 'ipv6' && (address as ipaddr.IPv6).parts.slice(0, 6).every((part) => part === 0)
}

/** Whether a request may go to an address. */
export type Judge = (address: string) => boolean

const resolvePatienceMs = 1500

/**
 * Resolves a host and refuses it when any of its addresses may not be reached.
 * @param host as in a parsed URL: IPv6 addresses in brackets, IPv4 addresses in their plain form
 * @throws TargetRefused; Error when it does not resolve in time
 */
export async function resolveTarget(host: string, mayReach: Judge): Promise<void> {
  // Not every resolver knows what these mean.
  const isOwnMachine = /(^|\.)localhost\.?$/i.test(host)
  if (isOwnMachine && !mayReach('127.0.0.1') && !mayReach('::1')) throw new TargetRefused(host, '127.0.0.1')
  const lookup = checkedLookup(mayReach)
  let timer: NodeJS.Timeout | undefined
  const resolved = new Promise<void>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${host} was not resolved in time`)), resolvePatienceMs)
    lookup(host.replace(/^\[|\]$/g, ''), { all: true }, (error) => (error ? reject(error) : resolve()))
  })
  await resolved.finally(() => clearTimeout(timer))
}

const resolve = createResolve()

/** Lookups under way: what is asked for by many at once is looked up once. */
const underWay = new Map<string, Promise<LookupAddress[]>>()

function lookUp(host: string): Promise<LookupAddress[]> {
  const known = underWay.get(host)
  if (known !== undefined) return known
  const looking = resolve(host).finally(() => underWay.delete(host))
  underWay.set(host, looking)
  return looking
}

/**
 * `dns.lookup` for connections: fails with `TargetRefused` when any address may not be reached. What it gives is what the
 * socket connects to, so a name cannot change its meaning in between.
 */
export const checkedLookup =
  (mayReach: Judge, find: Resolve = lookUp): LookupFunction =>
  (host, options, callback) => {
    find(host).then(
      (addresses) => {
        const refused = addresses.find(({ address }) => !mayReach(address))
        if (refused !== undefined) callback(new TargetRefused(host, refused.address), '', 0)
        else give(host, addresses, options, callback)
      },
      (error) => callback(error, '', 0),
    )
  }

function give(
  host: string,
  found: LookupAddress[],
  options: Parameters<LookupFunction>[1],
  callback: Parameters<LookupFunction>[2],
): void {
  const addresses = found.filter(({ family }) => !options.family || family === options.family)
  const [first] = addresses
  if (first === undefined) callback(new Error(`${host} has no address`), '', 0)
  else if (options.all === true) callback(null, addresses)
  else callback(null, first.address, first.family)
}
