import type { SocketUser } from '@parley/contract'
import { readUsers, showDeletedUser, type UserRow } from '../chat/users/rows.ts'
import type { Database } from '../store/database.ts'
import { createMemory } from '../store/memory.ts'

/**
 * Users as frames show them. Read together for all who ask at the same moment, and kept for a few seconds: a thousand
 * receipts in a second are no thousand reads.
 */
export interface UserSummaries {
  of(appId: number, uid: string): Promise<SocketUser>
  /** Reads a user anew when they are asked for next. */
  drop(appId: number, uid: string): void
}

const keptMs = 5_000

export function createUserSummaries(database: Database): UserSummaries {
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

  const { recall, forget } = createMemory<string, SocketUser>({
    max: 10_000,
    ttlMs: keptMs,
    async read(key) {
      const [appId, uid] = key.split(' ') as [string, string]
      return showSummary(uid, (await gather(Number(appId), uid)).get(uid))
    },
  })
  return { of: (appId, uid) => recall(`${appId} ${uid}`), drop: (appId, uid) => forget(`${appId} ${uid}`) }
}

/** Without metadata and tags, since frames go to many users. */
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
