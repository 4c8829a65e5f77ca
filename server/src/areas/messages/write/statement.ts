import type { Query } from '../../../store/channel.ts'
import { arrayLiteral, type Statement, statement } from '../../../store/statement.ts'
import { type RisenRow, settleAndTell, settleGroupReceipts, type ToldOfAll } from '../../conversations/index.ts'
import { growThreadsOf } from '../threads/grow.ts'

/** One message on its way into the database, as the columns of the batch statement take it. */
export interface MessageRow {
  readonly appId: number
  readonly sender: string
  /** 1 one-to-one, 2 group */
  readonly kind: 1 | 2
  readonly receiver: string
  readonly category: string
  readonly type: string
  /** JSON text, well-formed, without NUL */
  readonly data: string
  readonly muid: string | null
  readonly parentId: number | null
  readonly quotedId: number | null
  readonly tags: readonly string[] | null
  /** uids that its text mentions. */
  readonly mentioned: readonly string[] | null
  readonly traits: number
  readonly countable: boolean
  /** No rule of blocks, membership or scopes applies: the app itself sends. */
  readonly asApp: boolean
  /** Bits of the scopes whose explicit permissions refuse this message (1 participant, 2 moderator, 4 admin) ... */
  readonly deniedScopes: number
  /** ... judged by this version of the group's permissions. */
  readonly permissionsVersion: number
  /** What the roles of the app say about it, see role-rules.ts; null where they let everybody send it. */
  readonly roleRules: string | null
  /** Who hears of it. */
  readonly told: ToldOfSend
}

/** Which events of a message somebody waits for, see server/src/events. */
export interface ToldOfSend {
  /** Bits of `tellings`. */
  readonly bits: number
  readonly ofAll: ToldOfAll
}

/** `message_sent`, `user_mentioned` and receipts are kept in the log; receipts are heard of by somebody, kept or not. */
export const tellings = { sent: 1, mentioned: 2, delivered: 4, read: 8, receipts: 16 } as const

/** What became of a row. `id` null without a refusal: its muid is stored already. */
export interface WrittenRow {
  readonly n: number
  readonly refusal: Refusal | null
  readonly id: number | null
  readonly sentAt: number
  /** Revisions of the sender and of the receiver (user or group), to tell whether a copy in memory is current. */
  readonly senderRevision: number
  readonly receiverRevision: number
  /** Key of the conversation. */
  readonly conversation: number | null
  /** Not what became of a row, but what the sender received by sending it: the newest message of others until then. */
  readonly receipt: 'message_delivery_receipt' | 'message_read_receipt' | null
}

export type Refusal =
  | 'ERR_SENDER_NOT_FOUND'
  | 'ERR_UID_NOT_FOUND'
  | 'ERR_GUID_NOT_FOUND'
  | 'ERR_BLOCKED_RECEIVER'
  | 'ERR_BLOCKED_SENDER'
  | 'ERR_GROUP_NOT_JOINED'
  | 'ERR_BANNED_GROUPMEMBER'
  | 'ERR_PERMISSION_DENIED'
  /** As above, by the sender's role. */
  | 'ROLE_DENIED'
  /** The message replied to was removed for good meanwhile. */
  | 'ERR_MESSAGE_ID_NOT_FOUND'
  /** The conversation is not there yet: it must be made first. */
  | 'NO_CONVERSATION'
  /** The group's permissions have changed since the message was judged. */
  | 'STALE_PERMISSIONS'

/** The two uids of a one-to-one conversation in byte order, or the guid and ''. */
export function partsOf(row: Pick<MessageRow, 'kind' | 'sender' | 'receiver'>): [string, string] {
  if (row.kind === 2) return [row.receiver, '']
  // Identifiers are ASCII, so comparing UTF-16 code units is comparing bytes.
  return row.sender <= row.receiver ? [row.sender, row.receiver] : [row.receiver, row.sender]
}

/**
 * Makes the one-to-one conversations that a batch needs and that are not there, with both users' sides. Rows of one
 * order (by parts), before any lock is taken on what exists, so that batches cannot deadlock over them.
 */
