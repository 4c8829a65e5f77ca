import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'
import { erasable } from '../erasure.ts'

/** Finds a uid in the id of a one-to-one conversation, on either end, as a regular expression of PostgreSQL. */
function inConversation(uid: string): string {
  const escaped = uid.replace(/[^A-Za-z0-9]/g, '\\$&')
  return `^${escaped}(?=_user_)|(?<=_user_)${escaped}$`
}

/**
 * Puts something else in place of a uid, wherever the audit log names it. Conversations are targets of one action only,
 * by which an index finds them.
 */
const rename = (appId: number, uid: string, replacement: Fragment): Fragment => sql`
  with replacement as materialized (select ${replacement} as uid)
  update audit_log a
  set uid = case when a.uid = ${uid} then r.uid else a.uid end,
    target = case
      when a.target_type = 'user' and a.target = ${uid} then r.uid
      when a.target_type = 'conversation' then regexp_replace(a.target, ${inConversation(uid)}, r.uid, 'gi')
      else a.target
    end
  from replacement r
  where a.app_id = ${appKey(appId)}
  and (
    a.uid = ${uid}
    or (a.target = ${uid} and a.target_type = 'user')
    or (a.action = 'reading_opened' and a.target ~* ${inConversation(uid)})
  )`

/**
 * Entries stay when a user is removed for good, but no longer name them: what stands for them is drawn at random, the same
 * in all entries, and can be nobody's uid. The entry that tells of the removal is written afterwards and keeps the uid,
 * until somebody else is given it.
 */
export const auditTables = [
  erasable(
    'audit_log',
    {},
    {
      ofUser: [({ appId, uid }) => rename(appId, uid, sql`'~' || left(gen_random_uuid()::text, 8)`)],
      ofReuse: [({ appId, uid, former }) => rename(appId, uid, sql`${former}::text`)],
    },
  ),
]
