import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

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

const selectBlockers = statement(`
  select blocker
  from blocks
  where app_id = $1
  and blocked = $2
  and blocker = any($3::text[])`)

/** Which of some users have blocked a user. */
export async function readBlockers(
  on: Queryable,
  appId: number,
  uid: string,
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (uids.length === 0) return new Set()
  const rows = await on.query<{ blocker: string }>(selectBlockers, [appId, uid, uids])
  return new Set(rows.map(({ blocker }) => blocker))
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