export const createConversations = statement(`
  with wanted as materialized (
    select distinct r.app_id, r.first, r.second
    from unnest($1::int[], $2::text[], $3::text[]) as r(app_id, first, second)
  ),
  present as materialized (
    select u.app_id, u.uid
    from (
      select app_id, first as uid from wanted
      union
      select app_id, second from wanted
      order by app_id, uid
    ) w
    cross join lateral (
      select app_id, uid, deactivated_at
      from users
      where app_id = w.app_id and uid = w.uid
      for key share
    ) u
    where ($5::boolean or u.deactivated_at is null)
  ),
  created as (
    insert into conversations (app_id, kind, first, second, created_at)
    select app_id, 1, first, second, $4
    from wanted w
    where ((app_id, first) in (select app_id, uid from present)) is true
    and ((app_id, second) in (select app_id, uid from present)) is true
    order by app_id, first collate "C", second collate "C"
    on conflict (app_id, kind, first, second) do nothing
    returning app_id, key, first, second
  )
  insert into conversation_states (app_id, uid, conversation)
  select app_id, first, key from created
  union
  select app_id, second, key from created`)

/**
 * Locks a batch's conversations in the order of their keys. A statement of its own: one that waits for a lock goes on
 * with the snapshot from before the wait, and would check stale membership. Of the rows that it locks it gives the
 * latest state.
 */
export function lockConversations(columns: string): Statement {
  return statement(`
  select ${columns}
  from conversations c
  where (c.app_id, c.kind, c.first, c.second) in (
    select r.app_id, r.kind, r.first, r.second
    from unnest($1::int[], $2::smallint[], $3::text[], $4::text[]) as r(app_id, kind, first, second)
  )
  order by c.app_id, c.key
  for no key update of c`)
}

const lockKeys = lockConversations('c.key')

/**
 * Checks and writes a batch. Ids are drawn here, under the conversations' locks, and \`sent_at\` of what is sent live
 * never falls behind the conversation's last: in a conversation, commit order is position order.
 *
 * The sender's own marks move up to his message (sending reads): in a one-to-one conversation only when the last
 * message was the other's (or both write in this batch), since otherwise there is nothing new to read; in groups always,
 * because the group's staircase goes by every member's mark. A step of reading tells of delivery too.
 *
 * Two forms keep the planner from what is slow here: \`case\` in a join condition, so that nothing is looked up where it
 * cannot be, and \`(... in ...) is true\`, so that the rows are hashed and not compared one with another.
 */
