import { sql } from 'kysely'
import type { Fragment } from '../../store/statement.ts'
import type { Membership } from '../groups/access.ts'
import type { GroupRow } from '../groups/rows.ts'
import { type EntityCache, type KnownEntity, whenAllKnown } from '../messages/entity-cache.ts'
import { readRevised, type UserRow, userArray } from '../users/rows.ts'
import { otherPeerOf } from './participant-state.ts'

/** What is on the other side of a user's conversations. */
export interface Peers {
  /** Also those who wrote last in groups. */
  readonly users: ReadonlyMap<string, KnownEntity<UserRow>>
  /** Those of them who have blocked the user. */
  readonly blockers: ReadonlySet<string>
  readonly groups: ReadonlyMap<string, KnownEntity<GroupRow>>
  /** The user's memberships of these groups, by `<guid> <uid>`. */
  readonly memberships: ReadonlyMap<string, Membership>
}

/** What is returned of peers, who are kept in memory, and what is the user's own: lists in one text each, or null for none. */
export interface FoundPeers {
  readonly users: string | null
  readonly blockers: string | null
  readonly groups: string | null
}

/**
 * Columns of `FoundPeers`, of the peers of the rows of `page` (`packedFrom`) and those who wrote in groups of their `last` messages,
 * as the viewer meets them. `readPeers` reads them.
 * @param withUsers whether the rows of users are brought along, as SQL
 */
export function selectPeers(appId: Fragment, viewer: Fragment, withUsers: Fragment): Fragment {
  const uids = sql`array(
        select ${sql.raw(otherPeerOf('p', 'p'))} from page p where p.kind = 1
        union all
        select m.sender from last m where m.kind = 2
      )`
  return sql`
    (
      select string_agg(concat_ws(' ', u.uid, u.revision, case when ${withUsers} then ${sql.raw(userArray)} end), E'\\x1e')
      from users u
      where u.app_id = ${appId}
      and u.uid = any(${uids})
    ) as users,
    (
      select string_agg(b.blocker, ',')
      from blocks b
      where b.app_id = ${appId}
      and b.blocker = any(${uids})
      and b.blocked = ${viewer}
    ) as blockers,
    (
      select string_agg(concat_ws(' ', g.guid, g.revision, m.scope, m.joined_at), ',')
      from groups g
      left join group_members m on m.app_id = g.app_id and m.guid = g.guid and m.uid = ${viewer}
      where g.app_id = ${appId}
      and g.guid = any(array(select p.first from page p where p.kind = 2))
    ) as groups`
}

/**
 * Reads what is not known of peers that were found.
 * @param remembered the user, who also writes what stands last, where they came out of memory
 */
export async function readPeers(
  entities: EntityCache,
  appId: number,
  viewer: string,
  { users, blockers, groups }: FoundPeers,
  remembered?: KnownEntity<UserRow>,
): Promise<Peers> {
  const recalledUsers = (users?.split('\x1e') ?? []).map((line) => {
    const end = line.indexOf(' ')
    return entities.user(appId, line.slice(0, end), readRevised(line.slice(end + 1)))
  })
  const foundGroups = wordsOf(groups)
  const recalledGroups = foundGroups.map(([guid, revision]) => entities.group(appId, guid, Number(revision)))
  const [knownUsers, knownGroups] = [await whenAllKnown(recalledUsers), await whenAllKnown(recalledGroups)]
  const memberships = foundGroups.flatMap(([guid, , scope, joinedAt]) => {
    if (scope === undefined) return []
    const membership = { uid: viewer, scope: scope as Membership['scope'], joinedAt: Number(joinedAt) }
    return [[`${guid} ${viewer}`, membership] as const]
  })
  return {
    users: new Map([...knownUsers, ...(remembered ? [remembered] : [])].flatMap(named)),
    blockers: new Set(blockers?.split(',')),
    groups: new Map(knownGroups.flatMap((known) => (known.row === undefined ? [] : [[known.row.guid, known]]))),
    memberships: new Map(memberships),
  }
}

function named(known: KnownEntity<UserRow>): Array<readonly [string, KnownEntity<UserRow>]> {
  return known.row === undefined ? [] : [[known.row.uid, known]]
}

type Words = readonly [id: string, revision: string, ...more: string[]]

function wordsOf(text: string | null): Words[] {
  return text === null ? [] : text.split(',').map((line) => line.split(' ') as unknown as Words)
}
