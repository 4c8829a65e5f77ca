import type { User } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { conversationId } from '../naming.ts'
import { readBlockInfo } from './block-info.ts'
import { showUser, type UserRow, withoutPresence } from './rows.ts'

interface ShowUsersOptions {
  readonly withTags?: boolean
  /** Also tells who has blocked the viewer, for a list that asks for just these. */
  readonly withBlockers?: boolean
  /** The app looks at the relations of the viewer: it sees what is private, and who is there. */
  readonly seenByApp?: boolean
}

/**
 * Users as answers show them to a viewer: with the name of the conversation between the two, and whom the viewer has
 * blocked, read once for all. Who has blocked the viewer looks like somebody who is away. Without a viewer as the app sees
 * them, with what is private.
 */
export async function showUsers(
  on: Queryable,
  appId: number,
  viewer: string | undefined,
  rows: readonly UserRow[],
  { withTags = true, withBlockers = false, seenByApp = false }: ShowUsersOptions = {},
): Promise<User[]> {
  if (viewer === undefined) return rows.map((row) => showUser(row, 'app', { withTags }))
  const uids = rows.map(({ uid }) => uid).filter((uid) => uid !== viewer)
  const blocks = await readBlockInfo(on, appId, viewer, uids)
  return rows.map((row) => {
    if (row.uid === viewer) return showUser(row, 'self', { withTags })
    const { blockedByMe = false, hasBlockedMe = false, blockedAt, ...times } = blocks.get(row.uid) ?? {}
    const shown = showUser(row, seenByApp ? 'app' : 'other', { withTags })
    const showsWhen = blockedAt !== undefined && (blockedByMe || withBlockers)
    return {
      ...(hasBlockedMe && !seenByApp ? withoutPresence(shown) : shown),
      ...(blockedByMe && { blockedByMe }),
      ...(hasBlockedMe && withBlockers && { hasBlockedMe }),
      ...times,
      ...(showsWhen && { blockedAt }),
      conversationId: conversationId('user', viewer, row.uid),
    }
  })
}
