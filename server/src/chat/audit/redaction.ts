import type { Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { type ChainedEntry, chainedColumns } from './entries.ts'
import { redact } from './seal.ts'

/** What an erasure has changed in the transaction that is under way: nobody else has entries with its stub. */
const select = statement(`
  select ${chainedColumns}
  from audit_log
  where app_id = $1
  and (
    uid = $2
    or target = $2
    or (action in ('reading_opened', 'conversation_read') and strpos(target, $2) > 0)
    or (action = 'message_reviewed' and strpos(details::text, $2) > 0)
  )`)

const write = statement(`
  update audit_log a
  set redaction = n.redaction
  from unnest($2::bigint[], $3::bigint[], $4::bytea[]) n (created_at, id, redaction)
  where a.app_id = $1
  and a.created_at = n.created_at
  and a.id = n.id`)

/**
 * Says that the service itself has put a stub in place of a person, so that their entries still prove to be as it wrote them. In the
 * transaction of the erasure.
 * @returns how many entries there are
 */
export async function signErasure(
  tx: Transaction,
  secrets: Pick<Secrets, 'digest'>,
  appId: number,
  stub: string,
): Promise<number> {
  const entries = await tx.query<ChainedEntry>(select, [appId, stub])
  // One that was there before there were seals, and is not linked yet, is sealed with what stands there now.
  const sealed = entries.flatMap((entry) => (entry.seal === null ? [] : [{ ...entry, seal: entry.seal }]))
  await tx.query(write, [
    appId,
    sealed.map(({ createdAt }) => createdAt),
    sealed.map(({ id }) => id),
    sealed.map((entry) => redact(secrets, entry, entry.seal)),
  ])
  return entries.length
}
