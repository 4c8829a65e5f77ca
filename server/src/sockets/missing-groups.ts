import { ApiError } from '@parley/contract'
import { createCache } from '../cache.ts'

/** Remembers for a moment which groups are not there for whom, so that frames to them ask the database once. */
export interface MissingGroups {
  /** Does what asks for a group. @throws at once what it threw a moment ago, where the group was not there */
  ask<Result>(appId: number, uid: string, guid: string, work: () => Promise<Result>): Promise<Result>
}

/** Who makes a group or joins it need not wait longer than this until their frames arrive. */
const momentMs = 1_000
const maxRemembered = 20_000

export function createMissingGroups(rememberedMs = momentMs): MissingGroups {
  const missing = createCache<string, ApiError>({ max: maxRemembered, ttl: rememberedMs })
  return {
    async ask(appId, uid, guid, work) {
      const key = `${appId} ${uid} ${guid.toLowerCase()}`
      const known = missing.get(key)
      if (known !== undefined) throw known
      try {
        return await work()
      } catch (error) {
        if (error instanceof ApiError && error.code === 'ERR_GUID_NOT_FOUND') missing.set(key, error)
        throw error
      }
    },
  }
}
