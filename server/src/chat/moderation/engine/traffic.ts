import type { LRUCache } from 'lru-cache'
import { createCache } from '../../../cache.ts'

/** What a sender has sent lately, by this process. Rules on rate and repetition look at it. */
export interface Traffic {
  /** Notes a message. @returns how many the sender has sent within the last minute, with this one */
  countRate(uid: string): number
  /** Notes a text. @returns how often the sender has sent it within the last ten minutes, with this one */
  countRepetitions(uid: string, text: string): number
}

const rateMs = 60_000
const repetitionMs = 600_000
/** Senders that are remembered; the one who was silent longest is forgotten first. */
const most = 20_000
/** Times that are remembered of one sender, and of one text: no rule can ask for more. */
const mostTimes = 1000

/** Kept in memory: each process counts for itself, and a restart forgets. Its size is bounded. */
export function createTraffic(now: () => number = Date.now): Traffic {
  const rates = createCache<string, number[]>({ max: most })
  const repetitions = createCache<string, number[]>({ max: most })
  const count = (times: LRUCache<string, number[]>, key: string, ms: number) => {
    const at = now()
    const recent = (times.get(key) ?? []).filter((time) => time > at - ms).slice(1 - mostTimes)
    recent.push(at)
    times.set(key, recent)
    return recent.length
  }
  return {
    countRate: (uid) => count(rates, uid, rateMs),
    countRepetitions: (uid, text) => count(repetitions, `${uid} ${text}`, repetitionMs),
  }
}
