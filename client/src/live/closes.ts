/** What to do once a socket has closed. */
export type Reaction =
  /** Connect again after a random wait. */
  | 'again'
  /** The app is paused: the same, but nobody needs to hurry. */
  | 'later'
  /** The token was refused: another one first. */
  | 'renew'
  /** This user has opened too many newer sockets. Connecting again would close one of those, which would do the same. */
  | 'stop'
  /** Too much was asked of the service in this minute. */
  | 'nextMinute'

/** By the code that a socket was closed with; those that the service does not give are a broken connection. */
export function reactTo(closeCode: number): Reaction {
  if (closeCode === 4401 || closeCode === 4403) return 'renew'
  if (closeCode === 4409) return 'stop'
  if (closeCode === 4503) return 'later'
  return closeCode === 4429 ? 'nextMinute' : 'again'
}

export interface Backoff {
  readonly first: number
  readonly most: number
}

/** Full jitter: anything from nothing to a bound that doubles with each attempt, in milliseconds. */
export function backoffOf(attempt: number, { first, most }: Backoff, random: () => number = Math.random): number {
  return random() * Math.min(most, first * 2 ** Math.min(attempt, 30))
}

/** Some seconds into the minute after this one, not for all clients the same. */
export function nextMinute(random: () => number = Math.random): number {
  return 60_000 + random() * 10_000
}
