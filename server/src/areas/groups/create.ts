import { type AnswerOf, type BodyOf, type createGroup, hasReached } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { createGroupConversation, joinConversation } from '../../chat/conversations/membership.ts'
import { groupExists } from '../../chat/groups/access.ts'
import { emptyGroupPassword, passwordReader } from '../../chat/groups/password.ts'
import { type GroupRow, groupColumns, showGroup } from '../../chat/groups/rows.ts'
import type { RolePolicy } from '../../chat/roles/policies.ts'
import { requireListed } from '../../chat/roles/rules.ts'
import { unknownUser } from '../../chat/users/require.ts'
import { nameKey, readUsers, type UserRow } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  type Addition,
  type FirstMembers,
  type GroupLimits,
  holdUsers,
  noticeMembers,
  planAdditions,
  raiseMemberEvents,
  readAdditions,
  readTargets,
  readUnwilling,
  requireFirstMemberFeatures,
  storeFirstMembers,
  type Target,
  tooManyGroups,
} from '../group-members/index.ts'
import { checkProfile, withoutRepeats } from './profile.ts'

type NewGroup = BodyOf<typeof createGroup>

const insert = statement(`
  insert into groups (
    app_id, guid, name, name_key, type, password_digest, icon, description, owner, metadata, tags, members_count,
    conversation, created_at
  )
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $13)
  on conflict (app_id, guid) do nothing
  returning guid`)

const setConversation = statement(`
  update groups g
  set conversation = $3
  where g.app_id = $1
  and g.guid = $2
  returning ${groupColumns}`)

/**
 * Makes a group with its owner and first members. No action message is stored of it; members who are connected are sent
 * one.
 * @param user the acting user, who becomes the owner
 * @param policy of their role, which must be allowed to make groups of this type, and to add and ban members as asked
 * @throws 409 `ERR_GUID_ALREADY_EXISTS`, 404 `ERR_UID_NOT_FOUND` for the owner, 400 `ERR_EMPTY_GROUP_PASS`
 */
export async function makeGroup(
  context: Context,
  appId: number,
  user: UserRow | undefined,
  group: NewGroup,
  policy?: RolePolicy,
): Promise<AnswerOf<typeof createGroup>['data']> {
  checkProfile(group)
  if (group.type === 'password' && !group.password) throw emptyGroupPassword(group.guid)
  const { maxMembersPerRequest } = await context.settings.of(appId)
  const additions = readAdditions(group.members ?? {}, 'body/members', maxMembersPerRequest)
  requireListed(policy, 'createGroup.allowedGroupTypes', group.type)
  requireFirstMemberFeatures(policy, group.members ?? {})
  const owner = user?.uid ?? group.owner?.toLowerCase() ?? systemUid

  const guid = group.guid.toLowerCase()
  const kept =
    group.type === 'password'
      ? await context.groupPasswords.hash(passwordReader(context.database, appId, user?.uid), group.password ?? '')
      : null

  return context.database.transaction(async (tx) => {
    const now = Math.floor(Date.now() / 1000)
    const plan = await planMembers(context, tx, appId, { guid, owner, by: user }, additions)
    const row = await store(tx, appId, owner, group, kept, plan.everybody.length, now)

    const outcomes = await storeFirstMembers(context, tx, appId, row, plan, user?.uid ?? systemUid, now)
    const uids = plan.everybody.map(({ uid }) => uid)
    if (uids.length > 0) await joinConversation(tx, appId, row.conversation, uids, now)
    const { conversation } = row
    await context.events.raise(tx, appId, [{ trigger: 'group_created', guid, conversation, owner, uids }])
    await notifyMembers(context, tx, appId, row, { by: user, uids, now })
    const banned = plan.bans.map(({ uid }) => uid)
    await raiseMemberEvents(context.events, tx, appId, row, {
      action: 'banned',
      by: user?.uid ?? systemUid,
      uids: banned,
    })
    const shown = showGroup(row, owner === systemUid ? undefined : { scope: 'admin', joinedAt: now })
    return { ...shown, ...(group.members && { members: { data: outcomes } }) }
  })
}

