import { type CursorMeta, limits, type listReactions as operation, type QueryOf, type Reaction } from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../../chat/identity.ts'
import { requireMessage } from '../../../chat/messages/read.ts'
import { requireMessageScopePermission } from '../../../chat/messages/scope-permissions.ts'
import { visibleReactions } from '../../../chat/sight/reactions.ts'
import type { Viewer } from '../../../chat/sight/sight.ts'
import { readUsers, showDeletedUser } from '../../../chat/users/rows.ts'
import { showUsers } from '../../../chat/users/view.ts'
import { cursorMeta } from '../../../paging.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { allOf, type Fragment } from '../../../store/statement.ts'

interface ReactionRow {
  readonly id: number
  readonly reaction: string
  readonly uid: string
  readonly reactedAt: number
}

type Query = QueryOf<typeof operation>

/**
 * Who reacted on a message, in the order in which they did; of a group, only members of the scopes that the viewer's
 * permission names. @param reaction only this one
 */
export async function listReactions(
  on: Queryable,
  app: App,
  viewer: Viewer | undefined,
  messageId: number,
  query: Query,
  reaction?: string,
): Promise<{ data: Reaction[]; meta: CursorMeta }> {
  const conditions = [
    sql`r.app_id = ${appKey(app.appId)}`,
    sql`r.message_id = ${messageId}`,
    ...(await visibleTo(on, app, viewer, messageId)),
    ...(reaction === undefined ? [] : [sql`r.reaction = ${reaction}`]),
  ]
  const limit = query.limit ?? limits.reactionLimit.default
  const affix = query.affix ?? 'append'
  const [found, behind] = await Promise.all([
    on.run<ReactionRow>(select([...conditions, ...beyond(query, affix)], affix, limit + 1)),
    query.id === undefined
      ? []
      : on.run<ReactionRow>(select([...conditions, ...behindOf(query.id, affix)], turned(affix), 1)),
  ])
  const hasMore = found.length > limit
  const rows = found.slice(0, limit)
  if (affix === 'prepend') rows.reverse()
  return {
    data: await show(on, app, viewer?.uid, messageId, rows),
    meta: cursorMeta({ affix, limit }, rows, { beyond: hasMore, behind: behind.length > 0 }, pointTo),
  }
}

/** @throws 404 and 403 where the viewer may not see the message or its reactions */
async function visibleTo(on: Queryable, app: App, viewer: Viewer | undefined, messageId: number): Promise<Fragment[]> {
  const message = await requireMessage(on, app, messageId, viewer)
  if (viewer === undefined) return []
  const member = await requireMessageScopePermission(on, app, viewer.uid, message, 'listReactions')
  const scopes = member && visibleReactions(viewer.policy, member.group.permissions[member.membership.scope])
  if (!scopes) return []
  return [
    sql`exists (
      select from group_members g
      where g.app_id = r.app_id
      and g.guid = ${message.receiver}
      and g.uid = r.uid
      and g.scope = any(${scopes}::text[])
    )`,
  ]
}

/** The place of a reaction in a list, as its cursor gives it. */
const pointTo = ({ id }: ReactionRow) => ({ id: String(id) })

type Affix = 'append' | 'prepend'

const turned = (affix: Affix): Affix => (affix === 'append' ? 'prepend' : 'append')

function beyond({ id }: Query, affix: Affix): Fragment[] {
  if (id === undefined) return []
  return [sql`r.id ${sql.raw(affix === 'append' ? '>' : '<')} ${id}::bigint`]
}

function behindOf(id: string, affix: Affix): Fragment[] {
  return [sql`r.id ${sql.raw(affix === 'append' ? '<=' : '>=')} ${id}::bigint`]
}

function select(conditions: Fragment[], affix: Affix, limit: number): Fragment<ReactionRow> {
  return sql<ReactionRow>`
    select r.id, r.reaction, r.uid, r.reacted_at as "reactedAt"
    from reactions r
    where ${allOf(conditions)}
    order by r.id ${sql.raw(affix === 'append' ? 'asc' : 'desc')}
    limit ${limit}`
}

async function show(
  on: Queryable,
  app: App,
  viewer: string | undefined,
  messageId: number,
  rows: readonly ReactionRow[],
): Promise<Reaction[]> {
  const users = await readUsers(
    on,
    app.appId,
    rows.map((row) => row.uid),
  )
  const shown = await showUsers(on, app.appId, viewer, [...users.values()])
  const byUid = new Map(shown.map((user) => [user.uid, user]))
  return rows.map(({ id, reaction, uid, reactedAt }) => ({
    id: String(id),
    messageId: String(messageId),
    reaction,
    uid,
    reactedAt,
    reactedBy: byUid.get(uid) ?? showDeletedUser(uid),
  }))
}
