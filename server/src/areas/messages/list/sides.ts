import { sql } from 'kysely'
import type { ConversationKind } from '../../../chat/kind.ts'
import type { KnownEntities } from '../../../chat/messages/entities.ts'
import { type EntityCache, type KnownEntity, recallActor, whenAllKnown } from '../../../chat/messages/entity-cache.ts'
import type { UserRow } from '../../../chat/users/rows.ts'
import type { Fragment } from '../../../store/statement.ts'
import type { HistoryOf } from './history.ts'

/*
 * Who looks at a page of a history, and what they look at. The page brings the revision of each, beside which they are kept in
 * memory: to read them takes longer than the page.
 */

/** What the statement of a page tells of them. */
export interface FoundSides {
  /** Absent: there is no such user. */
  readonly viewer: number | undefined
  /** Revision of the other user, or of the group. */
  readonly other: number | undefined
  /** The other user has blocked the viewer, or the viewer is a member of the group. */
  readonly isRelated: boolean
  /** Of a group: those who wrote the messages, and whether they have blocked the viewer. */
  readonly senders: ReadonlyArray<readonly [uid: string, revision: number, isBlocker: boolean]>
}

const revisionOf = (uid: string): string =>
  `coalesce((select u.revision from users u where u.app_id = $1 and u.uid = ${uid}), 0)`

const otherUser = 'case when w.first = w.viewer then w.second else w.first end'

const sidesOfUser = `concat_ws(' ', ${revisionOf('w.viewer')}, ${revisionOf(otherUser)},
    (select 1 from blocks b where b.app_id = $1 and b.blocker = ${otherUser} and b.blocked = w.viewer))`

const sidesOfGroup = `concat_ws(',',
    concat_ws(' ', ${revisionOf('w.viewer')},
      coalesce((select g.revision from groups g where g.app_id = $1 and g.guid = w.first), 0),
      (select 1 from group_members gm where gm.app_id = $1 and gm.guid = w.first and gm.uid = w.viewer)),
    (
      select string_agg(concat_ws(' ', u.uid, u.revision,
        (select 1 from blocks b where b.app_id = $1 and b.blocker = u.uid and b.blocked = w.viewer)), ',')
      from users u
      where u.app_id = $1
      and u.uid = any(p.senders)
    ))`

/** A column of the page `p` that is wanted as `w`, with the app as `$1`. `readSides` reads it. */
export function selectSides(kind: ConversationKind): Fragment {
  return sql.raw(kind === 'user' ? sidesOfUser : sidesOfGroup)
}

export function readSides(kind: ConversationKind, text: string): FoundSides {
  const [ends = '', ...senders] = kind === 'user' ? [text] : text.split(',')
  const [viewer, other, related] = ends.split(' ')
  return {
    viewer: Number(viewer) || undefined,
    other: Number(other) || undefined,
    isRelated: related !== undefined,
    senders: senders.map((sender) => {
      const [uid = '', revision, blocks] = sender.split(' ')
      return [uid, Number(revision), blocks !== undefined] as const
    }),
  }
}

/**
 * Those whom a page shows, out of memory; undefined where the viewer is not who they were taken for, or where the page may be
 * refused to them, or something of it hidden: whoever reads all of it says which.
 * @param taken the viewer as remembered
 */
export async function recallSides(
  entities: EntityCache,
  appId: number,
  taken: KnownEntity<UserRow>,
  history: HistoryOf,
  sides: FoundSides,
): Promise<KnownEntities | undefined> {
  if (sides.other === undefined) return undefined
  const viewer = await recallActor(entities, appId, taken, sides.viewer)
  if (viewer?.row === undefined) return undefined
  const { uid } = viewer.row
  return history.kind === 'user'
    ? recallPair(entities, appId, { uid, viewer }, history, sides, sides.other)
    : recallGroup(entities, appId, { uid, viewer }, history, sides, sides.other)
}

interface Remembered {
  readonly uid: string
  readonly viewer: KnownEntity<UserRow>
}

async function recallPair(
  entities: EntityCache,
  appId: number,
  { uid, viewer }: Remembered,
  { first, second }: HistoryOf,
  { isRelated }: FoundSides,
  revision: number,
): Promise<KnownEntities | undefined> {
  const otherUid = first === uid ? second : first
  const other = await entities.user(appId, otherUid, revision)
  if (viewer.row === undefined || other.row === undefined) return undefined
  return {
    users: [viewer.row, other.row],
    away: new Set(isRelated ? [otherUid] : []),
    written: {
      users: new Map([
        [uid, viewer],
        [otherUid, other],
      ]),
      groups: new Map(),
    },
  }
}

async function recallGroup(
  entities: EntityCache,
  appId: number,
  { uid, viewer }: Remembered,
  { first: guid }: HistoryOf,
  { isRelated: isMember, senders }: FoundSides,
  revision: number,
): Promise<KnownEntities | undefined> {
  const group = await entities.group(appId, guid, revision)
  // Where permissions were ever set, they may hide something.
  if (!isMember || group.row === undefined || group.row.permissionsVersion !== 0) return undefined
  const others = senders.filter(([sender]) => sender !== uid)
  const known = await whenAllKnown(others.map(([sender, revision]) => entities.user(appId, sender, revision)))
  const users = new Map([[uid, viewer]])
  for (const [i, [sender]] of others.entries()) users.set(sender, known[i] as KnownEntity<UserRow>)
  const rows = [...users.values()].flatMap(({ row }) => row ?? [])
  const away = new Set(senders.flatMap(([sender, , isBlocker]) => (isBlocker ? sender : [])))
  return { users: rows, groups: [group.row], away, written: { users, groups: new Map([[guid, group]]) } }
}
