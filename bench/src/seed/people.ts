import type { WorldSizes } from './sizes.ts'
import type { Step } from './step.ts'

const firstNames = 'Ada,Ben,Cleo,Dina,Emil,Fay,Gus,Hana,Ivo,June,Kai,Lena,Milo,Nora,Otto,Pia,Quin,Rosa,Sam,Tara'
const lastNames = 'Abel,Baker,Conti,Diaz,Egger,Frank,Gray,Hill,Ito,Jansen,Klein,Lopez,Meyer,Novak,Olsen,Park,Reed,Sato'

/** Users `busy` and `u1`, `u2`, ...; one in twenty has the role vip, one in fifty the tag gold; few are deactivated. */
export function people({ users, crowd, busyPairs }: WorldSizes): Step[] {
  const friends = Math.min(1000, users - 1)
  return [
    {
      name: 'roles',
      sql: `
        insert into roles (app_id, role, name, created_at)
        select app_id, 'vip', 'VIP', begins
        from seed
        on conflict do nothing`,
    },
    {
      name: 'users',
      sql: `
        insert into users (
          app_id, uid, name, name_key, role, tags, metadata, created_at, updated_at, last_active_at, deactivated_at
        )
        select app_id, uid, name, lower(name), role, tags, '{"city":"Lisbon"}', created_at,
          case when i % 3 = 0 then created_at + h % (ends - created_at) end,
          case when i % 2 = 0 then ends - h % 100000 end,
          case when i % 97 = 96 then ends end
        from (
          select s.*, i, h, pg_temp.seed_uid(i) as uid,
            case i
              when 0 then 'Busy Bee'
              else format('%s %s %s', split_part('${firstNames}', ',', 1 + h % 20),
                split_part('${lastNames}', ',', 1 + h / 20 % 18), i)
            end as name,
            case when i % 20 = 19 then 'vip' else 'default' end as role,
            case when i % 50 = 1 then array['gold'] when i % 50 = 2 then array['silver', 'early'] else '{}' end as tags,
            begins + h % ((ends - begins) / 2) as created_at
          from seed s
          cross join generate_series(0, ${users - 1}) as i
          cross join lateral (select pg_temp.seed_hash(i, 1) as h) r
        ) u`,
    },
    {
      name: 'friends',
      sql: `
        insert into friends (app_id, uid, friend, created_at)
        select app_id, pg_temp.seed_uid(a), pg_temp.seed_uid(b), begins
        from seed
        cross join (
          select 0 as a, i as b from generate_series(1, ${friends}) as i
          union
          select i, 1 + i % ${users - 1} from generate_series(1, ${users - 1}) as i
        ) f
        union
        select app_id, pg_temp.seed_uid(b), pg_temp.seed_uid(a), begins
        from seed
        cross join (
          select 0 as a, i as b from generate_series(1, ${friends}) as i
          union
          select i, 1 + i % ${users - 1} from generate_series(1, ${users - 1}) as i
        ) f
        on conflict do nothing`,
    },
    {
      name: 'blocks',
      sql: `
        insert into blocks (app_id, blocker, blocked, blocked_at)
        select app_id, pg_temp.seed_uid(a), pg_temp.seed_uid(b), begins
        from seed
        cross join (
          select 0 as a, i as b from generate_series(2, ${Math.min(20, busyPairs)}) as i
          union
          select 0, ${users} - i from generate_series(1, ${Math.min(500, Math.floor(users / 4))}) as i
          union
          select i, (i + 10) % ${users} from generate_series(1, ${users - 1}, 20) as i
        ) b`,
    },
    {
      name: 'bans',
      sql: `
        insert into group_bans (app_id, guid, uid, banned_by, banned_at)
        select app_id, 'crowd', pg_temp.seed_uid(${crowd} + i), 'busy', begins
        from seed
        cross join generate_series(0, ${Math.min(500, users - crowd) - 1}) as i`,
    },
  ]
}
