import { type Kysely, sql } from 'kysely'

/** Every app has the role of AI agents, as it has the default role: new ones from the start, the others from now on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `insert into roles (app_id, role, name, created_at)
       select app_id, '@agentic', 'AI agents', extract(epoch from now())::bigint
       from apps
       on conflict (app_id, role) do nothing`,
    )
    .execute(db)
}
