import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Fragment } from '../../store/statement.ts'
import { erasable, untouched } from '../erasure.ts'

/** A uid, as it stands in a regular expression of PostgreSQL. */
const escaped = (uid: string) => uid.replace(/[^A-Za-z0-9]/g, '\\$&')

/** Finds a uid in the id of a one-to-one conversation, on either end. */
export function inConversation(uid: string): string {
  return `^${escaped(uid)}(?=_user_)|(?<=_user_)${escaped(uid)}$`
}

/** Finds a uid as the reviewer in the details of a decision: other members can be the same word. */
function inDetails(uid: string): string {
  return `(?<="reviewer": ?")${escaped(uid)}(?=")`
}

/**
 * Puts something else in place of a uid, wherever the audit log names it, and where they acted in place of their address. An index
 * finds the actions that name people otherwise: the conversations that operators read, and who decided about a message.
 */
const rename = (appId: number, uid: string, replacement: Fragment): Fragment => sql`
  with replacement as materialized (
    select ${replacement} as uid, set_config('parley.audit_log', 'erase', true) as purpose
  )
  update audit_log a
  set uid = case when a.uid = ${uid} then r.uid else a.uid end,
    address = case when a.uid = ${uid} and a.address is not null then r.uid else a.address end,
    target = case
      when a.target_type = 'user' and a.target = ${uid} then r.uid
      when a.target_type = 'conversation' then regexp_replace(a.target, ${inConversation(uid)}, r.uid, 'gi')
      else a.target
    end,
    details = case
      when a.action = 'message_reviewed' then regexp_replace(a.details::text, ${inDetails(uid)}, r.uid, 'gi')::json
      -- Earlier versions wrote there what the refusal said, which names people.
      when a.action = 'moderation_acted' and strpos(a.details ->> 'refused', ' ') > 0 then (a.details::jsonb - 'refused')::json
      else a.details
    end
  from replacement r
  where a.app_id = ${appKey(appId)}
  and r.purpose = 'erase'
  and (
    a.uid = ${uid}
    or (a.target = ${uid} and a.target_type = 'user')
    or (a.action in ('reading_opened', 'conversation_read') and a.target ~* ${inConversation(uid)})
    or (a.action = 'message_reviewed' and a.details::text ~* ${inDetails(uid)})
  )`

/**
 * Entries stay when a user is removed for good, but no longer name them: what stands for them is drawn at random, the same
 * in all entries, and can be nobody's uid. The entry of the removal is written afterwards and keeps the uid,
 * until somebody else is given it.
 */
export const auditTables = [
  erasable(
    'audit_log',
    {},
    {
      ofUser: [({ appId, uid, stub }) => rename(appId, uid, sql`${stub}::text`)],
      ofReuse: [({ appId, uid, former }) => rename(appId, uid, sql`${former}::text`)],
    },
  ),
  untouched('audit_chains', 'has digests, and names nobody'),
]
