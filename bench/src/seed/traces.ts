import type { WorldSizes } from './sizes.ts'
import type { Step } from './step.ts'

/** What has happened to the messages: marks of the users and receipts, threads, reactions, pins and saved messages. */
export function traces({ crowd }: WorldSizes): Step[] {
  return [
    {
      // own: the place of the last message that the user sent, which also read what was before it
      name: 'sides',
      sql: `
        create temp table seed_sides on commit drop as
        select t.*, greatest(t.read_to, case when h % 3 = 0 then t.count else 0 end) as delivered_to
        from (
          select p.*, h, coalesce(o.p, 0) as own, greatest(coalesce(o.p, 0), case
              when h % 10 < 6 then p.count
              when h % 10 < 9 then p.count - h / 10 % least(p.count, 40)
              else 0
            end) as read_to
          from (
            select c.key, c.kind, c.n, c.count, u.uid
            from seed_conversations c
            cross join lateral (values (c.first), (c.second)) as u(uid)
            where c.kind = 1
            union all
            select c.key, c.kind, c.n, c.count, m.uid
            from seed_conversations c
            join seed_members m on m.n = c.n
            where c.kind = 2
          ) p
          cross join lateral (select pg_temp.seed_hash(hashtext(p.uid), p.key) as h) r
          left join (
            select m.conversation, m.sender, max(o.p) as p
            from messages m
            join seed s on s.app_id = m.app_id
            join seed_messages o on o.id = m.id
            where m.category <> 'action'
            group by m.conversation, m.sender
          ) o on o.conversation = p.key and o.sender = p.uid
        ) t`,
    },
    {
      name: 'states',
      sql: `
        insert into conversation_states (
          app_id, uid, conversation, member, delivered_sent_at, delivered_id, read_sent_at, read_id, unread_sent_at,
          unread_id, counted_sent_at, counted_id, counted_version, tags, pinned_at
        )
        select s.app_id, t.uid, t.key, t.kind = 2 and u.deactivated_at is null, coalesce(d.sent_at, 0), coalesce(d.id, 0),
          coalesce(r.sent_at, 0), coalesce(r.id, 0), coalesce(r.sent_at, 0), coalesce(r.id, 0), coalesce(r.sent_at, 0),
          coalesce(r.id, 0), c.version, case when t.h % 50 = 3 then array['work'] else '{}' end,
          case when t.uid = 'busy' and t.kind = 2 and t.n between 1 and 3 then s.ends end
        from seed_sides t
        cross join seed s
        join users u on u.app_id = s.app_id and u.uid = t.uid
        join conversations c on c.app_id = s.app_id and c.key = t.key
        left join seed_messages d on d.key = t.key and d.p = t.delivered_to
        left join seed_messages r on r.key = t.key and r.p = t.read_to`,
    },
    {
      name: 'receipts of groups',
      sql: `
        update conversations c
        set all_delivered_sent_at = l.delivered_at, all_delivered_id = l.delivered_id,
          all_read_sent_at = l.read_at, all_read_id = l.read_id
        from (
          select t.app_id, t.conversation, min(t.delivered_sent_at) as delivered_at, min(t.delivered_id) as delivered_id,
            min(t.read_sent_at) as read_at, min(t.read_id) as read_id
          from conversation_states t
          join seed s on s.app_id = t.app_id
          where t.member
          group by t.app_id, t.conversation
        ) l
        where c.app_id = l.app_id
        and c.key = l.conversation
        and c.kind = 2`,
    },
    {
      name: 'steps',
      sql: `
        insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
        select t.app_id, t.conversation, t.uid, 1, t.delivered_sent_at, t.delivered_id, t.delivered_sent_at
        from conversation_states t join seed s on s.app_id = t.app_id
        where t.delivered_id > 0
        union all
        select t.app_id, t.conversation, t.uid, 2, t.read_sent_at, t.read_id, t.read_sent_at
        from conversation_states t join seed s on s.app_id = t.app_id
        where t.read_id > 0
        union all
        select c.app_id, c.key, '', 1, c.all_delivered_sent_at, c.all_delivered_id, c.all_delivered_sent_at
        from conversations c join seed s on s.app_id = c.app_id
        where c.all_delivered_id > 0
        union all
        select c.app_id, c.key, '', 2, c.all_read_sent_at, c.all_read_id, c.all_read_sent_at
        from conversations c join seed s on s.app_id = c.app_id
        where c.all_read_id > 0`,
    },
    {
      name: 'threads',
      sql: `
        insert into threads (app_id, parent_id, conversation, reply_count, last_reply_id, updated_at, starter)
        select r.*, p.sender
        from (
          select m.app_id, m.parent_id, m.conversation, count(*), max(m.id), max(m.sent_at)
          from messages m
          join seed s on s.app_id = m.app_id
          where m.parent_id is not null
          group by m.app_id, m.parent_id, m.conversation
        ) r
        join messages p on p.app_id = r.app_id and p.id = r.parent_id`,
    },
    {
      name: 'followers of threads',
      sql: `
        insert into thread_subscriptions (app_id, uid, parent_id, subscribed_at)
        select m.app_id, m.sender, m.parent_id, min(m.sent_at)
        from messages m
        join seed s on s.app_id = m.app_id
        where m.parent_id is not null
        group by m.app_id, m.sender, m.parent_id
        union
        select m.app_id, p.sender, m.parent_id, min(m.sent_at)
        from messages m
        join seed s on s.app_id = m.app_id
        join messages p on p.app_id = m.app_id and p.id = m.parent_id
        group by m.app_id, p.sender, m.parent_id
        on conflict do nothing`,
    },
    {
      name: 'reactions',
      sql: `
        insert into reactions (app_id, message_id, reaction, uid, reacted_at)
        select s.app_id, m.id, 'thumbs_up', t.uid, m.sent_at
        from seed_messages m
        cross join seed s
        join seed_sides t on t.key = m.key
        where m.long and m.p % 25 = 12 and m.role = 'said' and (t.n > 0 or t.kind = 1)
        union all
        select s.app_id, m.id, case t.h % 4 when 0 then 'heart' when 1 then 'smile' else 'thumbs_up' end, t.uid, m.sent_at
        from seed_messages m
        cross join seed s
        join seed_sides t on t.key = m.key and t.h % ${crowd} < ${Math.ceil(crowd / 2)}
        where m.kind = 2 and m.n = 0 and m.p = 2`,
    },
    {
      name: 'pins',
      sql: `
        insert into pinned_messages (app_id, conversation, message_id, pinned_by, pinned_at)
        select s.app_id, m.key, m.id, 'busy', m.sent_at
        from seed_messages m
        cross join seed s
        where m.role = 'said' and m.kind = 2 and m.n = 0 and m.p % 37 = 3
        order by m.p
        limit 100`,
    },
    {
      name: 'saved messages',
      sql: `
        insert into saved_messages (app_id, uid, message_id, saved_at)
        select s.app_id, 'busy', m.id, m.sent_at
        from seed_messages m
        cross join seed s
        where m.role = 'said' and m.kind = 1 and m.n = 1 and m.p % 41 = 7
        order by m.p
        limit 100`,
    },
    {
      name: 'traits',
      sql: `
        update messages m
        set traits = m.traits | b.bits
        from (
          select x.app_id, x.id, bit_or(x.bit) as bits
          from (
            select app_id, message_id as id, 128 as bit from reaction_counts
            union all
            select app_id, parent_id, 256 | 2048 from threads
            union all
            select app_id, message_id, 512 from pinned_messages
            union all
            select app_id, message_id, 1024 from saved_messages
          ) x
          join seed s on s.app_id = x.app_id
          group by x.app_id, x.id
        ) b
        where m.app_id = b.app_id
        and m.id = b.id`,
    },
    {
      name: 'pinned conversations of the app',
      sql: `
        insert into app_pinned_conversations (app_id, kind, peer, place, pinned_at)
        select app_id, 2, 'crowd', 0, ends
        from seed`,
    },
  ]
}