/** Sends the first members, but for the owner, word that they were added. */
async function notifyMembers(
  { events }: Context,
  tx: Transaction,
  appId: number,
  group: GroupRow,
  { by, uids, now }: { by: UserRow | undefined; uids: readonly string[]; now: number },
): Promise<void> {
  const added = uids.filter((uid) => uid !== group.owner)
  if (added.length === 0 || !events.bus.isHeard) return
  const users = await readUsers(tx, appId, [...added, systemUid])
  const actor = by ?? users.get(systemUid)
  if (actor === undefined) throw unknownUser(systemUid)
  const on = added.flatMap((uid) => users.get(uid) ?? [])
  await noticeMembers(events, tx, appId, group, { action: 'added', by: actor, on }, now)
}

/**
 * Who becomes a member: first the owner, as an admin whichever list names them, then the others as far as allowed. An owner
 * whom no list names becomes one all the same, and has no outcome.
 */
async function planMembers(
  context: Context,
  tx: Transaction,
  appId: number,
  { guid, owner, by }: { guid: string; owner: string; by: UserRow | undefined },
  additions: readonly Addition[],
): Promise<FirstMembers> {
  const named = additions.map(({ uid }) => uid)
  const uids = owner === systemUid ? named : [owner, ...named]
  await holdUsers(tx, appId, uids)
  const unwilling = await readUnwilling(context, tx, appId, by, uids)
  const limits = await context.settings.of(appId)
  const targets = await readTargets(tx, appId, guid, uids)
  const group = { guid, owner, permissions: {}, membersCount: 0 }
  if (owner === systemUid) {
    const plan = planAdditions(group, { kind: 'app' }, targets, additions, unwilling, limits)
    return { ...plan, everybody: plan.members }
  }

  requireOwner(owner, targets.get(owner), limits)
  const ownership = { uid: owner, scope: 'admin' } as const
  const addsOwner = ({ uid, scope }: Addition) => uid === owner && scope !== undefined
  const others = additions.filter((addition) => !addsOwner(addition))
  const plan = planAdditions({ ...group, membersCount: 1 }, { kind: 'app' }, targets, others, unwilling, limits)
  const asNamed = additions.filter(addsOwner).map(({ list }) => ({ ...ownership, list }))
  return { ...plan, members: [...asNamed, ...plan.members], everybody: [ownership, ...plan.members] }
}

function requireOwner(uid: string, target: Target | undefined, { maxGroupsPerUser }: GroupLimits): void {
  const user = target?.user
  if (target === undefined || user === undefined || user.deactivatedAt !== null) throw unknownUser(uid)
  if (hasReached(maxGroupsPerUser, target.groups)) throw tooManyGroups(uid, maxGroupsPerUser)
}

async function store(
  tx: Transaction,
  appId: number,
  owner: string,
  group: NewGroup,
  kept: Buffer | null,
  membersCount: number,
  now: number,
): Promise<GroupRow> {
  const guid = group.guid.toLowerCase()
  const inserted = await tx.query(insert, [
    appId,
    guid,
    group.name,
    nameKey(group.name),
    group.type,
    kept,
    group.icon ?? null,
    group.description || null,
    owner,
    group.metadata === undefined ? null : JSON.stringify(group.metadata),
    withoutRepeats(group.tags ?? []),
    membersCount,
    now,
  ])
  if (inserted.length === 0) throw groupExists(guid)
  const conversation = await createGroupConversation(tx, appId, guid, now)
  const [row] = await tx.query<GroupRow>(setConversation, [appId, guid, conversation])
  if (row === undefined) throw new Error(`the group ${guid} vanished while it was made`)
  return row
}
