import ipaddr from 'ipaddr.js'
import type { AllowedTarget, OutboundSettings } from '../../config/outbound.ts'
import { isPublic } from './addresses.ts'

/** What apps may reach: the public internet over https, and what the operator allows besides. */
export interface Reach {
  /** Whether a request may go to this host wherever its name leads, over http too. */
  isTrusted(host: string, port: number): boolean
  /** Whether a request may go to this address. */
  admits(address: string, port: number, isHttps: boolean): boolean
}

/** @returns what the operator allows, beside public addresses over https */
export function createReach({ allowPrivate, allow }: OutboundSettings): Reach {
  const hosts = allow.filter((target): target is AllowedTarget & { host: string } => 'host' in target)
  const blocks = allow.flatMap((target) =>
    'block' in target ? [{ block: ipaddr.parseCIDR(target.block), port: target.port }] : [],
  )
  const isListed = (text: string, port: number) => {
    const address = plainAddress(text)
    return (
      address !== undefined &&
      blocks.some(
        ({ block: [block, bits], port: only }) =>
          (only ?? port) === port && block.kind() === address.kind() && address.match(block as never, bits),
      )
    )
  }
  return {
    isTrusted: (host, port) =>
      allowPrivate || hosts.some((one) => one.host === nameOf(host) && (one.port ?? port) === port),
    admits: (address, port, isHttps) => (isHttps && isPublic(address)) || isListed(address, port),
  }
}

const nameOf = (host: string) => host.toLowerCase().replace(/\.$/, '')

/** An IPv4 address that is written as IPv6 is judged as what it is. */
function plainAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (text.includes('%') || !ipaddr.isValid(text)) return undefined
  return ipaddr.process(text)
}
