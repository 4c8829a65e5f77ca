import { sql } from 'kysely'
import { until } from './until.ts'
import type { World } from './world.ts'

/** Resolves when every entry of an app's audit log is linked to the one before it, which is done behind the requests. */
export async function auditLinked({ context: { database }, app }: Pick<World, 'context' | 'app'>): Promise<void> {
  const unlinked = sql<{ count: number }>`
    select count(*)::int as count
    from audit_log
    where app_id = ${app.appId}
    and seq is null`
  await until(async () => (await database.run(unlinked))[0]?.count === 0)
}
