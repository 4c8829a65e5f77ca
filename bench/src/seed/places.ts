import type { WorldSizes } from './sizes.ts'
import type { Step } from './step.ts'

/** Groups `crowd` and `g1`, `g2`, ..., their members, and every conversation with how many messages it is to have. */
export function places(sizes: WorldSizes): Step[] {
  const { users, groups, busyGroups, crowd, pairs, busyPairs } = sizes
  return [
    {
      // n: number of the group, 0 is the crowd; place: order among the members, 1 owns the group
      name: 'members',
      sql: `
        create temp table seed_members on commit drop as
        select n, case n when 0 then 'crowd' else 'g' || n end as guid, pg_temp.seed_uid(i) as uid, min(place) as place
        from (
          select 0 as n, i::bigint, i + 1 as place from generate_series(0, ${crowd - 1}) as i
          union all
          select n, 0, 5 from generate_series(1, ${busyGroups}) as n
          union all
          select n, 1 + pg_temp.seed_hash(n, place) % ${users - 1}, place
          from generate_series(1, ${groups - 1}) as n
          cross join generate_series(1, 9) as place
        ) m
        group by n, i`,
    },
    {
      name: 'conversations',
      sql: `
        create temp table seed_conversations on commit drop as
        select nextval('conversation_keys') as key, p.*,
          ${countOf(sizes)} as count
        from (
          select 2::smallint as kind, n, case n when 0 then 'crowd' else 'g' || n end as first, '' as second
          from generate_series(0, ${groups - 1}) as n
          union all
          select 1, n, least(a collate "C", b collate "C"), greatest(a collate "C", b collate "C")
          from (
            select n, 'busy' as a, pg_temp.seed_uid(n) as b
            from generate_series(1, ${busyPairs}) as n
            union all
            select n, pg_temp.seed_uid(1 + n % ${users - 1}),
              pg_temp.seed_uid(1 + (n + 2 + (n - 1 - ${busyPairs}) / ${users - 1}) % ${users - 1})
            from generate_series(${busyPairs + 1}, ${pairs}) as n
          ) t
        ) p`,
    },
    {
      name: 'keys',
      sql: 'alter table seed_conversations add primary key (key)',
    },
    {
      name: 'groups',
      sql: `
        insert into groups (
          app_id, guid, name, name_key, type, password_digest, owner, tags, members_count, conversation, created_at,
          updated_at
        )
        select s.app_id, c.first, g.name, lower(g.name), g.type, case g.type when 'password' then '\\x00'::bytea end,
          m.owner, case when c.n % 50 = 1 then array['news'] else '{}' end, m.count, c.key, s.begins + h % 1000,
          case when c.n % 3 = 0 then s.begins + 1000 + h % (s.ends - s.begins - 1000) end
        from seed_conversations c
        cross join seed s
        cross join lateral (select pg_temp.seed_hash(c.n, 2) as h) r
        cross join lateral (
          select format('%s %s', split_part('Chess,Garden,Night shift,Parents,Release,Sales,Team,Trip', ',', 1 + h % 8),
              c.n) as name,
            case c.n % 10 when 8 then 'private' when 9 then 'password' else 'public' end as type
        ) g
        join (
          select m.n, count(*) filter (where u.deactivated_at is null) as count,
            (array_agg(m.uid order by m.place))[1] as owner
          from seed_members m
          join seed s on true
          join users u on u.app_id = s.app_id and u.uid = m.uid
          group by m.n
        ) m on m.n = c.n
        where c.kind = 2`,
    },
    {
      name: 'memberships',
      sql: `
        insert into group_members (app_id, guid, uid, scope, joined_at)
        select g.app_id, g.guid, m.uid,
          case when m.uid = g.owner then 'admin' when m.place = 2 then 'moderator' else 'participant' end, g.created_at
        from seed_members m
        join seed s on true
        join groups g on g.app_id = s.app_id and g.guid = m.guid`,
    },
  ]
}

/** A twentieth each for the crowd and for the talk of busy with u1, a third for the groups, the rest for the pairs. */
function countOf({ messages, groups, pairs }: WorldSizes): string {
  const large = Math.floor(messages / 20)
  const ofGroup = Math.max(3, Math.floor((messages * 0.3) / groups))
  const rest = messages - 2 * large - ofGroup * (groups - 1)
  const ofPair = Math.floor(rest / (pairs - 1))
  const more = rest - ofPair * (pairs - 1)
  return `case
            when (kind = 2 and n = 0) or (kind = 1 and n = 1) then ${large}
            when kind = 2 then ${ofGroup}
            when n <= ${more + 1} then ${ofPair + 1}
            else ${ofPair}
          end`
}
