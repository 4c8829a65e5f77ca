import { type UserColumns, type UserRow, userArray, userOf } from '../users/rows.ts'
import { otherPeerOf } from './participant-state.ts'

/** The users on the other side of a user's one-to-one conversations. */
export interface Peers {
  readonly users: ReadonlyMap<string, UserRow>
  /** Those of them who have blocked the user. */
  readonly blockers: ReadonlySet<string>
}

/** The other user `u` of each row `p` (`packedFrom`), with whether they block the one whose row it is. */
export const peerJoins = `
    left join lateral (
      select u.*, exists (
        select
        from blocks b
        where b.app_id = u.app_id and b.blocker = u.uid and b.blocked = p.uid
        offset 0
      ) as blocks
      from users u
      where p.kind = 1 and u.app_id = p.app_id and u.uid = ${otherPeerOf('p', 'p')}
      offset 0
    ) u on true`

/** An aggregate of peers, beside `peerJoins`. `unpackPeers` reads it. */
export const packPeers = `json_agg(json_build_array(u.blocks, ${userArray})) filter (where u.uid is not null)`

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
