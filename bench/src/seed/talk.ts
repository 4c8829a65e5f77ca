import type { Step } from './step.ts'

/**
 * The messages. In what role a message stands follows from its place in the conversation, so that what belongs to it
 * can be found from the neighbours: of every fifty in a longer conversation one is edited and one deleted, each right
 * before the action message that tells of it, and every twentieth has four replies. One in twenty says it in Chinese.
 */
export function talk(): Step[] {
  return [
    {
      name: 'messages in order',
      sql: `
        create temp table seed_messages on commit drop as
        select row_number() over (order by sent_at, key, p) + pg_temp.seed_first_id() as id, m.*
        from (
          select c.key, c.kind, c.n, c.first, c.second, p, c.count, h, c.long,
            floor(s.begins + (s.ends - s.begins) * (c.opens + (1 - c.opens) * c.lasts * (p - 1) / c.count))::bigint
              as sent_at,
            case
              when not c.long or p = c.count and p % 50 in (20, 30) then 'said'
              when p % 50 = 20 then 'deleted'
              when p % 50 = 30 then 'edited'
              when p % 50 in (21, 31) then 'action'
              when c.kind = 2 and p % 100 = 50 then 'event'
              when c.n = 0 and c.kind = 2 and p % 10 = 9 then 'reply to first'
              when p % 20 between 5 and 8 then 'reply'
              else 'said'
            end as role
          from (
            select c.*, c.count >= 10 as long,
              case when c.count >= 1000 then 0 else pg_temp.seed_hash(c.key, 3) % 900 / 1000.0 end as opens,
              case when c.count >= 1000 then 1 else pg_temp.seed_hash(c.key, 4) % 1000 / 1000.0 end as lasts
            from seed_conversations c
          ) c
          cross join seed s
          cross join lateral generate_series(1, c.count) as p
          cross join lateral (select pg_temp.seed_hash(c.key * 1000003 + p, 5) as h) r
        ) m`,
    },
    { name: 'places', sql: 'create unique index on seed_messages (key, p) include (id, sent_at)' },
    { name: 'figures', sql: 'analyze seed_messages, seed_conversations, seed_members' },
    {
      name: 'messages',
      sql: `
        insert into messages (
          app_id, id, conversation, sender, kind, receiver, category, type, data, parent_id, subject_id, muid, tags,
          traits, mentioned, countable, sent_at, updated_at, edited_at, edited_by, deleted_at, deleted_by
        )
        select s.app_id, m.id, m.key, w.sender, m.kind,
          case when m.kind = 2 then m.first when w.sender = m.first then m.second else m.first end,
          t.category, t.type,
          case
            when m.role = 'deleted' then '{}'
            when m.role = 'action' then json_build_object('action', case m.p % 50 when 21 then 'deleted' else 'edited' end)
            when m.role = 'event' then json_build_object('action', 'joined', 'entities', json_build_object(
              'by', json_build_object('entity', json_build_object('uid', w.sender), 'entityType', 'user'),
              'on', json_build_object('entity', json_build_object('uid', w.sender), 'entityType', 'user'),
              'for', json_build_object('entity', json_build_object('guid', m.first), 'entityType', 'group')))
            when t.type in ('image', 'file') then json_build_object('attachments', json_build_array(json_build_object(
              'url', 'https://example.com/' || m.id, 'mimeType', case t.type when 'image' then 'image/png' else 'text/csv' end)))
            when t.category = 'custom' then json_build_object('customData', json_build_object('place', m.h % 1000))
            when t.mentions then json_build_object('text', '<@uid:busy> could you have a look at number ' || m.id || '?')
            when t.links then json_build_object('text', 'See https://example.com/' || m.id)
            when m.h % 100 between 10 and 14 then json_build_object('text', '我们' || m.h % 12 || '点在' ||
              (array['火车站', '图书馆', '咖啡馆', '公园'])[1 + m.h / 100 % 4] || '见面吗？（' || m.id || '）')
            else json_build_object('text', 'Shall we meet at the station at half ' || m.h % 12 || '? (' || m.id || ')')
          end::json,
          case m.role when 'reply' then parent.id when 'reply to first' then opening.id end,
          case m.role when 'action' then m.before end,
          case when m.h % 2 = 0 and m.role <> 'action' then 'seed-' || m.id end,
          case when m.h % 50 = 7 and m.role = 'said' then array['important'] end,
          case m.role when 'deleted' then 0 else
            case t.type when 'image' then 1 | 2 when 'file' then 1 | 16 else 0 end
            | case when t.links then 32 else 0 end
            | case when t.mentions then 64 else 0 end
          end,
          case when t.mentions then array['busy'] end,
          m.role not in ('deleted', 'action', 'event'),
          m.sent_at,
          case when m.role in ('deleted', 'edited') then m.next_at else m.sent_at end,
          case m.role when 'edited' then m.next_at end,
          case m.role when 'edited' then w.sender end,
          case m.role when 'deleted' then m.next_at end,
          case m.role when 'deleted' then w.sender end
        from (
          select m.*, lag(m.id) over own as before, lag(m.h) over own as before_h, lead(m.sent_at) over own as next_at
          from seed_messages m
          window own as (partition by m.key order by m.p)
        ) m
        cross join seed s
        left join (
          select n, array_agg(uid order by place) as members, bool_or(uid = 'busy') as has_busy
          from seed_members
          group by n
        ) g on m.kind = 2 and g.n = m.n
        cross join lateral (select case m.role when 'action' then m.before_h else m.h end as by) b
        cross join lateral (
          select case
            when m.kind = 2 then g.members[1 + b.by % cardinality(g.members)]
            when b.by % 2 = 0 then m.first
            else m.second
          end as sender
        ) w
        cross join lateral (
          select
            case when m.role in ('action', 'event') then 'action' when m.h % 100 between 92 and 94 then 'custom'
              else 'message' end as category,
            case when m.role = 'action' then 'message' when m.role = 'event' then 'groupMember'
              when m.h % 100 between 85 and 89 then 'image' when m.h % 100 between 90 and 91 then 'file'
              when m.h % 100 between 92 and 94 then 'place' else 'text' end as type,
            m.role in ('said', 'reply') and m.h % 100 between 95 and 97 as links,
            coalesce(m.role = 'said' and m.h % 100 = 98 and g.has_busy and w.sender <> 'busy', false) as mentions
        ) t
        left join seed_messages parent on m.role = 'reply' and parent.key = m.key and parent.p = m.p - (m.p % 20 - 4)
        left join seed_messages opening on m.role = 'reply to first' and opening.key = m.key and opening.p = 1`,
    },
    { name: 'figures of messages', sql: 'analyze messages', isAnalysis: true },
    {
      name: 'conversations',
      sql: `
        insert into conversations (
          app_id, key, kind, first, second, created_at, last_sent_at, last_id, last_sender, listed_sent_at, listed_id,
          version
        )
        select s.app_id, c.key, c.kind, c.first, c.second, least(f.sent_at, s.begins), l.sent_at, l.id, l.sender,
          d.sent_at, d.id, n.deleted
        from seed_conversations c
        cross join seed s
        join seed_messages f on f.key = c.key and f.p = 1
        cross join lateral (
          select m.sent_at, m.id, case when m.category <> 'action' then m.sender end as sender
          from messages m
          where m.app_id = s.app_id and m.conversation = c.key and not m.purged
          order by m.sent_at desc, m.id desc
          limit 1
        ) l
        cross join lateral (
          select m.sent_at, m.id
          from messages m
          where m.app_id = s.app_id and m.conversation = c.key and not m.purged
          and not (m.category = 'action' and m.type = 'message')
          order by m.sent_at desc, m.id desc
          limit 1
        ) d
        cross join lateral (select case when c.count >= 10 then (c.count + 29) / 50 else 0 end as deleted) n`,
    },
  ]
}
