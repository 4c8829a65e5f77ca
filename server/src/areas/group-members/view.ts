import type { User } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { readBlockInfo } from '../blocked-users/index.ts'
import { conversationId } from '../conversations/index.ts'
import { showUser, type UserRow } from '../users/index.ts'

/**
 * Users of a group's lists as the viewer sees them: with the conversation that he has with each, and the blocks between
 * them where there are any. Without a viewer as the app sees them.
 */
export async function showListed(
  on: Queryable,
  appId: number,
  rows: readonly UserRow[],
  viewer: string | undefined,
): Promise<User[]> {
  if (viewer === undefined) return rows.map((row) => showUser(row, 'app'))
  const blocks = await readBlockInfo(
    on,
    appId,
    viewer,
    rows.map(({ uid }) => uid),
  )
  return rows.map((row) => {
    if (row.uid === viewer) return showUser(row, 'self')
    const info = blocks.get(row.uid)
    const isBlocked = info !== undefined && (info.blockedByMe || info.hasBlockedMe)
    return { ...showUser(row), conversationId: conversationId(1, viewer, row.uid), ...(isBlocked && info) }
  })
}

/** `cursor` of a list by name: a client that has read it asks for what changed from there on. */
export function syncCursor(
  rows: ReadonlyArray<{ createdAt: number; updatedAt: number | null }>,
): { updatedAt: number; affix: 'append' } | undefined {
  if (rows.length === 0) return undefined
  return { updatedAt: Math.max(...rows.map((row) => row.updatedAt ?? row.createdAt)), affix: 'append' }
}
