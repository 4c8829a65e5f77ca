import { resolveTarget, TargetRefused } from './addresses.ts'
import { createPoster, type Poster } from './http.ts'

/** Requests to addresses that apps and users name. */
export interface Outbound {
  readonly poster: Poster
  /**
   * Why requests to a host are refused; undefined where they are not. A name that does not resolve now may do so later:
   * each connection is checked again.
   * @param host as in a parsed URL
   */
  refusalOf(host: string): Promise<string | undefined>
  close(): Promise<void>
}

/** @param allowPrivate addresses that are not public are allowed, too */
export function createOutbound({ allowPrivate }: { readonly allowPrivate: boolean }): Outbound {
  const poster = createPoster({ allowPrivate })
  return {
    poster,
    close: () => poster.close(),
    async refusalOf(host) {
      if (allowPrivate) return undefined
      try {
        await resolveTarget(host)
      } catch (error) {
        if (error instanceof TargetRefused) return error.message
      }
      return undefined
    },
  }
}
