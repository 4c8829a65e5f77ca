import { type Kysely, sql } from 'kysely'

/**
 * The uids that were removed for good, so that a user who is given one again is not taken for its former holder. times: how
 * often it was removed. last_event: events up to this id are about those who had it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table if not exists former_users (
    app_id integer not null,
    uid text collate "C" not null,
    times integer not null,
    last_event bigint not null,
    primary key (app_id, uid)
  )`,
  // Whoever was removed before this was kept and wrote in groups: every sender is looked up once, by the index of what
  // was sent in groups.
  `insert into former_users (app_id, uid, times, last_event)
    with recursive senders as (
      (select app_id, sender from messages where kind = 2 order by app_id, sender limit 1)
      union all
      select next.app_id, next.sender
      from senders s
      cross join lateral (
        select m.app_id, m.sender
        from messages m
        where m.kind = 2
        and (m.app_id, m.sender) > (s.app_id, s.sender)
        order by m.app_id, m.sender
        limit 1
      ) next
    )
    select s.app_id, s.sender, 1, e.last_value
    from senders s
    cross join event_ids e
    where s.sender <> ''
    and not exists (select from users u where u.app_id = s.app_id and u.uid = s.sender)
    on conflict do nothing`,
]
