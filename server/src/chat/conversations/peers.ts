import { sql } from 'kysely'
import type { Fragment } from '../../store/statement.ts'
import { type UserColumns, type UserRow, userArray, userOf } from '../users/rows.ts'
import { otherPeerOf } from './participant-state.ts'

/** The users on the other side of a user's one-to-one conversations. */
export interface Peers {
  readonly users: ReadonlyMap<string, UserRow>
  /** Those of them who have blocked the user. */
  readonly blockers: ReadonlySet<string>
}

/** The other users of the rows of `page` (`packedFrom`), each with whether they block the viewer. `unpackPeers` reads it. */
export function selectPeers(appId: Fragment, viewer: Fragment): Fragment {
  return sql`
    select json_agg(json_build_array(exists (
      select
      from blocks b
      where b.app_id = u.app_id and b.blocker = u.uid and b.blocked = ${viewer}
      offset 0
    ), ${sql.raw(userArray)}))
    from users u
    where u.app_id = ${appId}
    and u.uid = any(array(select ${sql.raw(otherPeerOf('p', 'p'))} from page p where p.kind = 1))`
}

export type PackedPeers = ReadonlyArray<readonly [blocks: boolean, user: UserColumns]>

export function unpackPeers(packed: PackedPeers | null): Peers {
  const users = new Map<string, UserRow>()
  const blockers = new Set<string>()
  for (const [blocks, columns] of packed ?? []) {
    const user = userOf(columns)
    users.set(user.uid, user)
    if (blocks) blockers.add(user.uid)
  }
  return { users, blockers }
}
