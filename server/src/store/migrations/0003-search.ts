import { type Kysely, sql } from 'kysely'

/**
 * Search in messages: a side table that is filled behind the sends (areas/messages/search), so that they do not pay for
 * it, with an index that needs no extension and knows no language.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // body: the text of a message, folded (areas/messages/search/fold.ts). grams: its pieces of two or three characters, each
  // under the app's number, and the key of its conversation (grams.ts). Empty: there is nothing to find any more.
  `create table if not exists search_entries (
    app_id integer not null,
    message_id bigint not null,
    conversation bigint not null,
    body text collate "C" not null,
    grams tsvector not null,
    primary key (app_id, message_id)
  )`,
  // Statistics of grams would take long to gather and decide nothing: searches say which index they use.
  'alter table search_entries alter column grams set statistics 0',
  // searchKey of the message lists
  'create index if not exists search_entries_by_gram on search_entries using gin (grams)',
  // what the writer clears away
  "create index if not exists search_entries_empty on search_entries (message_id) where body = ''",

  // One row: up to which id every message of every app has its entry. What has a higher id is searched in messages.
  `create table if not exists search_progress (
    single boolean primary key default true check (single),
    indexed_id bigint not null
  )`,
  'insert into search_progress (indexed_id) values (0) on conflict do nothing',

  // Whoever edits, clears, purges or deletes messages: what they said goes from here with them. The writer may be about to
  // add an entry for what it read before, so one that it has not come to yet leaves an empty entry, which keeps that out:
  // one of the two waits for the other at the primary key. How far the writer is must be known before anything is deleted.
  `create or replace function empty_search_entry() returns trigger language plpgsql as $$
    begin
      if old.id <= (select indexed_id from search_progress) then
        delete from search_entries
        where app_id = old.app_id
        and message_id = old.id;
      else
        insert into search_entries (app_id, message_id, conversation, body, grams)
        values (old.app_id, old.id, old.conversation, '', '')
        on conflict (app_id, message_id) do update
        set body = '',
          grams = '';
      end if;
      return null;
    end
  $$`,
  `create or replace trigger messages_changed_for_search after update of data on messages
    for each row execute function empty_search_entry()`,
  `create or replace function empty_search_entries() returns trigger language plpgsql as $$
    declare
      indexed bigint := (select indexed_id from search_progress);
    begin
      delete from search_entries e
      using gone g
      where e.app_id = g.app_id
      and e.message_id = g.id
      and g.id <= indexed;
      insert into search_entries (app_id, message_id, conversation, body, grams)
      select app_id, id, conversation, '', ''
      from gone
      where id > indexed
      order by app_id, id
      on conflict (app_id, message_id) do update
      set body = '',
        grams = '';
      return null;
    end
  $$`,
  `create or replace trigger messages_deleted_for_search after delete on messages
    referencing old table as gone for each statement execute function empty_search_entries()`,
]
