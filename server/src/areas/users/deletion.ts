import type { Database, Transaction } from '../../store/database.ts'
import { type Statement, statement } from '../../store/statement.ts'
import { systemUid } from '../apps/index.ts'
import { lockConversations, settle } from '../conversations/index.ts'
import { unknownUser } from './require.ts'
import { showDeletedUser, type UserRow, userColumns } from './rows.ts'

// Removing a user for good reaches into the tables of every area: this is the one list of the places where something of
// him lives, and the test of it looks through all tables for what was forgotten.

const lock = statement(`
  select ${userColumns}
  from users u
  where u.app_id = $1
  and u.uid = $2
  for update`)

const selectPairs = statement(`
  select key, case when first = $2 then second else first end as other
  from conversations
  where app_id = $1
  and kind = 1
  and first = $2
  union
  select key, case when first = $2 then second else first end as other
  from conversations
  where app_id = $1
  and kind = 1
  and second = $2`)

/** The groups in which he left anything: a member of today or of once, banned, owner, or sender of imported messages. */
const selectGroups = statement(`
  select c.key, c.first as guid, m.uid is not null as "isMember"
  from (
    select conversation from conversation_states where app_id = $1 and uid = $2
    union
    select g.conversation
    from group_bans b
    join groups g on g.app_id = b.app_id and g.guid = b.guid
    where b.app_id = $1
    and b.uid = $2
    union
    select conversation from groups where app_id = $1 and owner = $2
    union
    select conversation from messages where app_id = $1 and sender = $2 and kind = 2
  ) own
  join conversations c on c.app_id = $1 and c.key = own.conversation and c.kind = 2
  left join group_members m on m.app_id = $1 and m.guid = c.first and m.uid = $2`)

interface Trace {
  readonly appId: number
  readonly uid: string
  readonly now: number
  /** Keys of his one-to-one conversations, and with whom each is. */
  readonly pairs: readonly number[]
  readonly others: readonly string[]
  /** Keys and guids of the groups in which he left anything. */
  readonly groups: readonly number[]
  readonly guids: readonly string[]
  /** Those of them in which he is a counted member. */
  readonly counted: readonly string[]
}

interface Place {
  readonly statement: Statement
  readonly values: (trace: Trace) => unknown[]
}

const place = (text: string, values: Place['values']): Place => ({ statement: statement(text), values })
const ofHim = ({ appId, uid }: Trace) => [appId, uid]
const inHisGroups = ({ appId, uid, guids }: Trace) => [appId, uid, guids]

/**
 * In this order: a mark that is being set at this moment holds the row of the state and is waited for there, so the steps
 * that it leaves are seen by the statement after it.
 */
