import type { Caller } from '../chat/identity.ts'
import type { Reader } from '../store/reader.ts'
import { createTurns, type Turns } from '../store/turns.ts'

/**
 * So many requests of one user are worked on at once; a browser has six connections to a host. What one user sends beyond
 * that waits, so that others wait for a few of their answers to be made, not for hundreds.
 */
const atOncePerUser = 8
const limits = {
  ...{ atOnce: Number.POSITIVE_INFINITY, atOncePerApp: Number.POSITIVE_INFINITY },
  ...{ atOncePerKey: Number.POSITIVE_INFINITY, atOncePerUser },
  ...{ waitingPerReader: 100, waitingPerApp: 10_000, waiting: 20_000 },
}
const patienceMs = 30_000

/** Works on the requests of users with a token in turn, and on those of back ends at once. */
export interface UserTurns {
  /** @throws 429 where too many requests of the user wait already */
  run<Result>(caller: Caller, reader: Reader, work: () => Promise<Result>): Promise<Result>
}

export function createUserTurns(): UserTurns {
  const turns: Turns = createTurns('request', limits, patienceMs)
  return {
    run: (caller, reader, work) =>
      caller.kind === 'user' && caller.via === 'token' ? turns.run(reader, work) : work(),
  }
}
