import type { Message } from '@parley/contract'
import type { Events } from '../../events/index.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { raiseReceipts } from './group-receipts.ts'

const insertGroup = statement(`
  insert into conversations (app_id, kind, first, second, created_at)
  values ($1, 2, $2, '', $3)
  returning key`)

const insertGroups = statement(`
  insert into conversations (app_id, kind, first, second, created_at)
  select $1, 2, made.guid, '', made.created_at
  from unnest($2::text[], $3::bigint[]) as made(guid, created_at)
  order by made.guid collate "C"
  returning key, first as guid`)

const lock = statement(`
  select key
  from conversations
  where app_id = $1
  and key = $2
  for no key update`)

const lockMany = statement(`
  select key
  from conversations
  where app_id = $1
  and key = any($2::bigint[])
  order by key
  for no key update`)

const lockOf = statement(`
  select key
  from conversations
  where app_id = $1
  and key = (select conversation from messages where app_id = $1 and id = $2)
  for no key update`)

const join = statement(`
  insert into conversation_states (
    app_id, uid, conversation, member, delivered_sent_at, delivered_id, read_sent_at, read_id, unread_sent_at, unread_id,
    counted_sent_at, counted_id, counted_version, joined_sent_at, joined_id
  )
  select c.app_id, joining.uid, c.key, true, l.sent_at, l.id, l.sent_at, l.id, l.sent_at, l.id, l.sent_at, l.id, c.version,
    coalesce(joining.sent_at, greatest(l.sent_at, $6::bigint)), coalesce(joining.id, l.id + 1)
  from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) as joining(uid, conversation, sent_at, id)
  join conversations c on c.app_id = $1 and c.key = joining.conversation
  cross join lateral (select coalesce(c.last_sent_at, 0) as sent_at, coalesce(c.last_id, 0) as id) l
  on conflict (app_id, uid, conversation) do update
  set member = true,
    delivered_sent_at = excluded.delivered_sent_at, delivered_id = excluded.delivered_id,
    read_sent_at = excluded.read_sent_at, read_id = excluded.read_id,
    unread_sent_at = excluded.unread_sent_at, unread_id = excluded.unread_id,
    counted_sent_at = excluded.counted_sent_at, counted_id = excluded.counted_id,
    counted_unread = 0, counted_version = excluded.counted_version,
    joined_sent_at = excluded.joined_sent_at, joined_id = excluded.joined_id`)

const leave = statement(`
  update conversation_states
  set member = false
  where app_id = $1
  and conversation = $2
  and uid = any($3::text[])
  and member`)

const suspend = statement(`
  update conversation_states s
  set member = false
  from unnest($2::text[], $3::bigint[]) as suspended(uid, conversation)
  where s.app_id = $1
  and s.uid = suspended.uid
  and s.conversation = suspended.conversation
  and s.member`)

const resume = statement(`
  insert into conversation_states (
    app_id, uid, conversation, member, delivered_sent_at, delivered_id, read_sent_at, read_id, unread_sent_at, unread_id,
    counted_sent_at, counted_id, counted_version
  )
  select c.app_id, resumed.uid, c.key, true, l.sent_at, l.id, l.sent_at, l.id, l.sent_at, l.id, l.sent_at, l.id, c.version
  from unnest($2::text[], $3::bigint[]) as resumed(uid, conversation)
  join conversations c on c.app_id = $1 and c.key = resumed.conversation
  cross join lateral (select coalesce(c.last_sent_at, 0) as sent_at, coalesce(c.last_id, 0) as id) l
  on conflict (app_id, uid, conversation) do update
  set member = true`)

const start = statement(`
  with wanted as (
    select least(p.uid collate "C", $2::text collate "C") as first, greatest(p.uid collate "C", $2::text collate "C") as second
    from unnest($3::text[]) as p(uid)
  ),
  started as (
    insert into conversations (app_id, kind, first, second, created_at, begun_at, listed_sent_at, listed_id)
    select $1::int, 1, first, second, $4::bigint, $4::bigint, $4::bigint, 0
    from wanted
    order by first, second
    on conflict (app_id, kind, first, second) do update
    set begun_at = coalesce(conversations.begun_at, excluded.begun_at),
      listed_sent_at = coalesce(conversations.listed_sent_at, excluded.listed_sent_at),
      listed_id = coalesce(conversations.listed_id, 0)
    returning key, first, second
  )
  insert into conversation_states (app_id, uid, conversation)
  select $1::int, first, key from started
  union
  select $1::int, second, key from started
  on conflict do nothing`)

/**
 * Lets a user have conversations with others before the first message; those that exist stay as they are. Their place in lists has
 * no message, that is the id 0, and whatever is said or imported takes it.
 */
export async function startConversations(
  tx: Transaction,
  appId: number,
  uid: string,
  peers: readonly string[],
  now: number,
): Promise<void> {
  await tx.query(start, [appId, uid, peers, now])
}