const places: readonly Place[] = [
  // His one-to-one conversations, for both sides.
  place(
    `delete from conversation_states s
    using unnest($2::bigint[], $3::text[]) as pair(conversation, other)
    where s.app_id = $1
    and s.conversation = pair.conversation
    and s.uid = pair.other`,
    ({ appId, pairs, others }) => [appId, pairs, others],
  ),
  place('delete from conversation_states where app_id = $1 and uid = $2', ofHim),
  place('delete from receipt_steps where app_id = $1 and conversation = any($2::bigint[])', ({ appId, pairs }) => [
    appId,
    pairs,
  ]),
  place('delete from messages where app_id = $1 and conversation = any($2::bigint[])', ({ appId, pairs }) => [
    appId,
    pairs,
  ]),
  place('delete from conversations where app_id = $1 and key = any($2::bigint[])', ({ appId, pairs }) => [
    appId,
    pairs,
  ]),

  // Groups: his messages stay, with him as a deleted user.
  place('delete from group_members where app_id = $1 and uid = $2', ofHim),
  place('delete from group_bans where app_id = $1 and uid = $2', ofHim),
  place(
    `update group_bans
    set banned_by = '${systemUid}'
    where app_id = $1
    and guid = any($3::text[])
    and banned_by = $2`,
    inHisGroups,
  ),
  place(
    `update groups
    set members_count = members_count - 1,
      updated_at = $3
    where app_id = $1
    and guid = any($2::text[])`,
    ({ appId, counted, now }) => [appId, counted, now],
  ),
  place(
    `update groups g
    set owner = coalesce(
        (
          select m.uid
          from group_members m
          join users u on u.app_id = m.app_id
            and u.uid = m.uid
          where m.app_id = g.app_id
          and m.guid = g.guid
          and m.scope = 'admin'
          and u.deactivated_at is null
          order by m.joined_at, m.uid
          limit 1
        ),
        '${systemUid}'
      ),
      updated_at = $3,
      updated_by = '${systemUid}'
    where g.app_id = $1
    and g.owner = $2`,
    ({ appId, uid, now }) => [appId, uid, now],
  ),
  place(
    `update groups
    set updated_by = '${systemUid}'
    where app_id = $1
    and guid = any($3::text[])
    and updated_by = $2`,
    inHisGroups,
  ),
  place(
    `delete from receipt_steps
    where app_id = $1
    and conversation = any($3::bigint[])
    and uid = $2`,
    ({ appId, uid, groups }) => [appId, uid, groups],
  ),
  place(
    `update conversations
    set last_sender = null
    where app_id = $1
    and key = any($3::bigint[])
    and last_sender = $2`,
    ({ appId, uid, groups }) => [appId, uid, groups],
  ),
  // Action messages of group events keep their entities; what they tell of him is reduced to what his messages tell.
  ...['by', 'on'].map((part) =>
    place(
      `update messages
      set data = jsonb_set(data::jsonb, '{entities,${part},entity}', $4::jsonb)::json
      where app_id = $1
      and conversation = any($3::bigint[])
      and not countable
      and category = 'action'
      and type = 'groupMember'
      and data #>> '{entities,${part},entity,uid}' = $2`,
      ({ appId, uid, groups }) => [appId, uid, groups, JSON.stringify(showDeletedUser(uid))],
    ),
  ),

  // Himself, and how others stand to him.
  place('delete from auth_tokens where app_id = $1 and uid = $2', ofHim),
  place(
    `delete from friends f
    using friends mine
    where mine.app_id = $1
    and mine.uid = $2
    and f.app_id = mine.app_id
    and f.uid = mine.friend
    and f.friend = mine.uid`,
    ofHim,
  ),
  place('delete from friends where app_id = $1 and uid = $2', ofHim),
  place('delete from blocks where app_id = $1 and blocker = $2', ofHim),
  place('delete from blocks where app_id = $1 and blocked = $2', ofHim),
  place('delete from users where app_id = $1 and uid = $2', ofHim),
]

/**
 * Removes a user for good, in one transaction: profile, tokens, relations, memberships, and his one-to-one conversations
 * with all their messages, for both sides. His messages in groups stay; groups that he owned pass to their oldest admin,
 * else to the system user. @param uid in lower case @throws 404 `ERR_UID_NOT_FOUND`
 */
export async function deleteForGood(database: Database, appId: number, uid: string): Promise<void> {
  await database.transaction(async (tx) => {
    const trace = await lockTrace(tx, appId, uid)
    for (const { statement, values } of places) await tx.query(statement, values(trace))
    await settle(tx, appId, trace.guids, trace.now)
  })
}

/** Finds what the places need to know, with him and all his conversations locked. */
async function lockTrace(tx: Transaction, appId: number, uid: string): Promise<Trace> {
  const [user] = await tx.query<UserRow>(lock, [appId, uid])
  if (user === undefined) throw unknownUser(uid)
  const pairs = await tx.query<{ key: number; other: string }>(selectPairs, [appId, uid])
  const readGroups = () => tx.query<{ key: number; guid: string; isMember: boolean }>(selectGroups, [appId, uid])
  const found = await readGroups()
  await lockConversations(
    tx,
    appId,
    [...pairs, ...found].map(({ key }) => key),
  )
  // Who was kicked while this waited for a lock is no member any more.
  const groups = await readGroups()
  return {
    appId,
    uid,
    now: Math.floor(Date.now() / 1000),
    pairs: pairs.map(({ key }) => key),
    others: pairs.map(({ other }) => other),
    groups: groups.map(({ key }) => key),
    guids: groups.map(({ guid }) => guid),
    counted: user.deactivatedAt === null ? groups.filter(({ isMember }) => isMember).map(({ guid }) => guid) : [],
  }
}
