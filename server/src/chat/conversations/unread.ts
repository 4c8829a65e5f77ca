import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Queryable } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'
import type { GroupRow } from '../groups/rows.ts'
import { notClearedSql } from '../sight/participation.ts'
import { hidesByRole, readConditions, restrictedOf, type Viewer } from '../sight/sight.ts'
import type { ParticipantState } from './participant-state.ts'

/** Whether a message `m` that the viewer does see is unread in the conversation of their state `s`. */
export function isVisibleUnread(viewer: string, conditions: readonly Fragment[]): Fragment {
  return sql`m.app_id = s.app_id
        and m.conversation = s.conversation
        and (m.sent_at, m.id) > (s.unread_sent_at, s.unread_id)
        and m.countable
        and m.sender <> ${viewer}
        and ${allOf([notClearedSql, ...conditions])}`
}

/**
 * Unread counts of conversations from whose viewer something may be hidden, by the conversations' keys: what is remembered
 * counts everything, so that these are counted one by one. Where nothing is set, nothing is asked.
 */
export async function readVisibleUnread(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  states: readonly ParticipantState[],
  groups: ReadonlyMap<string, GroupRow>,
): Promise<ReadonlyMap<number, number>> {
  const restricted = new Set(restrictedOf(groups.values()))
  const byRole = hidesByRole(viewer)
  const asked = states.filter(
    ({ kind, first, unread }) => unread > 0 && (byRole || (kind === 'group' && restricted.has(first))),
  )
  if (asked.length === 0) return new Map()
  return countVisibleUnread(
    on,
    appId,
    viewer,
    asked.map(({ key }) => key),
    [...restricted],
  )
}

/**
 * The same, of conversations by their keys.
 * @param guids of the groups among them in which permissions were ever set
 * @returns nothing where nothing is hidden from the viewer after all
 */
export async function countVisibleUnread(
  on: Queryable,
  appId: number,
  viewer: Viewer,
  conversations: readonly number[],
  guids: readonly string[],
): Promise<ReadonlyMap<number, number>> {
  const conditions = await readConditions(on, appId, viewer, guids)
  if (conditions.length === 0) return new Map()
  const rows = await on.run(sql<{ conversation: number; count: number }>`
    select s.conversation, n.count
    from conversation_states s
    cross join lateral (
      select count(*) as count
      from messages m
      where ${isVisibleUnread(viewer.uid, conditions)}
    ) n
    where s.app_id = ${appKey(appId)}
    and s.uid = ${viewer.uid}
    and s.conversation = any(${conversations}::bigint[])`)
  return new Map(rows.map(({ conversation, count }) => [conversation, count]))
}
