import type { SocketSettings } from '../config/sockets.ts'

/** Sockets that have not said yet who they are: so many that nobody can keep the others out with them. */
export interface Unauthenticated {
  hasRoomFor(client: string | undefined): boolean
  add(client: string | undefined): void
  remove(client: string | undefined): void
  /** Milliseconds within which the first frame must come now: the fuller it is, the fewer. */
  readonly patienceMs: number
}

const most = 10_000
const mostOfClient = 1_000
/** From here on, patience gets shorter. */
const crowd = most / 2
const leastPatienceMs = 1_000

export function createUnauthenticated({ authTimeoutMs }: Pick<SocketSettings, 'authTimeoutMs'>): Unauthenticated {
  let count = 0
  const byClient = new Map<string, number>()
  const least = Math.min(authTimeoutMs, leastPatienceMs)
  return {
    hasRoomFor: (client) => count < most && (client === undefined || (byClient.get(client) ?? 0) < mostOfClient),
    add(client) {
      count++
      if (client !== undefined) byClient.set(client, (byClient.get(client) ?? 0) + 1)
    },
    remove(client) {
      count--
      if (client === undefined) return
      const left = (byClient.get(client) ?? 0) - 1
      if (left > 0) byClient.set(client, left)
      else byClient.delete(client)
    },
    get patienceMs() {
      const fullness = Math.max(0, count - crowd) / (most - crowd)
      return Math.max(least, authTimeoutMs * (1 - fullness))
    },
  }
}