const writing = (told: { readonly events: string; readonly receipts: string }) => `
  with request as materialized (
    select *
    from unnest(
      $1::int[], $2::int[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::int[], $16::boolean[], $17::boolean[],
      $18::int[], $19::bigint[], $20::boolean[], $22::text[], $23::text[], $24::int[]
    ) as r(
      n, app_id, sender, kind, receiver, first, second, category, type, data, muid, parent_id, quoted_id, tags, traits,
      countable, as_app, denied_scopes, permissions_version, both_write, role_rules, mentioned, told
    )
  ),
  checked as materialized (
    select r.*, c.key as conversation, c.last_sent_at, c.last_id, c.last_sender,
      s.revision as sender_revision, coalesce(t.revision, g.revision) as receiver_revision,
      case
        when s.uid is null or s.deactivated_at is not null then 'ERR_SENDER_NOT_FOUND'
        when r.kind = 1 and (t.uid is null or t.deactivated_at is not null) then 'ERR_UID_NOT_FOUND'
        when r.kind = 2 and g.guid is null then 'ERR_GUID_NOT_FOUND'
        when c.key is null then 'NO_CONVERSATION'
        when r.parent_id is not null and not exists (
          select from messages p
          where p.app_id = r.app_id and p.id = r.parent_id and not p.purged
        ) then 'ERR_MESSAGE_ID_NOT_FOUND'
        when r.as_app then null
        when r.role_rules is not null and (r.kind = 1 or m.uid is not null) and (
          (r.role_rules::jsonb -> 'denied') ? s.role
          or r.kind = 1 and r.sender <> r.receiver and (
            (r.role_rules::jsonb -> 'friendsOnly') ? s.role and not exists (
              select from friends f
              where f.app_id = r.app_id and f.uid = r.sender and f.friend = r.receiver
            )
            or not coalesce((r.role_rules::jsonb -> 'receivers' -> s.role) ? t.role, true)
          )
        ) then 'ROLE_DENIED'
        when r.kind = 1 then case
          when exists (
            select from blocks b
            where b.app_id = r.app_id and b.blocker = r.sender and b.blocked = r.receiver
          ) then 'ERR_BLOCKED_RECEIVER'
          when exists (
            select from blocks b
            where b.app_id = r.app_id and b.blocker = r.receiver and b.blocked = r.sender
          ) then 'ERR_BLOCKED_SENDER'
        end
        when m.uid is null then case
          when g.type = 'private' then 'ERR_GUID_NOT_FOUND'
          when exists (
            select from group_bans b
            where b.app_id = r.app_id and b.guid = r.receiver and b.uid = r.sender
          ) then 'ERR_BANNED_GROUPMEMBER'
          else 'ERR_GROUP_NOT_JOINED'
        end
        when g.permissions_version <> r.permissions_version then 'STALE_PERMISSIONS'
        when r.denied_scopes & (case m.scope when 'admin' then 4 when 'moderator' then 2 else 1 end) <> 0
          then 'ERR_PERMISSION_DENIED'
      end as refusal
    from request r
    left join users s on s.app_id = r.app_id and s.uid = r.sender
    left join users t on t.app_id = r.app_id and t.uid = case r.kind when 1 then r.receiver end
    left join groups g on g.app_id = r.app_id and g.guid = case r.kind when 2 then r.receiver end
    left join group_members m
      on m.app_id = r.app_id and m.guid = case r.kind when 2 then r.receiver end and m.uid = r.sender
    left join conversations c
      on c.app_id = r.app_id and c.kind = r.kind and c.first = r.first and c.second = r.second
    order by r.n
  ),
  numbered as materialized (
    select k.*, nextval('message_ids') as id, greatest($21::bigint, k.last_sent_at) as sent_at
    from (
      select *
      from checked
      where refusal is null
      and case when muid is null then true else not exists (
        select from messages i
        where i.app_id = checked.app_id and i.muid = checked.muid and i.imported
        and i.sender = checked.sender and i.conversation = checked.conversation
      ) end
      order by n
    ) k
  ),
  inserted as (
    insert into messages (
      app_id, id, conversation, sender, kind, receiver, category, type, data, parent_id, quoted_id, muid, tags,
      mentioned, traits, countable, sent_at, updated_at
    )
    select app_id, id, conversation, sender, kind, receiver, category, type, data::json, parent_id, quoted_id, muid,
      tags::text[], mentioned::text[], traits, countable, sent_at, sent_at
    from numbered
    on conflict (app_id, muid, sender, conversation) where muid is not null and not imported do nothing
    returning id
  ),
  stored as materialized (
    select n, app_id, id, conversation, sender, kind, first, second, sent_at, last_sent_at, last_id, both_write, mentioned,
      told, sender_revision, receiver_revision, kind = 2 or both_write or last_sender is distinct from sender as moves_marks
    from numbered
    where (id in (select id from inserted)) is true
  ),
  moved as (
    update conversations c
    set last_sent_at = l.sent_at,
      last_id = l.id,
      last_sender = l.sender,
      listed_sent_at = l.sent_at,
      listed_id = l.id
    from (
      select distinct on (app_id, conversation) app_id, conversation, sent_at, id, sender
      from stored
      order by app_id, conversation, id desc
    ) l
    where c.app_id = l.app_id
    and c.key = l.conversation
  ),
  side as materialized (
    select l.n, l.app_id, l.sender, l.conversation, l.kind, l.first, l.second, l.sent_at, l.id, l.told,
      s.delivered_sent_at, s.delivered_id, s.read_sent_at, s.read_id,
      (s.delivered_sent_at, s.delivered_id) < (coalesce(l.last_sent_at, 0), coalesce(l.last_id, 0))
        or l.both_write as delivers,
      (s.read_sent_at, s.read_id) < (coalesce(l.last_sent_at, 0), coalesce(l.last_id, 0)) or l.both_write as reads
    from (
      select distinct on (m.app_id, m.conversation, m.sender) m.n, m.app_id, m.conversation, m.kind, m.first, m.second,
        m.sender, m.sent_at, m.id, m.last_sent_at, m.last_id, m.both_write, m.told
      from stored m
      where m.moves_marks
      order by m.app_id, m.conversation, m.sender, m.id desc
    ) l
    join conversation_states s on s.app_id = l.app_id and s.uid = l.sender and s.conversation = l.conversation
  ),
  marked as (
    update conversation_states s
    set delivered_sent_at = d.sent_at, delivered_id = d.id,
      read_sent_at = d.sent_at, read_id = d.id,
      unread_sent_at = d.sent_at, unread_id = d.id,
      counted_sent_at = d.sent_at, counted_id = d.id, counted_unread = 0
    from side d
    where s.app_id = d.app_id and s.uid = d.sender and s.conversation = d.conversation
  ),
  stepped as (
    insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
    select app_id, conversation, sender, case when reads then 2 else 1 end, sent_at, id, $21::bigint
    from side
    where delivers or reads
  )${told.events}
  select n, null as refusal, id, sent_at as "sentAt", sender_revision as "senderRevision",
    receiver_revision as "receiverRevision", conversation, null as receipt
  from stored
  union all
  select n, refusal, null, null, sender_revision, receiver_revision, null, null
  from checked
  where n not in (select n from stored)${told.receipts}`

