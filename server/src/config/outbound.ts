import ipaddr from 'ipaddr.js'

/** Where apps may have requests sent to, beside the public internet. */
export interface OutboundSettings {
  /** Every private address, and plain http everywhere: for development. */
  readonly allowPrivate: boolean
  readonly allow: readonly AllowedTarget[]
}

/** A host by its name, or a block of addresses; with a port: of them only that. */
export type AllowedTarget = ({ readonly host: string } | { readonly block: string }) & { readonly port?: number }

/** What to say at start. */
export function outboundWarning({ allowPrivate }: OutboundSettings): string | undefined {
  if (!allowPrivate) return undefined
  return 'WEBHOOK_ALLOW_PRIVATE is true: apps may have every private address called; OUTBOUND_ALLOW allows only some'
}

/** Reads `OUTBOUND_ALLOW`: names, addresses and CIDR ranges, the first two with or without a port. */
export function readAllowedTargets(text: string | undefined, problems: string[]): readonly AllowedTarget[] {
  if (text === undefined) return []
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  return entries.flatMap((entry) => {
    const target = entry.includes('/') ? readRange(entry) : readHost(entry)
    if (target !== undefined) return [target]
    problems.push(
      `OUTBOUND_ALLOW must be hosts, host:port or CIDR ranges with commas between, such as hooks.internal,10.0.0.5:8080,10.1.0.0/16; "${entry}" is none`,
    )
    return []
  })
}

function readRange(entry: string): AllowedTarget | undefined {
  const [address = ''] = entry.split('/')
  if (!isAddress(address) || !ipaddr.isValidCIDR(entry)) return undefined
  const [block, bits] = ipaddr.parseCIDR(entry)
  return blockOf(block, bits)
}

const withPort = /^(.*[^:]|\[.*\]):(\d{1,5})$/

function readHost(entry: string): AllowedTarget | undefined {
  if (ipaddr.IPv6.isValid(entry)) return targetOf(`[${entry}]`)
  const [, host = entry, digits] = withPort.exec(entry) ?? []
  if (digits === undefined) return targetOf(host)
  const port = Number(digits)
  const target = port >= 1 && port <= 65_535 ? targetOf(host) : undefined
  return target && { ...target, port }
}

/** As it stands in parsed URLs: lower case, IDNs in ASCII, addresses in their plain form. */
function targetOf(text: string): AllowedTarget | undefined {
  if (!/^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\%*]+)$/i.test(text) || !URL.canParse(`https://${text}/`)) return undefined
  const host = new URL(`https://${text}/`).hostname.replace(/^\[|\]$|\.$/g, '')
  if (!isAddress(host)) return { host }
  const address = ipaddr.parse(host)
  return blockOf(address, address.kind() === 'ipv4' ? 32 : 128)
}

function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'))
}

/** IPv4 addresses that are written as IPv6 are those: nothing else is ever compared with them. */
function blockOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): AllowedTarget | undefined {
  if (address.kind() === 'ipv4' || !(address as ipaddr.IPv6).isIPv4MappedAddress())
    return { block: `${address}/${bits}` }
  return bits < 96 ? undefined : { block: `${(address as ipaddr.IPv6).toIPv4Address()}/${bits - 96}` }
}
