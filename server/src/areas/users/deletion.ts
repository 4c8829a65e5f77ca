import { randomBytes } from 'node:crypto'
import { signErasure } from '../../chat/audit/redaction.ts'
import { raiseReceipts } from '../../chat/conversations/group-receipts.ts'
import { lockConversations } from '../../chat/conversations/membership.ts'
import { type ErasedUser, erase } from '../../chat/erasure.ts'
import type { App } from '../../chat/identity.ts'
import { keepErased } from '../../chat/users/erased.ts'
import { noteFormerUser } from '../../chat/users/former.ts'
import { unknownUser } from '../../chat/users/require.ts'
import { type UserRow, userColumns } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import type { ChatEvent } from '../../events/types.ts'
import type { Transaction } from '../../store/database.ts'
import { takeTime } from '../../store/held.ts'
import { statement } from '../../store/statement.ts'
import { eraseHeldOf } from '../messages/index.ts'
import { certify, readErasedIds } from './certificate.ts'

/** Waits for whoever gives the user something new at this moment (`keepActive`). */
const lock = statement(`
  select ${userColumns}
  from users u
  where u.app_id = $1
  and u.uid = $2
  for update`)

const selectPairs = statement(`
  select key, second as other
  from conversations
  where app_id = $1
  and kind = 1
  and first = $2
  union
  select key, first as other
  from conversations
  where app_id = $1
  and kind = 1
  and second = $2`)

const selectOwned = statement(`
  select guid
  from groups
  where app_id = $1
  and owner = $2`)

/** Who has blocked them, and whom they have. */
const selectApart = statement(`
  select blocked as uid
  from blocks
  where app_id = $1
  and blocker = $2
  union
  select blocker as uid
  from blocks
  where app_id = $1
  and blocked = $2`)

const selectOwners = statement(`
  select guid, conversation, owner
  from groups
  where app_id = $1
  and guid = any($2::text[])
  order by guid`)

/**
 * The groups with any trace of the user: current or former member, banned, who banned others, owner, sender of imported messages, or
 * named in what an action message tells, as who was banned and is so no more. By the indexes `group_bans_by_banner`,
 * `messages_about_users` and `messages_by_others`.
 */
const selectGroups = statement(`
  select c.key, c.first as guid, m.uid is not null as "isMember"
  from (
    select conversation from conversation_states where app_id = $1 and uid = $2
    union
    select g.conversation
    from group_bans b
    join groups g on g.app_id = b.app_id
      and g.guid = b.guid
    where b.app_id = $1
    and b.uid = $2
    union
    select g.conversation
    from group_bans b
    join groups g on g.app_id = b.app_id
      and g.guid = b.guid
    where b.app_id = $1
    and b.banned_by = $2
    union
    select conversation from groups where app_id = $1 and owner = $2
    union
    select conversation from messages where app_id = $1 and sender = $2 and kind = 2
    union
    select conversation
    from messages
    where app_id = $1
    and category = 'action'
    and type = 'groupMember'
    and data #>> '{entities,on,entity,uid}' = $2
    union
    select conversation
    from messages
    where app_id = $1
    and category = 'action'
    and type = 'groupMember'
    and data #>> '{entities,by,entity,uid}' = $2
    and data #>> '{entities,by,entity,uid}' <> sender
  ) own
  join conversations c on c.app_id = $1
    and c.key = own.conversation
    and c.kind = 2
  left join group_members m on m.app_id = $1
    and m.guid = c.first
    and m.uid = $2`)

/**
 * Deletes a user permanently, in one transaction: profile, tokens, relations, memberships, and one-to-one conversations
 * with all their messages, for both sides. Their messages in groups stay, but for those that moderation holds; groups they
 * own pass to the oldest admin, else to the system user.
 *
 * Digests of their uid and muids keep an import from bringing them back, and a certificate says what was done.
 *
 * The user must be deactivated before, in a transaction of its own: then nothing new arrives while this runs, and nobody
 * who writes to them has to wait for it.
 * @param uid in lower case
 * @throws 404 `ERR_UID_NOT_FOUND`
 */
