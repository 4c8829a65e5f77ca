import { createCache } from '../cache.ts'
import type { RedisLink } from '../store/redis.ts'
import { type BucketSize, type Buckets, MemoryBuckets, msPerPoint, type Taken, tolerance } from './buckets.ts'

export type SharedCounts = Pick<RedisLink, 'commands' | 'isUp' | 'name'>

/** After Redis failed to answer, for how long it is not asked: requests must not wait for it one after the other. */
const restMs = 2_000
/** Processes notify each other of so many hundredths of a minute's points at a time: one request in many waits for Redis. */
const shares = 100
/** Keys of which something is not yet sent. */
const maxUnsent = 100_000
const unsentMs = 60_000

/** By the clock of Redis, which all processes share. What was taken before is taken in any case. */
const takeScript = `
  local clock = redis.call('time')
  local now = clock[1] * 1000 + clock[2] / 1000
  local burst, msPerPoint = tonumber(ARGV[1]), tonumber(ARGV[2])
  local before, points, needed = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  local fullAt = tonumber(redis.call('get', KEYS[1]) or '0')
  local missing = math.max(0, fullAt - now) / msPerPoint + before
  local left = burst - missing
  local isTaken = needed - left <= ${tolerance}
  if isTaken then missing = missing + points end
  local ms = missing * msPerPoint
  redis.call('set', KEYS[1], string.format('%.3f', now + ms), 'px', math.ceil(ms) + 1)
  return { isTaken and 1 or 0, tostring(missing) }`

/**
 * Buckets that all processes share: each takes from its own, and in steps of a hundredth of a minute's points from those in
 * Redis. While Redis does not answer, each process counts for itself.
 * @param name names them among others
 */
export function createSharedBuckets(name: string, size: BucketSize, redis: SharedCounts): Buckets {
  const here = new MemoryBuckets(size)
  const step = Math.max(1, Math.floor(size.perMinute / shares))
  const unsent = createCache<string, number>({ max: maxUnsent, ttl: unsentMs })
  let restsUntil = Number.NEGATIVE_INFINITY

  const takeThere = async (key: string, before: number, points: number, needed: number) => {
    if (!redis.isUp || performance.now() < restsUntil) return undefined
    const values = [size.burst, msPerPoint(size), before, points, needed]
    try {
      const [isTaken, missing] = (await redis.commands.eval(
        takeScript,
        1,
        redis.name(`bucket:${name}:${key}`),
        ...values,
      )) as [number, string]
      return { isTaken: isTaken === 1, missing: Number(missing) }
    } catch {
      restsUntil = performance.now() + restMs
      return undefined
    }
  }

  return {
    peek: (key) => here.peek(key),
    async take(key, points = 1, needed = points): Promise<Taken> {
      const taken = await here.take(key, points, needed)
      // What is not there by the count of this process alone is not there for all.
      if (!taken.isTaken) return taken
      const before = unsent.get(key) ?? 0
      if (before + points < step) {
        unsent.set(key, before + points)
        return taken
      }
      unsent.delete(key)
      const there = await takeThere(key, before, points, needed)
      if (there === undefined) return taken
      here.setMissing(key, there.missing + (unsent.get(key) ?? 0))
      const left = size.burst - there.missing
      const msLeft = there.isTaken ? 0 : Math.max(1, (needed - left) * msPerPoint(size))
      return { isTaken: there.isTaken, left, msLeft }
    },
  }
}
