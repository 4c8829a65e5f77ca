import { type Kysely, sql } from 'kysely'

/**
 * Who is connected where. A user is online as long as a process that lives has a socket of his; `users.online` says so
 * wherever a user is shown. Written on transitions only, many in one transaction.
 *
 * A process keeps its row in `presence_nodes` young. What a killed one left behind is found by its age, and its users go
 * offline unless they are connected elsewhere.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'alter table users add column if not exists online boolean not null default false',
  // Room on each page, so that coming and going rewrites a row in place and touches no index.
  'alter table users set (fillfactor = 90)',
  // expires_at: epoch milliseconds
  `create table if not exists presence_nodes (
    id text collate "C" primary key,
    expires_at bigint not null
  )`,
  // connection: device, platform and time of the socket that the user came with
  `create table if not exists presence (
    app_id integer not null,
    uid text collate "C" not null,
    node text collate "C" not null,
    connection json not null,
    primary key (app_id, uid, node)
  )`,
  // what a killed process left
  'create index if not exists presence_by_node on presence (node)',
]
