import type { BodyOf, updateGroup } from '@parley/contract'
import { lockGroup, unknownGroup } from '../../chat/groups/access.ts'
import { emptyGroupPassword, passwordReader } from '../../chat/groups/password.ts'
import { requireScopePermission } from '../../chat/groups/permissions.ts'
import { type GroupRow, groupColumns } from '../../chat/groups/rows.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { requireListed } from '../../chat/roles/rules.ts'
import { nameKey, type UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { type GroupActor, holdUsers, requireActor } from '../group-members/index.ts'
import { appointOwner } from './owner.ts'
import { checkProfile, withoutRepeats } from './profile.ts'

type Change = BodyOf<typeof updateGroup>

const update = statement(`
  update groups g
  set name = $3,
    name_key = $4,
    type = $5,
    password_digest = case when $5 <> 'password' then null else coalesce($6, g.password_digest) end,
    icon = $7,
    description = $8,
    metadata = $9,
    tags = $10,
    updated_at = $11,
    updated_by = $12
  where g.app_id = $1
  and g.guid = $2
  returning ${groupColumns}`)

/**
 * Changes a group. Where a field is both given and unset, it is unset. The owner is changed by the app only.
 * @param user the acting user, who needs the permission `editGroup`
 * @param policy of their role, which must be allowed to make groups of a type to which this one changes
 * @returns the group after it, and who acted
 */
export async function changeGroup(
  context: Context,
  appId: number,
  guid: string,
  user: UserRow | undefined,
  change: Change,
  policy?: RolePolicy,
): Promise<{ group: GroupRow; actor: GroupActor }> {
  checkProfile(change)
  const { password } = change
  const kept = password
    ? await context.groupPasswords.hash(passwordReader(context.database, appId, user?.uid), password)
    : null
  return context.database.transaction(async (tx) => {
    const owner = user === undefined ? change.owner?.toLowerCase() : undefined
    if (owner !== undefined) await holdUsers(tx, appId, [owner])
    const group = await lockGroup(tx, appId, guid)
    const actor = await requireActor(tx, appId, group, user)
    if (actor.kind === 'member') requireScopePermission(group, actor.membership, 'editGroup')
    const { type = group.type } = change
    if (type !== group.type) requireListed(policy, 'createGroup.allowedGroupTypes', type)
    const owned = owner === undefined ? group : await appointOwner(context, tx, appId, group, owner, actor)
    const stored = await store(tx, appId, owned, change, kept, actor.user.uid)
    if (differs(owned, stored) || change.password !== undefined) {
      await context.events.raise(tx, appId, [
        { trigger: 'group_updated', guid: stored.guid, conversation: stored.conversation },
      ])
    }
    return { group: stored, actor }
  })
}

/** Was anything changed that others see? A repeated update only moves its time. */
function differs(before: GroupRow, after: GroupRow): boolean {
  const shownOf = ({ name, type, icon, description, metadata, tags }: GroupRow) =>
    JSON.stringify([name, type, icon, description, metadata, tags])
  return shownOf(before) !== shownOf(after)
}

async function store(
  tx: Transaction,
  appId: number,
  group: GroupRow,
  change: Change,
  kept: Buffer | null,
  by: string,
): Promise<GroupRow> {
  const { owner: _, ...fields } = change
  if (Object.values(fields).every((value) => value === undefined)) return group

  const { type = group.type } = change
  if (type === 'password' && !change.password && (group.type !== 'password' || change.password === '')) {
    throw emptyGroupPassword(group.guid)
  }
  const unset = (field: 'icon' | 'description' | 'metadata') => change.unset?.includes(field) === true
  const metadata = unset('metadata') ? null : (change.metadata ?? group.metadata)
  const name = change.name ?? group.name
  const [row] = await tx.query<GroupRow>(update, [
    appId,
    group.guid,
    name,
    nameKey(name),
    type,
    kept,
    unset('icon') ? null : (change.icon ?? group.icon),
    unset('description') ? null : (change.description ?? group.description) || null,
    metadata === null ? null : JSON.stringify(metadata),
    change.tags === undefined ? group.tags : withoutRepeats(change.tags),
    Math.floor(Date.now() / 1000),
    by,
  ])
  if (row === undefined) throw unknownGroup(group.guid)
  return row
}