/** Makes the conversation of a new group; for the contract it exists from the first message on. @returns its key */
export async function createGroupConversation(
  tx: Transaction,
  appId: number,
  guid: string,
  now: number,
): Promise<number> {
  const [row] = await tx.query<{ key: number }>(insertGroup, [appId, guid, now])
  if (row === undefined) throw new Error(`the conversation of the group ${guid} was not made`)
  return row.key
}

/** Makes the conversations of several new groups. @returns their keys by guid */
export async function createGroupConversations(
  tx: Transaction,
  appId: number,
  groups: ReadonlyArray<{ readonly guid: string; readonly createdAt: number }>,
): Promise<Map<string, number>> {
  const rows = await tx.query<{ guid: string; key: number }>(insertGroups, [
    appId,
    groups.map(({ guid }) => guid),
    groups.map(({ createdAt }) => createdAt),
  ])
  return new Map(rows.map(({ guid, key }) => [guid, key]))
}

/**
 * Takes the lock under which everything in a conversation happens one after the other: sends, joins, kicks, bans,
 * deletions. To be the first statement that touches it, since what is read afterwards is then current.
 * @returns whether it is there; one that was being removed is waited for, and gone then
 */
export async function lockConversation(tx: Transaction, appId: number, conversation: number): Promise<boolean> {
  return (await tx.query(lock, [appId, conversation])).length > 0
}

/**
 * Takes the lock of a message's conversation, under which the message is deleted, decided about or removed for good: whoever writes
 * something beside it looks whether it is there after that.
 */
export async function lockConversationOf(tx: Transaction, appId: number, message: number): Promise<void> {
  await tx.query(lockOf, [appId, message])
}

/** Takes the locks of several conversations, in the order in which everybody takes them. */
export async function lockConversations(
  tx: Transaction,
  appId: number,
  conversations: readonly number[],
): Promise<void> {
  await tx.query(lockMany, [appId, conversations])
}

/**
 * Gives new members their participant state of a group's conversation, marks at the end of the history. Under its lock.
 * @param first the action message that says so, where it is written already: what comes before it is from before they
 *   joined. Else that is what the conversation holds by now
 */
export async function joinConversation(
  tx: Transaction,
  appId: number,
  conversation: number,
  uids: readonly string[],
  now: number,
  first?: Pick<Message, 'id' | 'sentAt'>,
): Promise<void> {
  const { sentAt = null, id = null } = first ?? {}
  const each = <Value>(value: Value): Value[] => uids.map(() => value)
  await tx.query(join, [appId, uids, each(conversation), each(sentAt), each(id === null ? null : Number(id)), now])
}

/** As `joinConversation`, for members of several groups since some time. Under the locks of their conversations. */
export async function joinConversations(
  tx: Transaction,
  appId: number,
  members: ReadonlyArray<{ readonly uid: string; readonly conversation: number; readonly joinedAt: number }>,
): Promise<void> {
  await tx.query(join, [
    appId,
    members.map(({ uid }) => uid),
    members.map(({ conversation }) => conversation),
    members.map(({ joinedAt }) => joinedAt),
    members.map(() => 0),
    0,
  ])
}

/**
 * Takes members out of a group's receipts (they left, were kicked, banned or deactivated): what only they had not read
 * is now read by all. Under the conversation's lock.
 */
export async function leaveConversation(
  events: Events,
  tx: Transaction,
  group: { appId: number; guid: string; conversation: number },
  uids: readonly string[],
  now: number,
): Promise<void> {
  await tx.query(leave, [group.appId, group.conversation, uids])
  await raiseReceipts(events, tx, group.appId, [group.guid], now)
}

/** One member's place in a group and its conversation. */
export interface GroupParticipant {
  readonly guid: string
  readonly uid: string
  readonly conversation: number
}

/**
 * Takes members out of their groups' receipts who are coming back one day: they were deactivated. Under the locks of the
 * conversations, like `resumeMembers`.
 */
export async function suspendMembers(
  events: Events,
  tx: Transaction,
  appId: number,
  states: readonly GroupParticipant[],
  now: number,
): Promise<void> {
  await tx.query(suspend, [appId, states.map(({ uid }) => uid), states.map(({ conversation }) => conversation)])
  await raiseReceipts(events, tx, appId, guidsOf(states), now)
}

/**
 * Puts them back, with the marks that they had: what they had not read is unread, and what is sent from now on waits for
 * them again. What was read by all the others in between stays read by all.
 */
export async function resumeMembers(
  events: Events,
  tx: Transaction,
  appId: number,
  states: readonly GroupParticipant[],
  now: number,
): Promise<void> {
  await tx.query(resume, [appId, states.map(({ uid }) => uid), states.map(({ conversation }) => conversation)])
  await raiseReceipts(events, tx, appId, guidsOf(states), now)
}

function guidsOf(states: readonly GroupParticipant[]): string[] {
  return [...new Set(states.map(({ guid }) => guid))]
}
