import { systemUid } from '../../chat/apps.ts'
import {
  type GroupParticipant,
  lockConversations,
  resumeMembers,
  suspendMembers,
} from '../../chat/conversations/membership.ts'
import { forgetDevicesOfUsers } from '../../chat/notifications/push-tokens.ts'
import { endCorrespondences } from '../../chat/notifications/reply-address.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

const deactivate = statement(`
  update users u
  set deactivated_at = $3,
    updated_at = $3,
    tokens_after = $3
  from (
    select uid
    from users
    where app_id = $1
    and uid = any($2::text[])
    and deactivated_at is null
    order by uid
    for no key update
  ) found
  where u.app_id = $1
  and u.uid = found.uid
  returning u.uid`)

const reactivate = statement(`
  update users u
  set deactivated_at = null,
    updated_at = $3
  from (
    select uid
    from users
    where app_id = $1
    and uid = any($2::text[])
    and deactivated_at is not null
    order by uid
    for no key update
  ) found
  where u.app_id = $1
  and u.uid = found.uid
  returning u.uid`)

const removeTokens = statement(`
  delete from auth_tokens
  where app_id = $1
  and uid = any($2::text[])`)

const selectKnown = statement(`
  select uid
  from users
  where app_id = $1
  and uid = any($2::text[])`)

const selectConversations = statement(`
  select m.guid, m.uid, g.conversation
  from group_members m
  join groups g on g.app_id = m.app_id and g.guid = m.guid
  where m.app_id = $1
  and m.uid = any($2::text[])`)

const recount = statement(`
  update groups g
  set members_count = g.members_count + $3 * changed.members,
    updated_at = $4
  from (select guid, count(*) as members from unnest($2::text[]) as side(guid) group by guid) changed
  where g.app_id = $1
  and g.guid = changed.guid`)

/**
 * Deactivates users: their tokens are gone, their memberships stay but are not counted, in groups and in receipts.
 * @returns those of them who are deactivated now, in the order given; unknown ones and the system user are left out
 */
export function deactivateUsers(
  { database, events }: Pick<Context, 'database' | 'events'>,
  appId: number,
  sent: readonly string[],
): Promise<string[]> {
  const uids = read(sent).filter((uid) => uid !== systemUid)
  return database.transaction(async (tx) => {
    const now = Math.floor(Date.now() / 1000)
    const changed = await tx.query<{ uid: string }>(deactivate, [appId, uids, now])
    const deactivated = changed.map(({ uid }) => uid)
    await tx.query(removeTokens, [appId, deactivated])
    await forgetDevicesOfUsers(tx, appId, deactivated)
    await endCorrespondences(tx, appId, deactivated)
    const states = await lockMemberships(tx, appId, deactivated)
    if (states.length > 0) {
      await suspendMembers(events, tx, appId, states, now)
      await tx.query(recount, [appId, states.map(({ guid }) => guid), -1, now])
    }
    const known = await knownAmong(tx, appId, uids)
    // Also of those who were deactivated before: the answer to that may not have come, and with it what was to be told.
    tx.afterCommit(() => {
      for (const uid of known) events.publish(appId, { control: 'sessions_ended', uid })
    })
    return known
  })
}

/**
 * Brings deactivated users back: memberships and marks are as they left them.
 * @returns those who came back, and those who were not deactivated to begin with, in the order given
 */
export function reactivateUsers(
  { database, events }: Pick<Context, 'database' | 'events'>,
  appId: number,
  sent: readonly string[],
): Promise<{ reactivatedUids: string[]; nonDeactivatedUids: string[] }> {
  const uids = read(sent)
  return database.transaction(async (tx) => {
    const now = Math.floor(Date.now() / 1000)
    const rows = await tx.query<{ uid: string }>(reactivate, [appId, uids, now])
    const changed = new Set(rows.map(({ uid }) => uid))
    const states = await lockMemberships(tx, appId, [...changed])
    if (states.length > 0) {
      await resumeMembers(events, tx, appId, states, now)
      await tx.query(recount, [appId, states.map(({ guid }) => guid), 1, now])
    }
    const known = await knownAmong(tx, appId, uids)
    return {
      reactivatedUids: known.filter((uid) => changed.has(uid)),
      nonDeactivatedUids: known.filter((uid) => !changed.has(uid)),
    }
  })
}

/**
 * The memberships of users whose rows are locked, so that they do not join anything meanwhile, with the conversations of
 * the groups locked. Read twice: who was kicked while this waited for a lock is no member any more.
 */
async function lockMemberships(tx: Transaction, appId: number, uids: readonly string[]): Promise<GroupParticipant[]> {
  if (uids.length === 0) return []
  const before = await tx.query<GroupParticipant>(selectConversations, [appId, uids])
  if (before.length === 0) return []
  const locked = new Set(before.map(({ conversation }) => conversation))
  await lockConversations(tx, appId, [...locked])
  const states = await tx.query<GroupParticipant>(selectConversations, [appId, uids])
  return states.filter(({ conversation }) => locked.has(conversation))
}

async function knownAmong(tx: Transaction, appId: number, uids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ uid: string }>(selectKnown, [appId, uids])
  const known = new Set(rows.map(({ uid }) => uid))
  return uids.filter((uid) => known.has(uid))
}

function read(sent: readonly string[]): string[] {
  return [...new Set(sent.map((uid) => uid.toLowerCase()))]
}
