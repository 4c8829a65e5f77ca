import { type Kysely, sql } from 'kysely'

/**
 * Search for any part of the name or id of a user or group: pieces of three characters of both, kept beside them by
 * triggers, with an index that needs no extension. `chat/name-search.ts` asks for the same pieces.
 *
 * Triggers lock their table against writes until the migration is over. Most is done before: those who are there are
 * filled in as they were at one moment, and behind the lock follows only who was changed since.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...table, ...filling, ...triggers, ...catchingUp]) await sql.raw(statement).execute(db)
}

/** How names of users (1) and groups (2) are kept: their table, and the column of their id. */
const kinds = [
  { kind: 1, table: 'users', id: 'uid' },
  { kind: 2, table: 'groups', id: 'guid' },
] as const

const table = [
  // At each character the next three, fewer at the end, under the number of the app and the kind: what one app holds costs
  // the others nothing.
  `create or replace function name_grams(app_id integer, kind smallint, id text, name_key text) returns tsvector
    language plpgsql immutable parallel safe as $$
    declare
      grams text[] := '{}';
      whole text;
    begin
      foreach whole in array array[id, name_key] loop
        for i in 1 .. length(whole) loop
          grams[cardinality(grams) + 1] := app_id || ':' || kind || ':' || substr(whole, i, 3);
        end loop;
      end loop;
      return array_to_tsvector(grams);
    end
  $$`,
  `create table if not exists searched_names (
    app_id integer not null,
    kind smallint not null,
    id text collate "C" not null,
    grams tsvector not null,
    primary key (app_id, kind, id)
  )`,
  // Statistics of grams would take long to gather and decide nothing.
  'alter table searched_names alter column grams set statistics 0',
]

const filling = [
  ...kinds.flatMap(({ kind, table, id }) => [
    `create temporary table named_${table} on commit drop as
      select app_id, ${id} as id, revision, name_key
      from ${table}`,
    `insert into searched_names (app_id, kind, id, grams)
      select app_id, ${kind}::smallint, id, name_grams(app_id, ${kind}::smallint, id, name_key)
      from named_${table}
      on conflict (app_id, kind, id) do nothing`,
    // or the planner takes it for small behind the lock
    `analyze named_${table}`,
  ]),
  // list-users, list-groups, list-group-members with searchKey. What waits to be put into the index is searched as it is,
  // so little may wait.
  `create index if not exists searched_names_by_gram on searched_names
    using gin (grams) with (gin_pending_list_limit = 512)`,
]

const triggers = kinds.flatMap(({ kind, table, id }) => [
  `create or replace function keep_names_of_${table}() returns trigger language plpgsql as $$
    begin
      insert into searched_names (app_id, kind, id, grams)
      select app_id, ${kind}::smallint, ${id}, name_grams(app_id, ${kind}::smallint, ${id}, name_key)
      from fresh
      order by app_id, ${id}
      on conflict (app_id, kind, id) do update
      set grams = excluded.grams;
      return null;
    end
  $$`,
  `create or replace trigger ${table}_named after insert on ${table}
    referencing new table as fresh for each statement execute function keep_names_of_${table}()`,
  `create or replace function change_name_of_${table}() returns trigger language plpgsql as $$
    begin
      insert into searched_names (app_id, kind, id, grams)
      values (new.app_id, ${kind}, new.${id}, name_grams(new.app_id, ${kind}::smallint, new.${id}, new.name_key))
      on conflict (app_id, kind, id) do update
      set grams = excluded.grams;
      return null;
    end
  $$`,
  `create or replace trigger ${table}_renamed after update of name_key on ${table}
    for each row when (old.name_key is distinct from new.name_key) execute function change_name_of_${table}()`,
  `create or replace function drop_name_of_${table}() returns trigger language plpgsql as $$
    begin
      delete from searched_names
      where app_id = old.app_id
      and kind = ${kind}
      and id = old.${id};
      return null;
    end
  $$`,
  `create or replace trigger ${table}_unnamed after delete on ${table}
    for each row execute function drop_name_of_${table}()`,
])

/** Who was made, renamed or removed between the filling and the lock: each change of a row gives it another revision. */
const catchingUp = kinds.flatMap(({ kind, table, id }) => [
  `insert into searched_names (app_id, kind, id, grams)
    select t.app_id, ${kind}::smallint, t.${id}, name_grams(t.app_id, ${kind}::smallint, t.${id}, t.name_key)
    from ${table} t
    left join named_${table} n on n.app_id = t.app_id and n.id = t.${id}
    where n.revision is distinct from t.revision
    on conflict (app_id, kind, id) do update
    set grams = excluded.grams`,
  `delete from searched_names s
    using named_${table} n
    where s.app_id = n.app_id
    and s.kind = ${kind}
    and s.id = n.id
    and not exists (select from ${table} t where t.app_id = n.app_id and t.${id} = n.id)`,
])
