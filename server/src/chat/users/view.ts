import type { User } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { conversationId } from '../naming.ts'
import { readBlockInfo } from './block-info.ts'
import { showUser, type UserRow } from './rows.ts'

/**
 * Users as answers show them to a viewer: with the name of the conversation between the two and the blocks either way,
 * read once for all. Without a viewer as the app sees them, with what is private.
 */
export async function showUsers(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  rows: readonly UserRow[],
  { withTags = true } = {},
): Promise<User[]> {
  if (viewer === undefined) return rows.map((row) => showUser(row, 'app', { withTags }))
  const uids = rows.map(({ uid }) => uid).filter((uid) => uid !== viewer)
  const blocks = await readBlockInfo(on, appId, viewer, uids)
  return rows.map((row) => {
    if (row.uid === viewer) return showUser(row, 'self', { withTags })
    const { blockedByMe, hasBlockedMe, ...times } = blocks.get(row.uid) ?? {}
    return {
      ...showUser(row, 'other', { withTags }),
      ...(blockedByMe === true && { blockedByMe }),
      ...(hasBlockedMe === true && { hasBlockedMe }),
      ...times,
      conversationId: conversationId(1, viewer, row.uid),
    }
  })
}
