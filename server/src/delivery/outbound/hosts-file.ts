import type { LookupAddress } from 'node:dns'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import path from 'node:path'

/** Names that the system's file of hosts gives addresses to. They come before those of DNS, as everywhere on the machine. */
export type HostsFile = (host: string) => Promise<LookupAddress[]>

const systemFile =
  process.platform === 'win32'
    ? path.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts'
/** For so long it is not looked at again. */
const keptMs = 1_000

/** Reads the file again when it has changed. One that is not there has no names. */
export function createHostsFile(file = systemFile): HostsFile {
  let names: ReadonlyMap<string, LookupAddress[]> = new Map()
  let version: string | undefined
  let looking: Promise<void> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY

  const look = async () => {
    const found = await stat(file).catch(() => undefined)
    const current = found && `${found.mtimeMs} ${found.size} ${found.ino}`
    if (current !== version) {
      names = current === undefined ? new Map() : readHosts(await readFile(file, 'utf8').catch(() => ''))
      version = current
    }
    lookedAt = performance.now()
  }
  return async (host) => {
    if (performance.now() - lookedAt > keptMs) {
      looking ??= look().finally(() => {
        looking = undefined
      })
      await looking
    }
    return names.get(host.toLowerCase().replace(/\.$/, '')) ?? []
  }
}

function readHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...hosts] = (line.split('#')[0] as string).trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const host of hosts) {
      const name = host.toLowerCase()
      const known = names.get(name) ?? []
      if (!known.some((one) => one.address === address)) names.set(name, [...known, { address, family }])
    }
  }
  return names
}
