import type { Kysely } from 'kysely'
import { buildIndex } from './migration.ts'

/** There may be very many entries already. */
export const outside = true

export async function up(db: Kysely<unknown>): Promise<void> {
  // The chain in its order: to verify it, and to remove its oldest entries. Unique, so that an entry has one place.
  await buildIndex(db, 'audit_log_by_seq', 'on audit_log (app_id, seq) where seq is not null', true)
  // What is to be linked.
  await buildIndex(db, 'audit_log_unlinked', 'on audit_log (app_id, id) where seq is null')
  // Filter of `GET /audit-log`.
  await buildIndex(
    db,
    'audit_log_by_operator',
    'on audit_log (app_id, operator, created_at, id) where operator is not null',
  )
}
