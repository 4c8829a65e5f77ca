import { sql } from 'kysely'
import { noStarter } from '../chat/messages/threads.ts'
import { notHeldSql } from '../chat/sight/participation.ts'
import { rulesByDay } from '../chat/usage/rule-counts.ts'
import { appKey } from '../store/app-key.ts'
import type { Fragment } from '../store/statement.ts'
import { tables } from '../tables.ts'
import { findLeftovers, findUndeclared, notRemoving } from './tables.ts'

/** A derived figure, and the statement that finds where it differs from what it is derived from. */
export interface Check {
  readonly name: string
  /** What it means when a row is found. */
  readonly meaning: string
  /** Rows `subject, stored, expected`, for one app or for all. */
  readonly find: (appId: number | null) => Fragment
}

const ofApp = (alias: string, appId: number | null) =>
  appId === null ? notRemoving(alias) : sql`${sql.ref(`${alias}.app_id`)} = ${appKey(appId)}`

/** Everything that is kept beside what it is derived from. A new derived figure is added here. */
export const checks: readonly Check[] = [
  {
    name: 'tables',
    meaning: 'it is not declared what becomes of the rows of a table when a user, a group or a message is removed',
    find: () => findUndeclared(tables),
  },
  {
    name: 'leftovers',
    meaning: 'a row names a user, a group, a conversation or a message that is not there',
    find: (appId) => findLeftovers(tables, appId),
  },
  {
    name: 'conversations pinned by the app',
    meaning: 'the app has pinned the conversation of a user or a group that is not there',
    find: (appId) => sql`
      select p.app_id || '/' || p.peer as subject, 'pinned' as stored, 'there' as expected
      from app_pinned_conversations p
      where ${ofApp('p', appId)}
      and not exists (select from users u where p.kind = 1 and u.app_id = p.app_id and u.uid = p.peer)
      and not exists (select from groups g where p.kind = 2 and g.app_id = p.app_id and g.guid = p.peer)`,
  },
  {
    name: 'member counts',
    meaning: 'members_count of a group is not the number of its active members',
    find: (appId) => sql`
      select g.app_id || '/' || g.guid as subject, g.members_count::text as stored, n.count::text as expected
      from groups g
      cross join lateral (
        select count(*) as count
        from group_members m
        join users u on u.app_id = m.app_id and u.uid = m.uid
        where m.app_id = g.app_id and m.guid = g.guid and u.deactivated_at is null
      ) n
      where ${ofApp('g', appId)}
      and g.members_count <> n.count`,
  },
  {
    name: 'states of members',
    meaning: 'a conversation state does not say whether its user is an active member of the group',
    find: (appId) => sql`
      select s.app_id || '/' || c.first || '/' || s.uid as subject, s.member::text as stored,
        (m.uid is not null)::text as expected
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation and c.kind = 2
      left join (
        group_members m join users u on u.app_id = m.app_id and u.uid = m.uid and u.deactivated_at is null
      ) on m.app_id = s.app_id and m.guid = c.first and m.uid = s.uid
      where ${ofApp('s', appId)}
      and s.member <> (m.uid is not null)`,
  },
  {
    name: 'members without a state',
    meaning: 'an active member has no state in the conversation of the group',
    find: (appId) => sql`
      select m.app_id || '/' || m.guid || '/' || m.uid as subject, 'none' as stored, 'a state' as expected
      from group_members m
      join groups g on g.app_id = m.app_id and g.guid = m.guid
      join users u on u.app_id = m.app_id and u.uid = m.uid and u.deactivated_at is null
      left join conversation_states s
        on s.app_id = m.app_id and s.uid = m.uid and s.conversation = g.conversation
      where ${ofApp('m', appId)}
      and s.uid is null`,
  },
  {
    name: 'ends of conversations',
    meaning: 'the last position of a conversation is not that of its newest message',
    find: (appId) => sql`
      select c.app_id || '/' || c.key as subject, c.last_sent_at || ',' || c.last_id as stored,
        n.sent_at || ',' || n.id as expected
      from conversations c
      cross join lateral (
        select m.sent_at, m.id
        from (
          (
            select m.sent_at, m.id
            from messages m
            where m.app_id = c.app_id and m.conversation = c.key
            and not m.purged
            and (${notHeldSql} or (m.sent_at, m.id) = (c.last_sent_at, c.last_id))
            order by m.sent_at desc, m.id desc
            limit 1
          )
          union all
          (
            select m.sent_at, m.id
            from messages m
            where m.app_id = c.app_id and m.conversation = c.key
            and m.purged
            and (${notHeldSql} or (m.sent_at, m.id) = (c.last_sent_at, c.last_id))
            order by m.sent_at desc, m.id desc
            limit 1
          )
        ) m
        order by m.sent_at desc, m.id desc
        limit 1
      ) n
      where ${ofApp('c', appId)}
      and (c.last_sent_at, c.last_id) is distinct from (n.sent_at, n.id)`,
  },
  {
    name: 'last messages',
    meaning: 'a newer message that lists show exists than the one that the conversation is listed by',
    find: (appId) => sql`
      select c.app_id || '/' || c.key as subject, c.listed_sent_at || ',' || c.listed_id as stored,
        n.sent_at || ',' || n.id as expected
      from conversations c
      cross join lateral (
        select m.sent_at, m.id
        from messages m
        where m.app_id = c.app_id and m.conversation = c.key
        and not m.purged and m.deleted_at is null and ${notHeldSql}
        and not (m.category = 'action' and m.type = 'message')
        order by m.sent_at desc, m.id desc
        limit 1
      ) n
      where ${ofApp('c', appId)}
      and (c.listed_id is null or (c.listed_sent_at, c.listed_id) < (n.sent_at, n.id))`,
  },
  {
    name: 'remembered unread counts',
    meaning: 'a remembered count of unread messages differs from counting them',
    find: (appId) => sql`
      select s.app_id || '/' || s.conversation || '/' || s.uid as subject, s.counted_unread::text as stored,
        n.count::text as expected
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      cross join lateral (
        select count(*) as count
        from messages m
        where m.app_id = s.app_id and m.conversation = s.conversation
        and (m.sent_at, m.id) > (s.unread_sent_at, s.unread_id)
        and (m.sent_at, m.id) <= (s.counted_sent_at, s.counted_id)
        and m.countable and m.sender <> s.uid
      ) n
      where ${ofApp('s', appId)}
      and s.counted_version = c.version
      and s.counted_unread <> n.count`,
  },
  {
    name: 'marks',
    meaning: 'a user has read messages that were not delivered to them, or that do not exist yet',
    find: (appId) => sql`
      select s.app_id || '/' || s.conversation || '/' || s.uid as subject,
        s.read_sent_at || ',' || s.read_id as stored,
        'at most ' || s.delivered_sent_at || ',' || s.delivered_id as expected
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      where ${ofApp('s', appId)}
      and (
        (s.read_sent_at, s.read_id) > (s.delivered_sent_at, s.delivered_id)
        or (s.delivered_sent_at, s.delivered_id) > (coalesce(c.last_sent_at, 0), coalesce(c.last_id, 0))
      )`,
  },
  {
    name: 'receipts of groups',
    meaning: 'every member has read or received further than the group as a whole',
    find: (appId) => sql`
      select c.app_id || '/' || c.first as subject, c.all_read_sent_at || ',' || c.all_read_id as stored,
        n.sent_at || ',' || n.id as expected
      from conversations c
      cross join lateral (
        select s.read_sent_at as sent_at, s.read_id as id
        from conversation_states s
        where s.app_id = c.app_id and s.conversation = c.key and s.member
        order by s.read_sent_at, s.read_id
        limit 1
      ) n
      where c.kind = 2
      and ${ofApp('c', appId)}
      and (c.all_read_sent_at, c.all_read_id) < (n.sent_at, n.id)`,
  },
  {
    name: 'states of one-to-one conversations',
    meaning: 'one of the two users has no state in their conversation',
    find: (appId) => sql`
      select c.app_id || '/' || c.first || '/' || c.second as subject, count(s.uid)::text as stored,
        (case when c.first = c.second then 1 else 2 end)::text as expected
      from conversations c
      left join conversation_states s
        on s.app_id = c.app_id and s.conversation = c.key and s.uid in (c.first, c.second)
      where c.kind = 1
      and ${ofApp('c', appId)}
      group by c.app_id, c.first, c.second
      having count(s.uid) <> case when c.first = c.second then 1 else 2 end`,
  },
  {
    name: 'threads',
    meaning: 'the reply count, the last reply or the time of a thread is not that of its replies',
    find: (appId) => sql`
      select coalesce(t.app_id, n.app_id) || '/' || coalesce(t.parent_id, n.parent_id) as subject,
        coalesce(t.reply_count || ',' || t.last_reply_id || ',' || t.updated_at, 'no thread') as stored,
        coalesce(n.count || ',' || n.last || ',' || n.sent_at, 'no replies') as expected
      from (select * from threads t where ${ofApp('t', appId)}) t
      full join (
        select m.app_id, m.parent_id, count(*) as count, max(m.sent_at) as sent_at,
          (array_agg(m.id order by m.sent_at desc, m.id desc))[1] as last
        from messages m
        where ${ofApp('m', appId)}
        and m.parent_id is not null
        and not m.purged and m.deleted_at is null and m.category <> 'action' and ${notHeldSql}
        group by m.app_id, m.parent_id
      ) n on n.app_id = t.app_id and n.parent_id = t.parent_id
      where (t.reply_count, t.last_reply_id, t.updated_at) is distinct from (n.count, n.last, n.sent_at)`,
  },
  {
    name: 'starters of threads',
    meaning: 'a thread does not say who wrote the message that it hangs on',
    find: (appId) => sql`
      select t.app_id || '/' || t.parent_id as subject, t.starter as stored, m.sender as expected
      from threads t
      join messages m on m.app_id = t.app_id and m.id = t.parent_id
      where ${ofApp('t', appId)}
      and t.starter not in (m.sender, ${noStarter})`,
  },
  {
    name: 'held messages',
    meaning:
      'moderation holds a message that counts as unread or is found by searches, or a thread that it does not hold',
    find: (appId) => sql`
      select m.app_id || '/' || m.id as subject, case when m.countable then 'counts' else 'is found' end as stored,
        'held' as expected
      from messages m
      where ${ofApp('m', appId)}
      and not (${notHeldSql})
      and (m.countable or exists (
        select from search_entries e
        where e.app_id = m.app_id and e.message_id = m.id and e.body <> ''
      ))
      union all
      select t.app_id || '/' || t.parent_id, 'thread held: ' || t.held, 'thread held: ' || not t.held
      from threads t
      join messages m on m.app_id = t.app_id and m.id = t.parent_id
      where ${ofApp('t', appId)}
      and t.held <> not (${notHeldSql})`,
  },
  {
    name: 'reaction counts',
    meaning: 'the count of a reaction on a message is not the number of users who gave it',
    find: (appId) => sql`
      select coalesce(c.app_id, n.app_id) || '/' || coalesce(c.message_id, n.message_id) || '/'
          || coalesce(c.reaction, n.reaction) as subject,
        coalesce(c.count, 0)::text as stored, coalesce(n.count, 0)::text as expected
      from (select * from reaction_counts c where ${ofApp('c', appId)}) c
      full join (
        select r.app_id, r.message_id, r.reaction, count(*) as count
        from reactions r
        where ${ofApp('r', appId)}
        group by r.app_id, r.message_id, r.reaction
      ) n on n.app_id = c.app_id and n.message_id = c.message_id and n.reaction = c.reaction
      where c.count is distinct from n.count`,
  },
  {
    name: 'bytes of files',
    meaning: 'the bytes that are counted for an app are not those of its files',
    find: (appId) => sql`
      select coalesce(a.app_id, n.app_id)::text as subject, coalesce(a.bytes, 0)::text as stored,
        coalesce(n.bytes, 0)::text as expected
      from (select * from media_usage a where ${ofApp('a', appId)}) a
      full join (
        select f.app_id, sum(f.size) as bytes
        from media_files f
        where ${ofApp('f', appId)}
        group by f.app_id
      ) n on n.app_id = a.app_id
      where coalesce(a.bytes, 0) <> coalesce(n.bytes, 0)`,
  },
  {
    name: 'presence',
    meaning: 'a user counts as online without a socket in a process that lives, or as offline with one',
    // Users of a process that died go offline within half a minute, once there is another: a database at rest is not ill.
    find: (appId) => sql`
      with clock as materialized (
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as now
      ),
      living as materialized (
        select d.id
        from presence_nodes d, clock
        where d.expires_at >= clock.now - 60000
        or not exists (select from presence_nodes l where l.expires_at >= clock.now)
      )
      select u.app_id || '/' || u.uid as subject, u.online::text as stored, n.online::text as expected
      from users u
      cross join lateral (
        select exists (
          select
          from presence p
          join living on living.id = p.node
          where p.app_id = u.app_id
          and p.uid = u.uid
        ) as online
      ) n
      where ${ofApp('u', appId)}
      and u.online <> n.online`,
  },
  {
    name: 'hits of rules',
    meaning: 'the log of decisions has more of a rule and a day than was added up of it',
    // What messages took along that were removed for good stays added up.
    find: (appId) => sql`
      select n.app_id || '/' || n.day || '/' || n.rule_id as subject,
        coalesce(r.hits, 0) || ',' || coalesce(r.blocked, 0) || ',' || coalesce(r.flagged, 0) as stored,
        'at least ' || n.hits || ',' || n.blocked || ',' || n.flagged as expected
      from (${sql.raw(rulesByDay('moderation_decisions'))}) n
      join usage_rule_days u on u.app_id = n.app_id and n.day <= u.day
      left join usage_rules r on r.app_id = n.app_id and r.day = n.day and r.rule_id = n.rule_id
      where ${ofApp('n', appId)}
      and (
        r.app_id is null
        or r.hits < n.hits
        or r.shadow < n.shadow
        or r.blocked < n.blocked
        or r.flagged < n.flagged
      )`,
  },
  {
    name: 'notifications of days',
    meaning: 'the log has more notifications that came to an end on a day than were counted of it',
    // The log is cut in time, and what is sent again leaves it meanwhile; counts stay.
    find: (appId) => sql`
      select n.app_id || '/' || n.day || '/' || n.channel || '/' || n.status as subject, coalesce(u.count, 0)::text as stored,
        'at least ' || n.count as expected
      from (
        select d.app_id, d.ended_at / 86400000 as day, d.channel, d.status, count(*) as count
        from notification_deliveries d
        where d.day > 0
        and d.status <> 'pending'
        group by d.app_id, d.ended_at / 86400000, d.channel, d.status
      ) n
      left join usage_notifications u
        on u.app_id = n.app_id and u.day = n.day and u.channel = n.channel and u.outcome = n.status
      where ${ofApp('n', appId)}
      and coalesce(u.count, 0) < n.count`,
  },
  {
    name: 'active users',
    meaning: 'the bits of a day do not say who was active on it',
    find: (appId) => sql`
      select b.app_id || '/' || b.day || '/' || b.chunk as subject, bit_count(b.bits)::text as stored,
        n.count::text as expected
      from active_user_bits b
      cross join lateral (
        select count(*) as count, count(*) filter (where get_bit(b.bits, a.number % 8192) = 1) as found
        from active_users a
        where a.app_id = b.app_id
        and a.day = b.day
        and a.number >= b.chunk * 8192
        and a.number < (b.chunk + 1) * 8192
      ) n
      where ${ofApp('b', appId)}
      and (bit_count(b.bits) <> n.count or n.found <> n.count)
      union all
      select a.app_id || '/' || a.day || '/' || a.number / 8192, '0', count(*)::text
      from active_users a
      where ${ofApp('a', appId)}
      and not exists (
        select
        from active_user_bits b
        where b.app_id = a.app_id
        and b.day = a.day
        and b.chunk = a.number / 8192
      )
      group by a.app_id, a.day, a.number / 8192`,
  },
]
