import type { GroupScope, Permissions } from '@parley/contract'
import { sql } from 'kysely'
import type { Queryable } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import { heldTraits, isHeld, traits } from '../messages/traits.ts'
import { isBefore, type MessageFacts, type Position } from './condition.ts'
import type { ScopeRules } from './rules.ts'

/** How a user takes part in a conversation, as far as that decides what they see of it. */
export interface Participation {
  /** One of the two, or a member of the group now. */
  readonly takesPart: boolean
  /** The history up to here was reset. */
  readonly cleared: Position
  /** Of a group in which permissions were ever set. */
  readonly scope?: ScopeRules | undefined
}

/**
 * Of a participant's state, with what knows the kind of its conversation: who has left a group sees nothing of it.
 * @param place a conversation, or a message there
 */
export const takesPartIn = (place: string, state = 's'): string => `(${place}.kind = 1 or ${state}.member)`

/** The same of a state `s` that has the kind with it. */
export const takesPartSql = sql.raw(takesPartIn('s'))

/** Of a participant's state `s`: a reset hides what lies before it, up to a position such as `(m.sent_at, m.id)`. */
export const notCleared = (position: string): string => `${position} > (s.cleared_sent_at, s.cleared_id)`
export const hasCleared = (position: string): string => `(s.cleared_sent_at, s.cleared_id) >= ${position}`

/** Of a message `m`. */
export const notClearedSql = sql.raw(notCleared('(m.sent_at, m.id)'))

/** Since when a member `m` of a group with a state `s` takes part in it: as the state says, else as the membership does. */
export const joinedColumns = `coalesce(s.joined_sent_at, m.joined_at) as "joinedSentAt", coalesce(s.joined_id, 0) as "joinedId"`

/**
 * Of a message: moderation does not hold it. Said in two parts, of each of which the planner believes that nearly all
 * messages meet it. What is `countable` is never held, so counts need not ask.
 */
export const notHeldIn = (message: string): string =>
  [traits.pending, traits.disapproved].map((bit) => `${message}.traits & ${bit} <> ${bit}`).join(' and ')

/** The same in one part, of few messages that are found already: no plan goes by it. */
export const notHeldAmong = (message: string): string => `${message}.traits & ${heldTraits} = 0`

/** Of a message `m`. */
export const notHeldSql = sql.raw(notHeldIn('m'))

/** Of a message `m`: it is there for somebody. What moderation holds is there for its sender alone, and not for the app. */
export function isThereSql(viewer: Fragment | undefined): Fragment {
  return viewer === undefined ? notHeldSql : sql`(${notHeldSql} or m.sender = ${viewer})`
}

/**
 * Of a message `m`: somebody may have its id. It is there for them, or was before moderation took it; of one that is removed for
 * good nothing tells that it was not.
 * @param viewer an expression
 */
export const wasThereFor = (
  viewer: string,
): string => `(${notHeldIn('m')} or m.sender = ${viewer} or m.purged or exists (
      select from message_moderation k
      where k.app_id = m.app_id
      and k.message = m.id
      and k.was_visible
    ))`

/** As `isThereSql`, asked of a message in memory. @param viewer undefined for the app */
export function isThere(viewer: string | undefined, message: Pick<MessageFacts, 'sender' | 'traits'>): boolean {
  return !isHeld(message) || message.sender === viewer
}

/** All of it, asked of a message in memory. Without a participation nothing is open. */
export function isOpen(viewer: string, participation: Participation | undefined, message: MessageFacts): boolean {
  return participation?.takesPart === true && isBefore(participation.cleared, message) && isThere(viewer, message)
}

interface ParticipationRow {
  readonly conversation: number
  readonly takesPart: boolean
  readonly clearedSentAt: number
  readonly clearedId: number
  readonly scope: GroupScope | null
  readonly joinedSentAt: number | null
  readonly joinedId: number
  readonly permissions: Partial<Record<GroupScope, Permissions>> | null
}

const select = statement(`
  select s.conversation, ${takesPartIn('c')} as "takesPart", s.cleared_sent_at as "clearedSentAt",
    s.cleared_id as "clearedId", m.scope, ${joinedColumns}, g.permissions
  from conversation_states s
  join conversations c on c.app_id = s.app_id and c.key = s.conversation
  left join groups g
    on c.kind = 2 and g.app_id = c.app_id and g.guid = c.first and g.permissions_version > 0
  left join group_members m on m.app_id = g.app_id and m.guid = g.guid and m.uid = s.uid
  where s.app_id = $1
  and s.uid = $2
  and s.conversation = any($3::bigint[])`)

/** How a user takes part in some conversations, by their keys. */
export async function readParticipations(
  on: Queryable,
  appId: number,
  uid: string,
  conversations: Iterable<number>,
): Promise<ReadonlyMap<number, Participation>> {
  const rows = await on.query<ParticipationRow>(select, [appId, uid, [...new Set(conversations)]])
  return new Map(rows.map((row) => [row.conversation, participationOf(row)]))
}

function participationOf({ scope, permissions, ...row }: ParticipationRow): Participation {
  return {
    takesPart: row.takesPart,
    cleared: { sentAt: row.clearedSentAt, id: row.clearedId },
    scope:
      scope === null
        ? undefined
        : { permissions: permissions?.[scope] ?? {}, joined: { sentAt: row.joinedSentAt ?? 0, id: row.joinedId } },
  }
}

interface RestrictedMembership {
  readonly guid: string
  readonly scope: GroupScope
  readonly joinedSentAt: number
  readonly joinedId: number
  readonly permissions: Partial<Record<GroupScope, Permissions>>
}

const selectRestricted = (among: string) =>
  statement(`
  select g.guid, m.scope, ${joinedColumns}, g.permissions
  from group_members m
  join groups g on g.app_id = m.app_id and g.guid = m.guid
  left join conversation_states s on s.app_id = m.app_id and s.uid = m.uid and s.conversation = g.conversation
  where m.app_id = $1
  and m.uid = $2
  and g.permissions_version > 0${among}`)

const selectAllRestricted = selectRestricted('')
const selectRestrictedAmong = selectRestricted(`
  and m.guid = any($3::text[])`)

/**
 * What is set on a user's scopes in groups, by guid: only of groups in which something was ever set.
 * @param guids only these groups; else all of theirs
 */
export async function readScopeRules(
  on: Queryable,
  appId: number,
  uid: string,
  guids: readonly string[] | undefined,
): Promise<ReadonlyMap<string, ScopeRules>> {
  if (guids?.length === 0) return new Map()
  const rows = await (guids === undefined
    ? on.query<RestrictedMembership>(selectAllRestricted, [appId, uid])
    : on.query<RestrictedMembership>(selectRestrictedAmong, [appId, uid, guids]))
  return new Map(
    rows.map(({ guid, scope, joinedSentAt, joinedId, permissions }) => [
      guid,
      { permissions: permissions[scope] ?? {}, joined: { sentAt: joinedSentAt, id: joinedId } },
    ]),
  )
}