/** Where nobody hears of anything, which is the rule, nothing is looked for. */
const writeMessages = statement(writing({ events: '', receipts: '' }))

/**
 * What a sender received by sending is told as his marks are (conversations/marks.ts): by the newest message of others
 * that is covered now and was not before. It comes before the message.
 */
const writeAndTell = statement(
  writing({
    events: `,
  received as materialized (
    select d.n, d.app_id, d.conversation, d.id, d.told, m.id as message,
      case when d.reads then 'message_read_receipt' else 'message_delivery_receipt' end as receipt,
      json_build_object('kind', d.kind, 'first', d.first, 'second', d.second, 'uid', d.sender, 'at', $21::bigint) as data
    from side d
    cross join lateral (
      select m.id
      from messages m
      where m.app_id = d.app_id
      and m.conversation = d.conversation
      and m.countable
      and m.sender <> d.sender
      and (m.sent_at, m.id) > (
        case when d.reads then d.read_sent_at else d.delivered_sent_at end,
        case when d.reads then d.read_id else d.delivered_id end
      )
      order by m.sent_at desc, m.id desc
      limit 1
    ) m
    where (d.delivers or d.reads)
    and d.told & ${tellings.receipts} <> 0
  ),
  told as (
    insert into events (app_id, trigger, conversation, message, data, created_at)
    select app_id, trigger, conversation, message, data, $21::bigint
    from (
      select id, 1 as place, app_id, receipt as trigger, conversation, message, data
      from received
      where told & case receipt when 'message_read_receipt' then ${tellings.read} else ${tellings.delivered} end <> 0
      union all
      select id, 2, app_id, 'message_sent', conversation, id, '{}'
      from stored
      where told & ${tellings.sent} <> 0
      union all
      select id, 3, app_id, 'user_mentioned', conversation, id, '{}'
      from stored
      where told & ${tellings.mentioned} <> 0
      and mentioned is not null
      order by 1, 2
    ) e
  )`,
    receipts: `
  union all
  select n, null, message, null, null, null, conversation, receipt
  from received`,
  }),
)

