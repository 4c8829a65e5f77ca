import type { Database } from './database.ts'
import { statement } from './statement.ts'

const risks = {
  fsync: 'a crash of the machine can corrupt the whole database',
  synchronous_commit: 'messages that were answered can be lost when the database crashes',
  full_page_writes: 'a crash of the machine can leave torn pages behind',
} as const

const select = statement(`
  select name, setting
  from pg_settings
  where name in ('fsync', 'synchronous_commit', 'full_page_writes')
  and setting = 'off'`)

/** Says in the log what can be lost when the database was told not to be durable. */
export async function warnAboutDurability(
  database: Database,
  log: { warn(o: object, text: string): void },
): Promise<void> {
  for (const { name } of await database.query<{ name: keyof typeof risks }>(select)) {
    log.warn({ setting: name }, `${name} is off in the database: ${risks[name]}`)
  }
}
