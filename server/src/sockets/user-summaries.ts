import type { SocketUser } from '@parley/contract'
import { LRUCache } from 'lru-cache'
import { readUsers, showDeletedUser, type UserRow } from '../chat/users/rows.ts'
import type { Database } from '../store/database.ts'

/**
 * Users as frames show them. Read together for all who ask at the same moment, and kept for a few seconds: a thousand
 * receipts in a second are no thousand reads.
 */
export interface UserSummaries {
  of(appId: number, uid: string): Promise<SocketUser>
}

const keptMs = 5_000

export function createUserSummaries(database: Database): UserSummaries {
  const kept = new LRUCache<string, Promise<SocketUser>>({ max: 10_000, ttl: keptMs })
  const gathering = new Map<number, Promise<ReadonlyMap<string, UserRow>>>()
  const wanted = new Map<number, Set<string>>()

  /** All who are asked for until the events at hand are through. */
  const gather = (appId: number, uid: string): Promise<ReadonlyMap<string, UserRow>> => {
    const uids = wanted.get(appId) ?? new Set<string>()
    wanted.set(appId, uids.add(uid))
    let reading = gathering.get(appId)
    if (reading === undefined) {
      reading = new Promise((resolve) => setImmediate(resolve)).then(() => {
        gathering.delete(appId)
        wanted.delete(appId)
        return readUsers(database, appId, uids)
      })
      gathering.set(appId, reading)
    }
    return reading
  }

  return {
    of(appId, uid) {
      const key = `${appId} ${uid}`
      const known = kept.get(key)
      if (known !== undefined) return known
      const summary = gather(appId, uid).then((users) => showSummary(uid, users.get(uid)))
      kept.set(key, summary)
      summary.catch(() => {
        if (kept.peek(key) === summary) kept.delete(key)
      })
      return summary
    },
  }
}

/** Nothing of his metadata or tags: frames go to many. */
export function showSummary(uid: string, row: UserRow | undefined): SocketUser {
  if (row === undefined) return showDeletedUser(uid)
  return {
    uid,
    name: row.name,
    ...(row.avatar !== null && { avatar: row.avatar }),
    ...(row.link !== null && { link: row.link }),
    role: row.role,
    status: row.online ? 'available' : 'offline',
    ...(row.statusMessage !== null && { statusMessage: row.statusMessage }),
    createdAt: row.createdAt,
    ...(row.lastActiveAt !== null && { lastActiveAt: row.lastActiveAt }),
  }
}