/** The statements of one batch, in the order in which they run in its transaction. */
export function batchQueries(rows: readonly MessageRow[], options: { create: boolean; now: number }): Query[] {
  const parts = rows.map(partsOf)
  const appIds = rows.map((row) => row.appId)
  const kinds = rows.map((row) => row.kind)
  const firsts = parts.map(([first]) => first)
  const seconds = parts.map(([, second]) => second)

  const queries: Query[] = []
  if (options.create) {
    const pairs = rows.flatMap((row, i) => (row.kind === 1 ? [i] : []))
    const pick = <T>(values: T[]) => pairs.map((i) => values[i])
    queries.push({ ...createConversations, values: [pick(appIds), pick(firsts), pick(seconds), options.now, false] })
  }
  queries.push({ ...lockKeys, values: [appIds, kinds, firsts, seconds] })
  const column = <T>(read: (row: MessageRow) => T) => rows.map(read)
  const isTold = rows.some(({ told }) => told.bits !== 0)
  queries.push({
    ...(isTold ? writeAndTell : writeMessages),
    values: [
      rows.map((_, n) => n),
      appIds,
      column((row) => row.sender),
      kinds,
      column((row) => row.receiver),
      firsts,
      seconds,
      column((row) => row.category),
      column((row) => row.type),
      column((row) => row.data),
      column((row) => row.muid),
      column((row) => row.parentId),
      column((row) => row.quotedId),
      column((row) => (row.tags === null ? null : arrayLiteral(row.tags))),
      column((row) => row.traits),
      column((row) => row.countable),
      column((row) => row.asApp),
      column((row) => row.deniedScopes),
      column((row) => row.permissionsVersion),
      whereBothWrite(rows, parts),
      options.now,
      column((row) => row.roleRules),
      column((row) => (row.mentioned === null ? null : arrayLiteral(row.mentioned))),
      column(({ told }) => told.bits),
    ],
  })
  const groups = rows.filter(({ kind }) => kind === 2)
  if (groups.length > 0) queries.push(settling(groups, options.now))
  queries.push(...growThreadsOf(rows, options.now))
  return queries
}

/** Raises the staircases of the groups that were written into. */
function settling(rows: readonly MessageRow[], now: number): Query {
  const groups = [rows.map(({ appId }) => appId), rows.map(({ receiver }) => receiver), now]
  if (!rows.some(({ told }) => told.ofAll.isHeard)) return { ...settleGroupReceipts, values: groups }
  const ofAll = rows.map(({ told }) => told.ofAll)
  return {
    ...settleAndTell,
    values: [
      ...groups,
      ofAll.map(({ isHeard }) => isHeard),
      ofAll.map(({ keepsDelivered }) => keepsDelivered),
      ofAll.map(({ keepsRead }) => keepsRead),
    ],
  }
}

/** What `settling` gave: staircases that rose, where somebody hears of it. */
export function risenRows(results: ReadonlyArray<{ rows: unknown[] }>, options: { create: boolean }): RisenRow[] {
  return (results[options.create ? 3 : 2]?.rows ?? []) as RisenRow[]
}

/** The position of the `writeMessages` result among the results of a batch. */
export function writtenRows(results: ReadonlyArray<{ rows: unknown[] }>, options: { create: boolean }): WrittenRow[] {
  return (results[options.create ? 2 : 1]?.rows ?? []) as WrittenRow[]
}

/** For each row: do several senders write into its conversation in this batch? */
function whereBothWrite(rows: readonly MessageRow[], parts: ReadonlyArray<[string, string]>): boolean[] {
  const senders = new Map<string, string | true>()
  const keys = rows.map((row, i) => `${row.appId} ${row.kind} ${parts[i]?.join(' ')}`)
  for (const [i, row] of rows.entries()) {
    const key = keys[i] as string
    const known = senders.get(key)
    senders.set(key, known === undefined || known === row.sender ? row.sender : true)
  }
  return keys.map((key) => senders.get(key) === true)
}
