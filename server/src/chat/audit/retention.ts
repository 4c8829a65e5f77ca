import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { deployment } from './audit.ts'

/** Of each app and of the deployment the oldest entries, by the primary key; in small batches, so that nobody waits for them. */
const removeOld = statement(`
  delete from audit_log a
  using (select app_id from apps union all select ${deployment}) kept
  cross join lateral (
    select o.app_id, o.created_at, o.id
    from audit_log o
    where o.app_id = kept.app_id
    and o.created_at < $1
    order by o.created_at, o.id
    limit 1000
  ) old
  where a.app_id = old.app_id
  and a.created_at = old.created_at
  and a.id = old.id
  returning a.app_id`)

const removeEveryMs = 600_000

/** Removes entries of the audit log that are older than `retentionDays`, now and then. @returns ends that */
export function keepAuditLogShort(database: Database, log: Log, retentionDays: number): () => void {
  const remove = () =>
    removeOldEntries(database, Math.floor(Date.now() / 1000) - retentionDays * 86_400).catch((err: unknown) => {
      if (!isConnectionFailure(err)) log.warn({ err }, 'old entries of the audit log could not be removed')
    })
  const timer = setInterval(remove, removeEveryMs).unref()
  return () => clearInterval(timer)
}

/** @param before epoch seconds */
export async function removeOldEntries(database: Pick<Database, 'query'>, before: number): Promise<void> {
  while ((await database.query(removeOld, [before])).length > 0);
}
