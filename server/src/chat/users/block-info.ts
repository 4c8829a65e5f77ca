import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import { statement } from '../../store/statement.ts'
import type { UserRow } from './rows.ts'

/** What stands between a viewer and another user, as answers show it. */
export interface BlockInfo {
  readonly blockedByMe: boolean
  readonly blockedByMeAt?: number
  readonly hasBlockedMe: boolean
  readonly blockedAt?: number
}

const select = statement(`
  select o.uid, mine.blocked_at as "blockedByMeAt", theirs.blocked_at as "hasBlockedMeAt"
  from unnest($3::text[]) as o(uid)
  left join blocks mine on mine.app_id = $1 and mine.blocker = $2 and mine.blocked = o.uid
  left join blocks theirs on theirs.app_id = $1 and theirs.blocker = o.uid and theirs.blocked = $2`)

/** The blocks between a viewer and each of some users, either way. */
export async function readBlockInfo(
  on: Queryable,
  appId: number,
  viewer: string,
  uids: readonly string[],
): Promise<Map<string, BlockInfo>> {
  if (uids.length === 0) return new Map()
  const rows = await on.query<{ uid: string; blockedByMeAt: number | null; hasBlockedMeAt: number | null }>(select, [
    appId,
    viewer,
    uids,
  ])
  return new Map(rows.map((row) => [row.uid, showBlocks(row)]))
}

const selectBlockers = lookup<{ blocked: string; blocker: string }>(
  statement(`
  select b.blocked, b.blocker
  from unnest($2::text[], $3::text[]) as wanted(blocked, blocker)
  join blocks b on b.app_id = $1 and b.blocked = wanted.blocked and b.blocker = wanted.blocker`),
  ({ blocked, blocker }) => [blocked, blocker],
)

/** Which of some users have blocked a user. */
export async function readBlockers(
  on: Queryable,
  appId: number,
  uid: string,
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (uids.length === 0) return new Set()
  const rows = await on.query<{ blocker: string }>(selectBlockers, [appId, uids.map(() => uid), uids])
  return new Set(rows.map(({ blocker }) => blocker))
}

/**
 * Of some users, those who look away to a viewer, as they have blocked them. Whoever was never there is not asked about.
 * @param viewer nobody looks away to the app
 */
export async function readAway(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  users: Iterable<Pick<UserRow, 'uid' | 'online' | 'lastActiveAt'>>,
): Promise<ReadonlySet<string>> {
  if (viewer === undefined) return new Set()
  const seen = [...users].filter(({ uid, online, lastActiveAt }) => uid !== viewer && (online || lastActiveAt !== null))
  return readBlockers(
    on,
    appId,
    viewer,
    seen.map(({ uid }) => uid),
  )
}

function showBlocks(row: { blockedByMeAt: number | null; hasBlockedMeAt: number | null }): BlockInfo {
  const { blockedByMeAt, hasBlockedMeAt } = row
  return {
    blockedByMe: blockedByMeAt !== null,
    ...(blockedByMeAt !== null && { blockedByMeAt, blockedAt: blockedByMeAt }),
    hasBlockedMe: hasBlockedMeAt !== null,
    ...(blockedByMeAt === null && hasBlockedMeAt !== null && { blockedAt: hasBlockedMeAt }),
  }
}
