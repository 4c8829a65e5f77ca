import type { Group, GroupScope, Permissions } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import { statement } from '../../store/statement.ts'
import { conversationId } from '../naming.ts'

export type GroupType = Group['type']

/** Explicitly set permissions of a group, by scope. */
export type GroupPermissions = Readonly<Partial<Record<GroupScope, Permissions>>>

/** A group as the database keeps it; its password stays there. */
export interface GroupRow {
  readonly guid: string
  readonly name: string
  readonly type: GroupType
  readonly icon: string | null
  readonly description: string | null
  readonly owner: string
  readonly metadata: Record<string, unknown> | null
  readonly tags: string[]
  readonly membersCount: number
  readonly permissions: GroupPermissions
  /** Another one after each change of `permissions`, also across a deletion of the group; 0 as long as none was set. */
  readonly permissionsVersion: number
  /** Key of the group's conversation. */
  readonly conversation: number
  readonly createdAt: number
  /** Also when the members changed, since their count is part of the group. */
  readonly updatedAt: number | null
  readonly updatedBy: string | null
}

/** Columns of `GroupRow`, of the table `groups` under the alias `g`. */
export const groupColumns = `g.guid, g.name, g.type, g.icon, g.description, g.owner, g.metadata, g.tags,
  g.members_count as "membersCount", g.permissions, g.permissions_version as "permissionsVersion", g.conversation,
  g.created_at as "createdAt", g.updated_at as "updatedAt", g.updated_by as "updatedBy"`

const selectGroups = lookup<GroupRow>(
  statement(`
  select ${groupColumns}
  from groups g
  where g.app_id = $1
  and g.guid = any($2::text[])`),
  ({ guid }) => [guid],
)

/** Reads groups by guid (in lower case); unknown ones are missing from the map. */
export async function readGroups(
  on: Queryable,
  appId: number,
  guids: Iterable<string>,
): Promise<Map<string, GroupRow>> {
  const wanted = [...new Set(guids)]
  if (wanted.length === 0) return new Map()
  const rows = await on.query<GroupRow>(selectGroups, [appId, wanted])
  return new Map(rows.map((row) => [row.guid, row]))
}

/** Reads one group, by its guid in lower case. */
export async function readGroup(on: Queryable, appId: number, guid: string): Promise<GroupRow | undefined> {
  return (await readGroups(on, appId, [guid])).get(guid)
}

/** Who looks at a group: a member of it, or somebody who is none. */
export type GroupViewer =
  | { readonly scope: GroupScope; readonly joinedAt: number }
  | { readonly hasJoined: false; readonly isBanned: boolean }

/** A group as answers show it; without a viewer as the app sees it. */
export function showGroup(row: GroupRow, viewer?: GroupViewer, { withTags = true } = {}): Group {
  return {
    guid: row.guid,
    name: row.name,
    type: row.type,
    ...(row.icon !== null && { icon: row.icon }),
    ...(row.description !== null && { description: row.description }),
    owner: row.owner,
    ...(row.metadata !== null && { metadata: row.metadata }),
    ...(withTags && row.tags.length > 0 && { tags: row.tags }),
    membersCount: row.membersCount,
    conversationId: conversationId('group', row.guid, ''),
    createdAt: row.createdAt,
    ...(row.updatedAt !== null && { updatedAt: row.updatedAt }),
    ...(row.updatedBy !== null && { updatedBy: row.updatedBy }),
    ...(viewer && showViewer(viewer)),
  }
}

/** A group as messages show it, or what stands in for one that was deleted. */
export function showGroupOrDeleted(guid: string, row: GroupRow | undefined): { guid: string } {
  return row === undefined ? { guid } : showGroup(row)
}

function showViewer(viewer: GroupViewer): Pick<Group, 'scope' | 'joinedAt' | 'hasJoined' | 'isBanned'> {
  if ('scope' in viewer) return { scope: viewer.scope, joinedAt: viewer.joinedAt, hasJoined: true }
  return { hasJoined: false, ...(viewer.isBanned && { isBanned: true }) }
}
