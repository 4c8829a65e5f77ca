import type { OutboundSettings } from '../../config/outbound.ts'
import { resolveTarget, TargetRefused } from './addresses.ts'
import { createReach } from './allowed.ts'
import { createPoster, type Getter, type Poster } from './http.ts'

/** Requests to addresses that apps and users name. */
export interface Outbound {
  readonly poster: Poster & Getter
  /**
   * Why requests to an address are refused; undefined where they are not. A name that does not resolve now may do so
   * later: each connection is checked again.
   */
  refusalOf(url: URL): Promise<string | undefined>
  close(): Promise<void>
}

/** @param settings what may be reached beside the public internet */
export function createOutbound(settings: OutboundSettings): Outbound {
  const reach = createReach(settings)
  const poster = createPoster(reach)
  return {
    poster,
    close: () => poster.close(),
    async refusalOf(url) {
      const isHttps = url.protocol === 'https:'
      const overHttp = settings.allowPrivate ? 'must start with https:// or http://' : 'must start with https://'
      if (!isHttps && url.protocol !== 'http:') return overHttp
      const port = Number(url.port) || (isHttps ? 443 : 80)
      if (reach.isTrusted(url.hostname, port)) return undefined
      try {
        await resolveTarget(url.hostname, (address) => reach.admits(address, port, isHttps))
        return undefined
      } catch (error) {
        if (!isHttps) return overHttp
        return error instanceof TargetRefused ? error.message : undefined
      }
    },
  }
}

/** Key sets are small, and whoever waits for one is a user at the door. */
const mostKeyBytes = 256 * 1024
const keysPatienceMs = 5_000

/** The public keys at an address that an app names. @throws Error saying what is wrong with the answer */
export async function readKeys(poster: Getter, url: string): Promise<unknown> {
  const { status, text } = await poster.get(url, { accept: 'application/json' }, mostKeyBytes, keysPatienceMs)
  if (status !== 200) throw new Error(`the address of the keys answered ${status}`)
  return JSON.parse(text)
}