export async function deleteForGood(
  context: Pick<Context, 'database' | 'events' | 'tables' | 'audit' | 'secrets' | 'log'>,
  app: App,
  uid: string,
): Promise<void> {
  const { database, events, tables, audit, secrets, log } = context
  const { appId } = app
  await database.longTransaction(async (tx) => {
    const user = await lockErased(tx, appId, uid)
    await tx.query(takeTime)
    const owned = await tx.query<{ guid: string }>(selectOwned, [appId, uid])
    const apart = (await tx.query<{ uid: string }>(selectApart, [appId, uid])).map((other) => other.uid)
    const erasedIds = await readErasedIds(tx, user)
    const held = await eraseHeldOf({ tables }, tx, app, uid, user.now)
    const tally = await erase(tx, tables, 'ofUser', user)
    // Messages that only this user had not read have now been read by all.
    await raiseReceipts(events, tx, appId, user.guids, user.now)
    const passedOn = owned.map(({ guid }) => guid)
    await events.raise(tx, appId, await transfers(tx, appId, passedOn, uid))
    await noteFormerUser(tx, appId, uid)
    await keepErased(tx, secrets, appId, 'uid', [uid])
    await keepErased(tx, secrets, appId, 'muid', erasedIds.muids)
    const unclean = await certify(context, tx, user, erasedIds, { tally, held })
    const auditEntries = await signErasure(tx, secrets, appId, user.stub)
    await audit.record(tx, appId, { action: 'user_deleted', type: 'user', target: uid, details: { auditEntries } })
    tx.afterCommit(() => {
      if (unclean.length > 0) log.error({ appId, tables: unclean }, 'an erasure left something behind')
      events.publish(appId, { control: 'sessions_ended', uid })
      // Not an event that anybody reads: whoever keeps blocks in memory forgets those.
      if (apart.length > 0) events.publish(appId, { trigger: 'user_unblocked', by: uid, uids: apart })
    })
  })
}

/** Groups that have passed from a user to the owners that they have now. */
async function transfers(
  tx: Transaction,
  appId: number,
  guids: readonly string[],
  oldOwner: string,
): Promise<ChatEvent[]> {
  if (guids.length === 0) return []
  const groups = await tx.query<{ guid: string; conversation: number; owner: string }>(selectOwners, [appId, guids])
  return groups.map((group) => ({ trigger: 'group_owner_transferred', ...group, oldOwner }))
}

/** Finds everything of the user, with the user and all their conversations locked. */
async function lockErased(tx: Transaction, appId: number, uid: string): Promise<ErasedUser> {
  const [user] = await tx.query<UserRow>(lock, [appId, uid])
  if (user === undefined) throw unknownUser(uid)
  const pairs = await tx.query<{ key: number; other: string }>(selectPairs, [appId, uid])
  const selectHisGroups = () => tx.query<{ key: number; guid: string; isMember: boolean }>(selectGroups, [appId, uid])
  const found = [...pairs, ...(await selectHisGroups())]
  await lockConversations(
    tx,
    appId,
    found.map(({ key }) => key),
  )
  // Who was kicked while this waited for a lock is no member any more.
  const groups = await selectHisGroups()
  const memberships = groups.filter(({ isMember }) => isMember)
  return {
    appId,
    uid,
    stub: `~${randomBytes(4).toString('hex')}`,
    now: Math.floor(Date.now() / 1000),
    pairs: pairs.map(({ key }) => key),
    others: pairs.map(({ other }) => other),
    groups: groups.map(({ key }) => key),
    guids: groups.map(({ guid }) => guid),
    counted: user.deactivatedAt === null ? memberships.map(({ guid }) => guid) : [],
  }
}
