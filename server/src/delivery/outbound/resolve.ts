import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { createHostsFile, type HostsFile } from './hosts-file.ts'

/** Finds the addresses of a host. @throws Error when it has none, or they are not found in time */
export type Resolve = (host: string) => Promise<LookupAddress[]>

export interface ResolveOptions {
  /** Servers to ask, in place of those of the system. */
  readonly servers?: readonly string[]
  readonly hostsFile?: HostsFile
  /** Asks the system. */
  readonly askSystem?: Resolve
}

/** For one question to one server; it is asked twice. */
const queryTimeoutMs = 2_000
const tries = 2
/** The servers of the system may change: they are read again. */
const serversKeptMs = 30_000
/** The system's own look-up takes one of four threads, which files are read by, too. */
const systemLookupsAtOnce = 1

/**
 * Resolves as the system does, by its file of hosts and then by DNS, but asks DNS over sockets: names that do not resolve
 * take no thread, however many there are. Only a name that DNS does not have is looked up by the system, which may know
 * it from elsewhere (search domains, other sources), and one at a time.
 */
export function createResolve(options: ResolveOptions = {}): Resolve {
  const {
    servers,
    hostsFile = createHostsFile(),
    askSystem = (host) => lookup(host, { all: true, verbatim: true }),
  } = options
  const askSystemInTurn = inTurns(systemLookupsAtOnce, askSystem)
  let resolver: Resolver | undefined
  let openedAt = Number.NEGATIVE_INFINITY

  const current = () => {
    const now = performance.now()
    if (resolver === undefined || now - openedAt > serversKeptMs) {
      resolver = new Resolver({ timeout: queryTimeoutMs, tries })
      if (servers !== undefined) resolver.setServers(servers)
      openedAt = now
    }
    return resolver
  }
  const askServers = async (host: string): Promise<LookupAddress[]> => {
    const dns = current()
    const [four, six] = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)])
    const found = [
      ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
      ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
    ]
    const failures = [four, six].flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
    const failure = failures.find(isSlow)
    if (found.length === 0 && failure !== undefined) throw failure
    return found
  }

  return async (host) => {
    const family = isIP(host)
    if (family !== 0) return [{ address: host, family }]
    const listed = await hostsFile(host)
    if (listed.length > 0) return listed
    const found = await askServers(host)
    return found.length > 0 ? found : askSystemInTurn(host)
  }
}

/** The system would ask the same servers, and wait as long for them. */
function isSlow({ code }: Error & { code?: string }): boolean {
  return code === 'ETIMEOUT' || code === 'ESERVFAIL'
}

function inTurns(atOnce: number, work: Resolve): Resolve {
  const waiting: Array<() => void> = []
  let running = 0
  return async (host) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work(host)
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
