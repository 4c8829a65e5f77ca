import { sql } from 'kysely'
import type { ConfirmedActor, RecalledActor } from '../../../call.ts'
import type { ConversationKind } from '../../../chat/kind.ts'
import type { KnownEntities } from '../../../chat/messages/entities.ts'
import { type EntityCache, type KnownEntity, whenAllKnown } from '../../../chat/messages/entity-cache.ts'
import {
  type RevisedUser,
  readRevised,
  revisedUserOfSql,
  revisedUserSql,
  type UserRow,
} from '../../../chat/users/rows.ts'
import type { Fragment } from '../../../store/statement.ts'
import type { HistoryOf } from './history.ts'

/*
 * Who looks at a page of a history, and what they look at. The page brings the revision of each, beside which they are kept in
 * memory, and their rows where they are not: to read them apart takes longer than the page.
 */

/** What a statement is given of the parties, by kind of conversation. */
export interface KnownParties {
  /** The revision at which the viewer is remembered, 0 where they are not; null where nothing is wanted of them. */
  readonly viewer: number | null
  /** The same of the other user. Of a group anything but null wants the rows of all who wrote. */
  readonly other: number | null
}

/** Nothing is wanted of anybody. */
export const nobodyWanted: KnownParties = { viewer: null, other: null }

/** What is remembered of the two parties of a history. */
export function knownParties(
  entities: EntityCache,
  appId: number,
  { uid, revision }: RecalledActor,
  { kind, first, second }: HistoryOf,
): KnownParties {
  if (kind === 'group') return { viewer: revision, other: entities.missesMany ? 0 : null }
  return { viewer: revision, other: entities.revisionOf(appId, first === uid ? second : first) }
}

/** What the statement of a page returns of them. */
export interface FoundParties {
  /** Absent: there is no such user. */
  readonly viewer: RevisedUser | undefined
  /** The other user, or the group, of which there is no more than the revision. */
  readonly other: RevisedUser | undefined
  /** The other user has blocked the viewer, or the viewer is a member of the group. */
  readonly isRelated: boolean
  /** Of a group: those who wrote the messages, and whether they have blocked the viewer. */
  readonly senders: ReadonlyArray<readonly [uid: string, revised: RevisedUser, isBlocker: boolean]>
}

const betweenUsers = '\x1e'
const betweenFacts = '\x1f'

const otherUser = 'case when w.first = w.viewer then w.second else w.first end'
const viewer = `coalesce(${revisedUserOfSql('$1', 'w.viewer', 'w.viewer_known')}, '')`

const partiesOfUser = `concat_ws(E'\\x1f', ${viewer},
    coalesce(${revisedUserOfSql('$1', otherUser, 'w.other_known')}, ''),
    (select 1 from blocks b where b.app_id = $1 and b.blocker = ${otherUser} and b.blocked = w.viewer))`

const partiesOfGroup = `concat_ws(E'\\x1e',
    concat_ws(E'\\x1f', ${viewer},
      coalesce((select g.revision from groups g where g.app_id = $1 and g.guid = w.first)::text, ''),
      (select 1 from group_members gm where gm.app_id = $1 and gm.guid = w.first and gm.uid = w.viewer)),
    (
      select string_agg(concat_ws(E'\\x1f', u.uid, ${revisedUserSql('w.other_known is not null')},
        (select 1 from blocks b where b.app_id = $1 and b.blocker = u.uid and b.blocked = w.viewer)), E'\\x1e')
      from users u
      where u.app_id = $1
      and u.uid = any(p.senders)
    ))`

/**
 * A column of the page `p` that is wanted as `w`, with what is known (`KnownParties`) as `viewer_known` and `other_known`, and
 * with the app as `$1`. `readParties` reads it.
 */
export function selectParties(kind: ConversationKind): Fragment {
  return sql.raw(kind === 'user' ? partiesOfUser : partiesOfGroup)
}

export function readParties(text: string): FoundParties {
  const [ends = '', ...senders] = text.split(betweenUsers)
  const [viewer = '', other = '', related] = ends.split(betweenFacts)
  return {
    viewer: viewer === '' ? undefined : readRevised(viewer),
    other: other === '' ? undefined : readRevised(other),
    isRelated: related !== undefined,
    senders: senders.map((sender) => {
      const [uid = '', revised = '', blocks] = sender.split(betweenFacts)
      return [uid, readRevised(revised), blocks !== undefined] as const
    }),
  }
}

/**
 * Those whom a page shows to a viewer; undefined where the page may be refused to them, or something of it hidden: whoever reads
 * all of it says which.
 */
export async function recallParties(
  entities: EntityCache,
  appId: number,
  viewer: ConfirmedActor,
  history: HistoryOf,
  parties: FoundParties,
): Promise<KnownEntities | undefined> {
  if (parties.other === undefined) return undefined
  return history.kind === 'user'
    ? recallPair(entities, appId, viewer, history, parties, parties.other)
    : recallGroup(entities, appId, viewer, history, parties, parties.other.revision)
}

async function recallPair(
  entities: EntityCache,
  appId: number,
  { row, known }: ConfirmedActor,
  { first, second }: HistoryOf,
  { isRelated }: FoundParties,
  revised: RevisedUser,
): Promise<KnownEntities | undefined> {
  const otherUid = first === row.uid ? second : first
  const read = entities.user(appId, otherUid, revised)
  const other = read instanceof Promise ? await read : read
  if (other.row === undefined) return undefined
  return {
    users: [row, other.row],
    away: new Set(isRelated ? [otherUid] : []),
    written: {
      users: new Map([
        [row.uid, known],
        [otherUid, other],
      ]),
      groups: new Map(),
    },
  }
}

async function recallGroup(
  entities: EntityCache,
  appId: number,
  { row: { uid }, known }: ConfirmedActor,
  { first: guid }: HistoryOf,
  { isRelated: isMember, senders }: FoundParties,
  revision: number,
): Promise<KnownEntities | undefined> {
  const group = await entities.group(appId, guid, revision)
  // Where permissions were ever set, they may hide something.
  if (!isMember || group.row === undefined || group.row.permissionsVersion !== 0) return undefined
  const others = senders.filter(([sender]) => sender !== uid)
  const read = await whenAllKnown(others.map(([sender, revised]) => entities.user(appId, sender, revised)))
  const users = new Map([[uid, known]])
  for (const [i, [sender]] of others.entries()) users.set(sender, read[i] as KnownEntity<UserRow>)
  const rows = [...users.values()].flatMap(({ row }) => row ?? [])
  const away = new Set(senders.flatMap(([sender, , isBlocker]) => (isBlocker ? sender : [])))
  return { users: rows, groups: [group.row], away, written: { users, groups: new Map([[guid, group]]) } }
}
