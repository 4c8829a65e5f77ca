import type { RedisLink } from '../store/redis.ts'

/** @returns the count of this minute with this one, undefined while Redis does not answer */
export type CountInRedis = (counter: string) => Promise<{ count: number; resetsAt: number } | undefined>

/** By Redis's clock, so that processes whose clocks differ count in the same minute. Gives the count and the minute's end. */
const countOne = `
  local now = tonumber(redis.call('time')[1])
  local ends = (math.floor(now / 60) + 1) * 60
  local count = redis.call('incr', KEYS[1])
  if count == 1 then
    redis.call('expireat', KEYS[1], ends)
  end
  return { count, ends }`

/** After Redis failed to answer, for how long it is not asked: requests must not wait for it one after the other. */
const restMs = 2_000

export function countInRedis(redis: Pick<RedisLink, 'commands' | 'isUp' | 'name'>): CountInRedis {
  let restsUntil = 0
  redis.commands.defineCommand('parleyCount', { numberOfKeys: 1, lua: countOne })
  const client = redis.commands as unknown as { parleyCount(key: string): Promise<[number, number]> }
  return async (counter) => {
    if (!redis.isUp || Date.now() < restsUntil) return undefined
    try {
      const [count, resetsAt] = await client.parleyCount(redis.name(`count:${counter}`))
      return { count, resetsAt }
    } catch {
      restsUntil = Date.now() + restMs
      return undefined
    }
  }
}
